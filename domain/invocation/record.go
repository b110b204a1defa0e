// Package invocation holds the canonical record of one tool call: its key and its life,
// PROJECTING → READY | ERROR. Package ports/record is its stored form.
package invocation

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/run"
)

// Status is the state of an invocation. Projecting → Ready or Error, once; no other edge
// exists (S14).
type Status string

// The three states of an invocation.
const (
	Projecting Status = "PROJECTING"
	Ready      Status = "READY"
	Error      Status = "ERROR"
)

// OwnerLength is the length in bytes of an owner token and of a digest: 128 bits in base64url.
const OwnerLength = 22

// Key names an invocation: no two pairs of run and tool call share one.
type Key struct {
	RunID      run.ID
	ToolCallID string
}

// Record is the canonical record of one tool call.
type Record struct {
	Status Status
	// Owner is the token of the execution that may settle the record: OwnerLength bytes of
	// base64url, chosen afresh for each execution.
	Owner string
	// Digest identifies a settlement's content; it is empty while PROJECTING.
	Digest     string
	RunID      run.ID
	ToolCallID string
	ToolName   string
	// EvidenceStatus is ERROR, as a placeholder, while PROJECTING.
	EvidenceStatus evidence.Status
	// ErrorCode, ErrorReason and ErrorDetail are set in ERROR only, and safe to show.
	ErrorCode                fault.Code
	ErrorReason, ErrorDetail string
	// StartedAt, CompletedAt and LeaseUntil are times of the store's clock in whole
	// milliseconds; stores set them. CompletedAt is zero while PROJECTING.
	StartedAt, CompletedAt, LeaseUntil time.Time
	// Request, RawResponse and AgentResult are JSON, kept byte for byte (S15). RawResponse and
	// AgentResult are nil while there is no such body.
	Request, RawResponse, AgentResult json.RawMessage
	// Sizes are the lengths of the three, also in a record that is loaded without them.
	Sizes Sizes
}

// Sizes are lengths in bytes.
type Sizes struct {
	Request     int `json:"request"`
	RawResponse int `json:"raw_response"`
	AgentResult int `json:"agent_result"`
}

// The most bytes of parts of a record: a tool call id, and reason and detail of an error.
const (
	MaxToolCallID = 1 << 10
	MaxReason     = 64
	MaxDetail     = 1 << 10
)

// CheckToolCallID returns TOOL_CALL_ID_INVALID unless the id is 1 to MaxToolCallID bytes, each
// 0x21 to 0x7E except quotes and backslash, and neither "." nor ".." (S01).
func CheckToolCallID(id string) error {
	if len(id) < 1 || len(id) > MaxToolCallID || id == "." || id == ".." {
		return fault.New(fault.ToolCallIDInvalid)
	}
	for i := range len(id) {
		if c := id[i]; c < 0x21 || c > 0x7E || c == '"' || c == '\'' || c == '\\' {
			return fault.New(fault.ToolCallIDInvalid)
		}
	}
	return nil
}

// Begin returns the PROJECTING record of a call that is about to be executed (S10).
func Begin(key Key, owner, toolName string, request json.RawMessage) Record {
	return Record{
		Status: Projecting, Owner: owner, RunID: key.RunID, ToolCallID: key.ToolCallID, ToolName: toolName,
		EvidenceStatus: evidence.Error, Request: request, Sizes: Sizes{Request: len(request)},
	}
}

// Key returns the record's key.
func (r Record) Key() Key { return Key{r.RunID, r.ToolCallID} }

// Referencable reports whether the record is evidence at all: READY, found or nothing found.
func (r Record) Referencable() bool {
	return r.Status == Ready && (r.EvidenceStatus == evidence.Found || r.EvidenceStatus == evidence.None)
}

// Bytes returns the bytes that settling the record charges to its run: raw response and agent result.
func (r Record) Bytes() int64 { return int64(r.Sizes.RawResponse + r.Sizes.AgentResult) }

// Size returns the bytes that a record takes where it is kept. The domain does not know that form:
// whoever applies the record limit passes the measure, record.EncodedLen of ports/record.
type Size func(Record) int

// Ready returns the record with its answer, or the fault that the call must end with: INTERNAL
// for a record that is not PROJECTING, PROJECTION_FAILED for a projection that is not valid
// (S13), RESULT_TOO_LARGE for bytes over a limit (S20–S22).
func (r Record) Ready(raw json.RawMessage, p evidence.Projection, l limits.Limits, size Size) (Record, error) {
	if r.Status != Projecting {
		return r, fault.New(fault.Internal)
	}
	if err := p.Check(); err != nil {
		return r, err
	}
	if err := limits.Check(len(raw), l.Raw, fault.ResultTooLarge); err != nil {
		return r, err
	}
	if err := limits.Check(len(p.AgentResult), l.AgentResult, fault.ResultTooLarge); err != nil {
		return r, err
	}
	next := r
	next.Status, next.EvidenceStatus = Ready, p.Status
	next.RawResponse, next.AgentResult = raw, p.AgentResult
	next.Sizes.RawResponse, next.Sizes.AgentResult = len(raw), len(p.AgentResult)
	next = next.sealed()
	if limits.Check(size(next), l.Record, fault.ResultTooLarge) != nil {
		return r, fault.Because(fault.ResultTooLarge, recordOverflow, "")
	}
	return next, nil
}

// recordOverflow is the reason of a RESULT_TOO_LARGE whose parts are within their limits while the
// whole record is not. Its raw response is dropped and the request kept (S22).
const recordOverflow = "RECORD"

// Failed returns the record in ERROR with the fault's code, reason and detail, and without a raw
// response. A code that is not on the list is INTERNAL.
func (r Record) Failed(cause error) Record { return r.failed(fault.Of(cause), nil) }

// FailedWithRaw is Failed for a call that has a raw response. It is kept for the harness if it and
// the whole record stay within their limits, else dropped whole (S22).
func (r Record) FailedWithRaw(raw json.RawMessage, cause error, l limits.Limits, size Size) Record {
	f := fault.Of(cause)
	if f.Code == fault.ResultTooLarge && f.Reason == recordOverflow || len(raw) > int(l.Raw) {
		return r.failed(f, nil)
	}
	if kept := r.failed(f, raw); size(kept) <= int(l.Record) {
		return kept
	}
	return r.failed(f, nil)
}

// Interrupted returns what a READY record becomes when its run ended before it was settled:
// ERROR with the code, raw kept, no agent result (S14).
func (r Record) Interrupted(code fault.Code) Record { return r.failed(fault.New(code), r.RawResponse) }

// Exhausted returns what a settlement becomes when its bytes do not fit the run's budget:
// ERROR/RUN_BYTES_EXHAUSTED without raw and agent result.
func (r Record) Exhausted() Record { return r.failed(fault.New(fault.RunBytesExhausted), nil) }

// Lost returns what a PROJECTING record becomes once its lease has passed (S16).
func (r Record) Lost() Record { return r.failed(fault.New(fault.ExecutionLost), nil) }

func (r Record) failed(f *fault.Error, raw json.RawMessage) Record {
	r.Status, r.EvidenceStatus = Error, evidence.Error
	if !f.Code.Known() {
		f = fault.New(fault.Internal)
	}
	r.ErrorCode, r.ErrorReason, r.ErrorDetail = f.Code, clip(f.Reason, MaxReason), clip(f.Detail, MaxDetail)
	r.RawResponse, r.AgentResult = raw, nil
	r.Sizes.RawResponse, r.Sizes.AgentResult = len(raw), 0
	return r.sealed()
}

// sealed returns the record with the digest of everything that the settlement says.
func (r Record) sealed() Record {
	h := sha256.New()
	for _, part := range [][]byte{
		[]byte(r.Status), []byte(r.EvidenceStatus), []byte(r.ErrorCode), []byte(r.ErrorReason), []byte(r.ErrorDetail),
		r.Request, r.RawResponse, r.AgentResult,
	} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	r.Digest = base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16])
	return r
}

// clip returns at most n bytes of s, whole characters only.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

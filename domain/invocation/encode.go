package invocation

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
)

// The stored form is one JSON object. Its head has a fixed width, so that a script can compare
// status and owner, and write the store's times, by position; request, raw response and agent
// result are spliced in verbatim and come last:
//
//	{"status":"PROJECTING","owner":"…22…","digest":"",…padding…,"started_at":…26…,
//	 "completed_at":…26…,"lease_until":…26…,"schema":1,…,"request":…,"raw_response":…,"agent_result":…}
//
// Padding is blanks after a comma, which JSON allows. A time is "2026-11-30T18:07:41.123Z"
// with its quotes, or null padded with blanks before it.
const (
	// OwnerEnd is where the part of the head that names status and owner ends.
	OwnerEnd = len(`{"status":"PROJECTING","owner":"`) + OwnerLength + len(`",`)
	// TimeLength is the width of a time with its quotes.
	TimeLength = 26
	// StartedAtOffset, CompletedAtOffset and LeaseUntilOffset are where the times stand.
	StartedAtOffset   = OwnerEnd + len(`"digest":"`) + OwnerLength + len(`",`) + len(`"started_at":`)
	CompletedAtOffset = StartedAtOffset + TimeLength + len(`,"completed_at":`)
	LeaseUntilOffset  = CompletedAtOffset + TimeLength + len(`,"lease_until":`)
	// HeadEnd is where the fixed part ends.
	HeadEnd = LeaseUntilOffset + TimeLength
)

// MaxHead is the most bytes of a stored form before its request: a prefix of this length
// holds everything but the bodies.
const MaxHead = 8 << 10

// MaxReason and MaxDetail bound reason and detail of a stored error, in bytes.
const (
	MaxReason = 64
	MaxDetail = 1 << 10
)

const (
	timeForm    = `"2006-01-02T15:04:05.000Z"`
	noTime      = `                      null`
	requestMark = `,"request":`
	rawMark     = `,"raw_response":`
	agentMark   = `,"agent_result":`
)

// ErrCorrupt says that bytes are not a stored record. Such a value is never evidence and
// never overwritten (S23).
var ErrCorrupt = errors.New("stored record is corrupt")

// OwnerHead returns the first bytes, OwnerEnd of them, of the stored form of a record in this
// status with this owner: what a script compares.
func OwnerHead(status Status, owner string) string {
	return `{"status":"` + string(status) + `",` + padding[:len(Projecting)-len(status)] + `"owner":"` + owner + `",`
}

// Time returns the stored form of a time, TimeLength bytes.
func Time(t time.Time) string {
	if t.IsZero() {
		return noTime
	}
	return t.UTC().Format(timeForm)
}

// padding pads the parts of the head whose width varies.
const padding = "                      "

// Head returns the stored form up to, but not including, the mark before the request.
func (r Record) Head() []byte {
	return r.appendHead(make([]byte, 0, 640+len(r.ToolCallID)+len(r.ErrorDetail)))
}

func (r Record) appendHead(b []byte) []byte {
	b = append(append(append(b, `{"status":"`...), r.Status...), `",`...)
	b = append(b, padding[:len(Projecting)-len(r.Status)]...)
	b = append(append(append(b, `"owner":"`...), r.Owner...), `","digest":"`...)
	b = append(append(append(b, r.Digest...), `",`...), padding[:OwnerLength-len(r.Digest)]...)
	b = appendTime(append(b, `"started_at":`...), r.StartedAt)
	b = appendTime(append(b, `,"completed_at":`...), r.CompletedAt)
	b = appendTime(append(b, `,"lease_until":`...), r.LeaseUntil)
	b = strconv.AppendInt(append(b, `,"schema":`...), SchemaVersion, 10)
	b = appendMember(b, `,"run_id":`, string(r.RunID))
	b = appendMember(b, `,"tool_call_id":`, r.ToolCallID)
	b = appendMember(b, `,"tool_name":`, r.ToolName)
	b = appendMember(b, `,"evidence_status":`, string(r.EvidenceStatus))
	if r.ErrorCode != "" {
		b = appendMember(b, `,"error_code":`, string(r.ErrorCode))
		if r.ErrorReason != "" {
			b = appendMember(b, `,"error_reason":`, r.ErrorReason)
		}
		if r.ErrorDetail != "" {
			b = appendMember(b, `,"error_detail":`, r.ErrorDetail)
		}
	}
	b = strconv.AppendInt(append(b, `,"sizes":{"request":`...), int64(r.Sizes.Request), 10)
	b = strconv.AppendInt(append(b, `,"raw_response":`...), int64(r.Sizes.RawResponse), 10)
	b = strconv.AppendInt(append(b, `,"agent_result":`...), int64(r.Sizes.AgentResult), 10)
	return append(b, '}')
}

func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, noTime...)
	}
	return t.UTC().AppendFormat(b, timeForm)
}

// appendMember appends a name and its value as a JSON string. What needs no escape, which is
// nearly everything, is copied.
func appendMember(b []byte, name, value string) []byte {
	b = append(b, name...)
	for i := range len(value) {
		if c := value[i]; c < 0x20 || c > 0x7E || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(value) // never fails for a string
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), value...), '"')
}

// Encode returns the stored form. Request, raw response and agent result stand in it byte for byte.
func (r Record) Encode() []byte {
	b := r.appendHead(make([]byte, 0, 640+len(r.ToolCallID)+len(r.ErrorDetail)+r.bodyLen()))
	b = append(append(b, requestMark...), orNull(r.Request)...)
	b = append(append(b, rawMark...), orNull(r.RawResponse)...)
	b = append(append(b, agentMark...), orNull(r.AgentResult)...)
	return append(b, '}')
}

// EncodedLen returns len(Encode()) without encoding the bodies: the bytes that the record
// limit counts (S22).
func (r Record) EncodedLen() int {
	var head [1 << 10]byte
	return len(r.appendHead(head[:0])) + r.bodyLen()
}

func (r Record) bodyLen() int {
	return len(requestMark) + len(rawMark) + len(agentMark) + 1 +
		len(orNull(r.Request)) + len(orNull(r.RawResponse)) + len(orNull(r.AgentResult))
}

func orNull(b json.RawMessage) []byte {
	if b == nil {
		return []byte("null")
	}
	return b
}

// stored mirrors the head for decoding.
type stored struct {
	Status         Status          `json:"status"`
	Owner          string          `json:"owner"`
	Digest         string          `json:"digest"`
	StartedAt      *time.Time      `json:"started_at"`
	CompletedAt    *time.Time      `json:"completed_at"`
	LeaseUntil     *time.Time      `json:"lease_until"`
	Schema         int             `json:"schema"`
	RunID          run.ID          `json:"run_id"`
	ToolCallID     string          `json:"tool_call_id"`
	ToolName       string          `json:"tool_name"`
	EvidenceStatus evidence.Status `json:"evidence_status"`
	ErrorCode      fault.Code      `json:"error_code"`
	ErrorReason    string          `json:"error_reason"`
	ErrorDetail    string          `json:"error_detail"`
	Sizes          Sizes           `json:"sizes"`
}

// Decode reads a whole stored form, or returns ErrCorrupt.
func Decode(value []byte) (Record, error) {
	r, at, err := decodeHead(value)
	if err != nil {
		return Record{}, err
	}
	var ok bool
	rest := value[at:]
	if r.Request, rest, ok = cut(rest, requestMark, r.Sizes.Request); !ok {
		return Record{}, ErrCorrupt
	}
	if r.RawResponse, rest, ok = cut(rest, rawMark, r.Sizes.RawResponse); !ok {
		return Record{}, ErrCorrupt
	}
	if r.AgentResult, rest, ok = cut(rest, agentMark, r.Sizes.AgentResult); !ok || string(rest) != "}" {
		return Record{}, ErrCorrupt
	}
	return r, nil
}

// DecodeHead reads a prefix of a stored form, MaxHead bytes or the whole value, and returns
// the record without its bodies, or ErrCorrupt.
func DecodeHead(prefix []byte) (Record, error) {
	r, _, err := decodeHead(prefix)
	return r, err
}

// MaxAnswer is the length of a suffix of a stored form that holds most agent results.
const MaxAnswer = 40 << 10

// DecodeAnswer reads a record without request and raw response from a prefix of MaxHead bytes
// and a suffix of its stored form. ok is false when the suffix is too short to hold the result.
func DecodeAnswer(prefix, suffix []byte) (r Record, ok bool, err error) {
	if r, err = DecodeHead(prefix); err != nil || r.Status != Ready {
		return r, true, err
	}
	n := len(agentMark) + r.Sizes.AgentResult + len("}")
	if len(suffix) < n {
		return r, false, nil
	}
	rest := suffix[len(suffix)-n:]
	if r.AgentResult, rest, ok = cut(rest, agentMark, r.Sizes.AgentResult); !ok || string(rest) != "}" {
		return Record{}, true, ErrCorrupt
	}
	return r, true, nil
}

func decodeHead(value []byte) (Record, int, error) {
	// No string of the head can hold the mark: its quotes would stand escaped. The brace before
	// it ends "sizes", which has a member of the same name.
	at := bytes.Index(value, []byte("}"+requestMark)) + 1
	if at < HeadEnd {
		return Record{}, 0, ErrCorrupt
	}
	var s stored
	head := append(bytes.Clone(value[:at]), '}')
	if err := json.Unmarshal(head, &s); err != nil || !s.sound() {
		return Record{}, 0, ErrCorrupt
	}
	r := Record{
		Status: s.Status, Owner: s.Owner, Digest: s.Digest, RunID: s.RunID, ToolCallID: s.ToolCallID, ToolName: s.ToolName,
		EvidenceStatus: s.EvidenceStatus, ErrorCode: s.ErrorCode, ErrorReason: s.ErrorReason, ErrorDetail: s.ErrorDetail,
		StartedAt: value0(s.StartedAt), CompletedAt: value0(s.CompletedAt), LeaseUntil: value0(s.LeaseUntil), Sizes: s.Sizes,
	}
	return r, at, nil
}

// sound reports whether the head is one that this package writes: a status with the evidence
// and error that belong to it.
func (s stored) sound() bool {
	if s.Schema != SchemaVersion || len(s.Owner) != OwnerLength || s.RunID == "" || s.ToolCallID == "" {
		return false
	}
	switch s.Status {
	case Projecting:
		return s.EvidenceStatus == evidence.Error && s.ErrorCode == ""
	case Ready:
		return (s.EvidenceStatus == evidence.Found || s.EvidenceStatus == evidence.None) && s.ErrorCode == ""
	case Error:
		return s.EvidenceStatus == evidence.Error && s.ErrorCode != ""
	default:
		return false
	}
}

// cut takes the mark and a body of size bytes (or null for none) from the front of b.
func cut(b []byte, mark string, size int) (json.RawMessage, []byte, bool) {
	rest, ok := bytes.CutPrefix(b, []byte(mark))
	if !ok {
		return nil, nil, false
	}
	if size == 0 {
		rest, ok = bytes.CutPrefix(rest, []byte("null"))
		return nil, rest, ok
	}
	if size < 0 || size > len(rest) {
		return nil, nil, false
	}
	return bytes.Clone(rest[:size]), rest[size:], true
}

func value0(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

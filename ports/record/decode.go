package record

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
)

// stored mirrors the head for decoding.
type stored struct {
	Status         invocation.Status `json:"status"`
	Owner          string            `json:"owner"`
	Digest         string            `json:"digest"`
	StartedAt      *time.Time        `json:"started_at"`
	CompletedAt    *time.Time        `json:"completed_at"`
	LeaseUntil     *time.Time        `json:"lease_until"`
	Schema         int               `json:"schema"`
	RunID          run.ID            `json:"run_id"`
	ToolCallID     string            `json:"tool_call_id"`
	ToolName       string            `json:"tool_name"`
	EvidenceStatus evidence.Status   `json:"evidence_status"`
	ErrorCode      fault.Code        `json:"error_code"`
	ErrorReason    string            `json:"error_reason"`
	ErrorDetail    string            `json:"error_detail"`
	Sizes          invocation.Sizes  `json:"sizes"`
}

// Decode reads a whole stored form, or returns ErrCorrupt. The record's bodies are copies.
func Decode(value []byte) (invocation.Record, error) {
	r, at, err := decodeHead(value)
	if err != nil {
		return invocation.Record{}, err
	}
	rest := value[at:]
	for _, body := range []struct {
		mark string
		size int
		into *json.RawMessage
	}{
		{requestMark, r.Sizes.Request, &r.Request},
		{rawMark, r.Sizes.RawResponse, &r.RawResponse},
		{agentMark, r.Sizes.AgentResult, &r.AgentResult},
	} {
		var ok bool
		if *body.into, rest, ok = cut(rest, body.mark, body.size); !ok {
			return invocation.Record{}, ErrCorrupt
		}
	}
	if string(rest) != "}" {
		return invocation.Record{}, ErrCorrupt
	}
	return r, nil
}

// DecodeHead reads a stored form, or a prefix of one that holds its head, and returns the record
// without its bodies, or ErrCorrupt. MaxHead bytes hold a head of this version; one of a later
// version may be longer.
func DecodeHead(prefix []byte) (invocation.Record, error) {
	r, _, err := decodeHead(prefix)
	return r, err
}

// AnswerLen returns how many bytes at the end of the record's stored form hold its agent result,
// with its name. It needs the record's sizes only.
func AnswerLen(r invocation.Record) int {
	if r.Sizes.AgentResult == 0 {
		return len(agentMark) + len("null}")
	}
	return len(agentMark) + r.Sizes.AgentResult + len("}")
}

// DecodeAnswer returns the record of a head with its agent result, read from the last
// AnswerLen(head) bytes of its stored form, or ErrCorrupt.
func DecodeAnswer(head invocation.Record, end []byte) (invocation.Record, error) {
	var ok bool
	head.AgentResult, end, ok = cut(end, agentMark, head.Sizes.AgentResult)
	if !ok || string(end) != "}" {
		return invocation.Record{}, ErrCorrupt
	}
	return head, nil
}

// decodeHead returns the record without its bodies and where the head ends.
func decodeHead(value []byte) (invocation.Record, int, error) {
	// The end is certain: in a string of the head the quotes of the mark would be escaped, and the
	// brace before it is that of sizes, the one object of the head.
	at := bytes.Index(value, []byte("}"+requestMark)) + 1
	if at == 0 {
		return invocation.Record{}, 0, ErrCorrupt
	}
	var s stored
	if json.Unmarshal(append(bytes.Clone(value[:at]), '}'), &s) != nil || !readable(s.Schema, schema) {
		return invocation.Record{}, 0, ErrCorrupt
	}
	r := invocation.Record{
		Status: s.Status, Owner: s.Owner, Digest: s.Digest, RunID: s.RunID, ToolCallID: s.ToolCallID,
		ToolName:       s.ToolName,
		EvidenceStatus: s.EvidenceStatus, ErrorCode: s.ErrorCode, ErrorReason: s.ErrorReason,
		ErrorDetail: s.ErrorDetail,
		StartedAt:   orZero(s.StartedAt), CompletedAt: orZero(s.CompletedAt), LeaseUntil: orZero(s.LeaseUntil),
		Sizes: s.Sizes,
	}
	if !sound(r) {
		return invocation.Record{}, 0, ErrCorrupt
	}
	return r, at, nil
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

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

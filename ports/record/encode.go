package record

import (
	"encoding/json"
	"errors"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/invocation"
)

// errUnsound says that Decode would not accept the record.
var errUnsound = errors.New("record: status, evidence, error, owner, ids or sizes do not fit together")

// headHint is the length of a usual head without its tool call id and error detail.
const headHint = 640

// Encode returns the stored form. It returns an error for a record that could not be read back:
// a head member that is longer than its bound, an owner token of another length, sizes that are
// not those of the bodies, or evidence or an error that the status does not have.
func Encode(r invocation.Record) ([]byte, error) {
	sizes := invocation.Sizes{Request: len(r.Request), RawResponse: len(r.RawResponse), AgentResult: len(r.AgentResult)}
	if !sound(r) || r.Sizes != sizes {
		return nil, errUnsound
	}
	b, err := appendHead(make([]byte, 0, headHint+len(r.ToolCallID)+len(r.ErrorDetail)+bodyLen(r)), &r)
	if err != nil {
		return nil, err
	}
	b = append(append(b, requestMark...), orNull(r.Request)...)
	b = append(append(b, rawMark...), orNull(r.RawResponse)...)
	b = append(append(b, agentMark...), orNull(r.AgentResult)...)
	return append(b, '}'), nil
}

// EncodedLen returns the length in bytes of the stored form, without encoding the bodies: what the
// record limit counts (S22).
func EncodedLen(r invocation.Record) int {
	var buf [headHint]byte
	b, _ := appendHead(buf[:0], &r)
	return len(b) + bodyLen(r)
}

func bodyLen(r invocation.Record) int {
	return len(requestMark) + len(rawMark) + len(agentMark) + len(`}`) +
		len(orNull(r.Request)) + len(orNull(r.RawResponse)) + len(orNull(r.AgentResult))
}

func orNull(b json.RawMessage) []byte {
	if len(b) == 0 {
		return []byte("null")
	}
	return b
}

// sound reports whether the record has its keys and the evidence and error that belong to its
// status.
func sound(r invocation.Record) bool {
	if len(r.Owner) != invocation.OwnerLength || r.RunID == "" || r.ToolCallID == "" {
		return false
	}
	switch r.Status {
	case invocation.Projecting:
		return r.EvidenceStatus == evidence.Error && r.ErrorCode == ""
	case invocation.Ready:
		return r.Referencable() && r.ErrorCode == ""
	case invocation.Error:
		return r.EvidenceStatus == evidence.Error && r.ErrorCode != ""
	default:
		return false
	}
}

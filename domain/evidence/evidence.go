// Package evidence says what a tool call's answer is worth: found, nothing found, or not
// evidence; and judges references to tool calls.
package evidence

import (
	"encoding/json"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// Status is the evidence status of an invocation.
type Status string

// The three evidence statuses. A PROJECTING record carries Error as a placeholder.
const (
	Found Status = "EVIDENCE_FOUND"
	None  Status = "NO_EVIDENCE"
	Error Status = "ERROR"
)

// Projection is a projector's answer: the bounded result for the agent and what it is worth.
type Projection struct {
	// AgentResult is valid JSON within the agent-result limit.
	AgentResult json.RawMessage
	// Status is Found or None; anything else is a failed projection (S13).
	Status Status
}

// Check returns PROJECTION_FAILED unless the projection has a result in valid JSON and the
// status Found or None.
func (p Projection) Check() error {
	if p.Status != Found && p.Status != None {
		return fault.Because(fault.ProjectionFailed, "EVIDENCE_STATUS", "")
	}
	if !json.Valid(p.AgentResult) {
		return fault.Because(fault.ProjectionFailed, "RESULT_JSON", "")
	}
	return nil
}

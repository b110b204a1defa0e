package application

import (
	"encoding/json"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
)

// Result is what an agent gets of a tool call: a bounded answer or a fault, never both.
type Result struct {
	RunID          run.ID
	ToolCallID     string
	Status         invocation.Status
	EvidenceStatus evidence.Status
	// AgentResult is the bounded answer; nil unless Status is READY.
	AgentResult json.RawMessage
	// Fault is set when Status is ERROR.
	Fault *fault.Error
	// Recorded reports whether a canonical record of this call exists in this state.
	Recorded bool

	sizes invocation.Sizes // for the report
}

// resultOf returns what the agent may see of a record.
func resultOf(r invocation.Record) Result {
	res := Result{
		RunID: r.RunID, ToolCallID: r.ToolCallID, Status: r.Status, EvidenceStatus: r.EvidenceStatus, Recorded: true,
	}
	switch r.Status {
	case invocation.Ready:
		res.AgentResult = r.AgentResult
	case invocation.Error:
		res.Fault = fault.Because(r.ErrorCode, r.ErrorReason, r.ErrorDetail)
	}
	return res
}

// refusal returns the result of a call that has no record.
func refusal(call Call, err error) Result {
	return Result{
		RunID: call.RunID, ToolCallID: call.ToolCallID, Status: invocation.Error, EvidenceStatus: evidence.Error,
		Fault: fault.Of(err), sizes: invocation.Sizes{Request: len(call.Request)},
	}
}

// err returns the fault as an error; a nil fault is a nil error.
func (r Result) err() error {
	if r.Fault == nil {
		return nil
	}
	return r.Fault
}

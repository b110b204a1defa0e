package application

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
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

// Outcome is one line of the log and one observation of the metrics.
type Outcome struct {
	// RunID is the caller's own run. It, ToolCallID and ToolName are empty when they were not
	// safe or not known.
	RunID                run.ID
	ToolCallID, ToolName string
	Status               invocation.Status
	EvidenceStatus       evidence.Status
	Code                 fault.Code
	Reason               string
	Recorded             bool
	Elapsed              time.Duration
	Sizes                invocation.Sizes
}

// reporter reports each call once, when it has ended.
type reporter struct {
	clock     ports.Clock
	log       *zap.Logger
	observe   func(Outcome)
	catalogue *Catalogue
}

// report writes the one log line of an invocation. It carries no request, no detail, no cause.
func (r *reporter) report(ctx context.Context, since time.Time, rc RunContext, call Call, res Result) {
	o := Outcome{
		ToolCallID: safeID(call.ToolCallID), ToolName: r.catalogue.known(call.ToolName),
		Status: res.Status, EvidenceStatus: res.EvidenceStatus, Recorded: res.Recorded,
		Elapsed: r.clock.Now().Sub(since), Sizes: res.sizes,
	}
	if rc.RunID.Check() == nil {
		o.RunID = rc.RunID
	}
	if res.Fault != nil {
		o.Code, o.Reason = res.Fault.Code, res.Fault.Reason
	}
	if r.observe != nil {
		r.observe(o)
	}
	if cause := errors.Unwrap(res.err()); cause != nil {
		r.log.Debug("cause",
			zap.String("run_id", string(o.RunID)), zap.String("tool_call_id", o.ToolCallID), zap.Error(cause))
	}
	r.log.Info("invocation",
		zap.String("run_id", string(o.RunID)), zap.String("tool_call_id", o.ToolCallID),
		zap.String("tool_name", o.ToolName), zap.String("status", string(o.Status)),
		zap.String("evidence_status", string(o.EvidenceStatus)), zap.String("code", string(o.Code)),
		zap.String("reason", o.Reason), zap.Bool("recorded", o.Recorded), zap.Duration("elapsed", o.Elapsed),
		zap.Int("request_bytes", o.Sizes.Request), zap.Int("raw_response_bytes", o.Sizes.RawResponse),
		zap.Int("agent_result_bytes", o.Sizes.AgentResult), zap.String("trace_id", TraceID(ctx)))
}

// safeID returns the tool_call_id when it is safe to repeat, else "".
func safeID(toolCallID string) string {
	if invocation.CheckToolCallID(toolCallID) != nil {
		return ""
	}
	return toolCallID
}

type traceKey struct{}

// WithTraceID returns a context whose invocations carry the trace id in their log line.
func WithTraceID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, traceKey{}, id)
}

// TraceID returns the trace id of WithTraceID, or "".
func TraceID(ctx context.Context) string {
	id, _ := ctx.Value(traceKey{}).(string)
	return id
}

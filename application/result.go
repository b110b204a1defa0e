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
)

// Result is what an agent gets of a tool call: a bounded result or a fault, never both.
type Result struct {
	RunID          run.ID
	ToolCallID     string
	Status         invocation.Status
	EvidenceStatus evidence.Status
	// AgentResult is the bounded answer; nil unless Status is READY.
	AgentResult json.RawMessage
	// Fault is set when Status is ERROR.
	Fault *fault.Error
	// Recorded says that a canonical record of this call exists in this state.
	Recorded bool
}

// resultOf returns what the agent may see of a record.
func resultOf(r invocation.Record) Result {
	res := Result{RunID: r.RunID, ToolCallID: r.ToolCallID, Status: r.Status, EvidenceStatus: r.EvidenceStatus, Recorded: true}
	switch r.Status {
	case invocation.Ready:
		res.AgentResult = r.AgentResult
	case invocation.Error:
		res.Fault = fault.Because(r.ErrorCode, r.ErrorReason, r.ErrorDetail)
	}
	return res
}

func refusal(env Envelope, err error) Result {
	return Result{RunID: env.RunID, ToolCallID: env.ToolCallID, Status: invocation.Error, EvidenceStatus: evidence.Error, Fault: fault.Of(err)}
}

// Outcome is one line of the log and one observation of the metrics.
type Outcome struct {
	RunID run.ID
	// ToolCallID and ToolName are empty when they were not safe or not known.
	ToolCallID, ToolName string
	Status               invocation.Status
	EvidenceStatus       evidence.Status
	Code                 fault.Code
	Reason               string
	Recorded             bool
	Elapsed              time.Duration
	Sizes                invocation.Sizes
}

// refused ends a call that has no record.
func (b *Boundary) refused(ctx context.Context, since time.Time, rc RunContext, env Envelope, err error) Result {
	res := refusal(env, err)
	o := Outcome{RunID: rc.RunID, Status: res.Status, EvidenceStatus: res.EvidenceStatus, Sizes: invocation.Sizes{Request: len(env.Request)}}
	if invocation.CheckToolCallID(env.ToolCallID) == nil {
		o.ToolCallID = env.ToolCallID
	}
	if _, known := b.catalogue.entries[env.ToolName]; known {
		o.ToolName = env.ToolName
	}
	b.report(ctx, since, o, res.Fault)
	return res
}

// settled stores the terminal record and returns the result. What could not be recorded is
// not returned (S24).
func (b *Boundary) settled(ctx context.Context, since time.Time, next invocation.Record) Result {
	detached, cancel := b.detached(ctx)
	defer cancel()
	o := Outcome{RunID: next.RunID, ToolCallID: next.ToolCallID, ToolName: next.ToolName, Sizes: next.Sizes}
	stored, err := b.store.Settle(detached, next)
	var res Result
	switch fault.CodeOf(err) {
	case "":
		res = resultOf(stored)
		if stored.Status == next.Status && stored.Digest == next.Digest {
			res.AgentResult = next.AgentResult
		}
	case fault.ExecutionLost:
		// The lease passed and a reader settled the record: it stands as EXECUTION_LOST.
		res = refusal(Envelope{RunID: next.RunID, ToolCallID: next.ToolCallID}, fault.Wrap(fault.ExecutionLost, err))
		res.Recorded = true
	default:
		res = refusal(Envelope{RunID: next.RunID, ToolCallID: next.ToolCallID}, fault.Wrap(fault.StoreUnavailable, err))
	}
	o.Status, o.EvidenceStatus, o.Recorded = res.Status, res.EvidenceStatus, res.Recorded
	b.report(ctx, since, o, res.Fault)
	return res
}

// report writes the one log line of an invocation. It carries no request, no detail, no cause.
func (b *Boundary) report(ctx context.Context, since time.Time, o Outcome, f *fault.Error) {
	o.Elapsed = b.clock.Now().Sub(since)
	if f != nil {
		o.Code, o.Reason = f.Code, f.Reason
	}
	if b.opt.Observe != nil {
		b.opt.Observe(o)
	}
	if cause := errors.Unwrap(errOf(f)); cause != nil {
		b.log.Debug("cause", zap.String("run_id", string(o.RunID)), zap.String("tool_call_id", o.ToolCallID), zap.Error(cause))
	}
	b.log.Info("invocation",
		zap.String("run_id", string(o.RunID)), zap.String("tool_call_id", o.ToolCallID), zap.String("tool_name", o.ToolName),
		zap.String("status", string(o.Status)), zap.String("evidence_status", string(o.EvidenceStatus)),
		zap.String("code", string(o.Code)), zap.String("reason", o.Reason), zap.Bool("recorded", o.Recorded),
		zap.Duration("elapsed", o.Elapsed), zap.Int("request_bytes", o.Sizes.Request),
		zap.Int("raw_bytes", o.Sizes.RawResponse), zap.Int("agent_bytes", o.Sizes.AgentResult),
		zap.String("trace_id", TraceID(ctx)))
}

// errOf keeps a nil fault from becoming an error that is not nil.
func errOf(f *fault.Error) error {
	if f == nil {
		return nil
	}
	return f
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

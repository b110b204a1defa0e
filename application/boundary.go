package application

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/record"
)

// boundary is the core use case: one tool call, admitted, checked, recorded, executed,
// projected and settled.
type boundary struct {
	catalogue *Catalogue
	store     ports.Store
	calls     *inflight
	slots     *semaphore.Weighted // one slot for each call, on all transports together
	opt       Options
}

func newBoundary(catalogue *Catalogue, store ports.Store, calls *inflight, opt Options) *boundary {
	return &boundary{catalogue, store, calls, semaphore.NewWeighted(int64(opt.MaxConcurrent)), opt}
}

// invoke takes one call from admission to its settled record. A call that finds no free slot is
// RATE_LIMITED before anything looks at it: its run is not told and spends nothing.
func (b *boundary) invoke(ctx context.Context, rc RunContext, call Call) Result {
	if !b.slots.TryAcquire(1) {
		return refusal(call, fault.New(fault.RateLimited))
	}
	defer b.slots.Release(1)
	entry, plan, err := preflight(b.catalogue, rc, call, b.opt.Limits.Request)
	if err != nil {
		return refusal(call, b.refuse(ctx, rc, call, err))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	leave, err := b.calls.enter(call.RunID, cancel)
	if err != nil {
		return refusal(call, err)
	}
	defer leave()

	timeout := plan.Timeout
	if timeout <= 0 {
		timeout = b.opt.ToolTimeout
	}
	begun, err := b.begin(ctx, rc, call, timeout)
	if err != nil {
		return refusal(call, err)
	}
	next := b.execute(ctx, entry, plan, begun, timeout)
	return b.settle(ctx, next)
}

// refuse counts a refusal in the caller's own run and returns the fault to answer with: the
// given one, or the one that overrides it. Nothing of the refusal leaves before that (S06).
func (b *boundary) refuse(ctx context.Context, rc RunContext, call Call, cause error) error {
	f := fault.Of(cause)
	ctx, cancel := b.detached(ctx)
	defer cancel()
	entry := run.Refusal{
		ToolCallID: safeID(call.ToolCallID), ToolName: b.catalogue.known(call.ToolName),
		Code: f.Code, Reason: f.Reason, Detail: f.Detail,
	}
	if err := b.store.Refuse(ctx, rc.RunID, rc.Incarnation, entry, run.CountsAsRefusal(f.Code)); err != nil {
		return storeFault(err)
	}
	return f
}

// detached returns a context with the store's own timeout that the caller cannot end.
func (b *boundary) detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), b.opt.StoreTimeout)
}

// begin creates the PROJECTING record. Its lease lasts for the execution, the settlement and a
// margin, so that no reader calls a call lost that still works (S16).
func (b *boundary) begin(ctx context.Context, rc RunContext, call Call, timeout time.Duration) (ports.Begun, error) {
	// When the run has ended meanwhile, the store says so; only a caller that left is told here.
	var ended *fault.Error
	if cause := context.Cause(ctx); cause != nil && !errors.As(cause, &ended) {
		return ports.Begun{}, fault.New(fault.ExecutionCancelled)
	}
	key := invocation.Key{RunID: call.RunID, ToolCallID: call.ToolCallID}
	rec := invocation.Begin(key, NewToken(), call.ToolName, call.Request)
	if err := limits.Check(record.EncodedLen(rec), b.opt.Limits.Record, fault.RequestTooLarge); err != nil {
		return ports.Begun{}, err
	}
	ctx, cancel := b.detached(ctx)
	defer cancel()
	begun, err := b.store.Begin(ctx, rec, rc.Incarnation, timeout+b.opt.StoreTimeout+b.opt.LeaseSlack)
	if err != nil {
		return ports.Begun{}, storeFault(err)
	}
	return begun, nil
}

// execute executes the plan and projects its answer; it returns the record's next, terminal state.
func (b *boundary) execute(
	ctx context.Context, entry catalogued, plan tool.Plan, begun ports.Begun, timeout time.Duration,
) invocation.Record {
	atDeadline := begun.Remaining <= timeout
	limit, cause := timeout, fault.New(fault.ExecutionTimeout)
	if atDeadline {
		limit, cause = begun.Remaining, fault.New(fault.RunDeadlineExceeded)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, cause)
	defer cancel()

	raw, err := executed(ctx, entry.Executor, plan, b.opt.Limits.Raw)
	if err != nil {
		return begun.Record.Failed(ending(ctx, err, atDeadline))
	}
	bounds := plan.Bounds
	bounds.AgentResult = b.opt.Limits.AgentResult
	projection, err := projected(entry.Projector, raw, bounds)
	if err != nil {
		return begun.Record.FailedWithRaw(raw, err, b.opt.Limits, record.EncodedLen)
	}
	ready, err := begun.Record.Ready(raw, projection, b.opt.Limits, record.EncodedLen)
	if err != nil {
		return begun.Record.FailedWithRaw(raw, err, b.opt.Limits, record.EncodedLen)
	}
	return ready
}

// settle stores the terminal record and returns the result. What could not be recorded is not
// returned (S24).
func (b *boundary) settle(ctx context.Context, next invocation.Record) Result {
	ctx, cancel := b.detached(ctx)
	defer cancel()
	call := Call{RunID: next.RunID, ToolCallID: next.ToolCallID}
	stored, err := b.store.Settle(ctx, next)
	var res Result
	switch fault.CodeOf(err) {
	case "":
		res = resultOf(stored)
		if stored.Status == next.Status && stored.Digest == next.Digest {
			res.AgentResult = next.AgentResult
		}
	case fault.ExecutionLost:
		// The lease passed and a reader settled the record: it is EXECUTION_LOST for good.
		res = refusal(call, err)
		res.Recorded = true
	default:
		res = refusal(call, fault.Wrap(fault.StoreUnavailable, err))
	}
	res.sizes = next.Sizes
	return res
}

// storeFault maps what a store returned: faults stay, anything else means that the store did
// not do its part.
func storeFault(err error) error {
	f := fault.Of(err)
	switch f.Code {
	case fault.ExecutionTimeout, fault.ExecutionCancelled:
		return fault.Wrap(fault.StoreUnavailable, err)
	default:
		return f
	}
}

// ending returns the fault of an execution that failed. When its context ended, the context's
// cause says why; only an answer that was too large keeps its own code.
func ending(ctx context.Context, err error, atDeadline bool) error {
	f := fault.Of(err)
	if f.Code == fault.ResultTooLarge {
		return f
	}
	if ctx.Err() != nil {
		var cause *fault.Error
		if !errors.As(context.Cause(ctx), &cause) {
			cause = fault.New(fault.ExecutionCancelled) // the caller's own context: it went away
		}
		return cause.WithCause(err)
	}
	if f.Code == fault.ExecutionTimeout && atDeadline {
		return fault.Wrap(fault.RunDeadlineExceeded, err)
	}
	return f
}

// executed calls the executor. A panic or an answer that is not JSON is EXECUTION_FAILED.
func executed(
	ctx context.Context, e ports.Executor, plan tool.Plan, limit limits.RawBytes,
) (raw json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			raw, err = nil, fault.Wrap(fault.ExecutionFailed, panicked{p})
		}
	}()
	raw, err = e.Execute(ctx, plan, limit)
	if err != nil {
		return nil, err
	}
	if err := limits.Check(len(raw), limit, fault.ResultTooLarge); err != nil {
		return nil, err
	}
	if !json.Valid(raw) {
		return nil, fault.Because(fault.ExecutionFailed, "RAW_JSON", "")
	}
	return raw, nil
}

// projected calls the projector. Whatever it does wrong is PROJECTION_FAILED (S13).
func projected(
	p ports.Projector, raw json.RawMessage, bounds tool.Bounds,
) (projection evidence.Projection, err error) {
	defer func() {
		if v := recover(); v != nil {
			projection, err = evidence.Projection{}, fault.Wrap(fault.ProjectionFailed, panicked{v})
		}
	}()
	projection, err = p.Project(raw, bounds)
	if err != nil && fault.CodeOf(err) != fault.ResultTooLarge {
		err = fault.Wrap(fault.ProjectionFailed, err)
	}
	return projection, err
}

// panicked carries a recovered panic's value to debug logs; it is never shown.
type panicked struct{ value any }

func (panicked) Error() string { return "panic in an adapter" }

// NewToken returns 128 random bits as invocation.OwnerLength characters: an owner token or a
// run's incarnation.
func NewToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return base64.RawURLEncoding.EncodeToString(b[:])
}

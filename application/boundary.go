package application

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
)

// Options bound the boundary. Zero values take the defaults.
type Options struct {
	Limits limits.Limits
	// ToolTimeout bounds Execute when the plan sets no timeout of its own; default 30 s.
	ToolTimeout time.Duration
	// StoreTimeout bounds each Begin, Refuse and Settle; default 5 s.
	StoreTimeout time.Duration
	// LeaseSlack is added to a call's timeouts to make its lease; default 10 s.
	LeaseSlack time.Duration
	// PollInterval is how often the runs of calls in flight are looked up; default 1 s.
	PollInterval time.Duration
	// Observe, when set, is told of every outcome; it must not block.
	Observe func(Outcome)
}

func (o Options) withDefaults() Options {
	if o.Limits == (limits.Limits{}) {
		o.Limits = limits.Default()
	}
	for _, d := range []struct {
		at      *time.Duration
		initial time.Duration
	}{{&o.ToolTimeout, 30 * time.Second}, {&o.StoreTimeout, 5 * time.Second}, {&o.LeaseSlack, 10 * time.Second}, {&o.PollInterval, time.Second}} {
		if *d.at == 0 {
			*d.at = d.initial
		}
	}
	return o
}

// Boundary is the use case that everything is about: one tool call, checked, recorded, run,
// projected and settled.
type Boundary struct {
	catalogue *Catalogue
	store     ports.Store
	clock     ports.Clock
	log       *zap.Logger
	opt       Options
	inflight  *inflight
}

// NewBoundary returns a boundary over the catalogue's tools and the store.
func NewBoundary(catalogue *Catalogue, store ports.Store, clock ports.Clock, log *zap.Logger, opt Options) *Boundary {
	return &Boundary{catalogue, store, clock, log.Named("boundary"), opt.withDefaults(), newInflight()}
}

// Invoke runs one tool call and returns its bounded result. It never fails otherwise: every
// refusal and failure is a Result with a fault that is safe to show.
//
// ctx is the caller's: when it ends the tool is stopped and the record still settled (S25).
func (b *Boundary) Invoke(ctx context.Context, rc RunContext, env Envelope) Result {
	since := b.clock.Now()
	entry, plan, err := b.catalogue.preflight(rc, env, b.opt.Limits.Request)
	if err != nil {
		return b.refused(ctx, since, rc, env, b.Refuse(ctx, rc, env.ToolCallID, env.ToolName, err))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c, err := b.inflight.enter(env.RunID, cancel)
	if err != nil {
		return b.refused(ctx, since, rc, env, err)
	}
	defer b.inflight.leave(c)

	timeout := plan.Timeout
	if timeout <= 0 {
		timeout = b.opt.ToolTimeout
	}
	key := invocation.Key{RunID: env.RunID, ToolCallID: env.ToolCallID}
	rec := invocation.Begin(key, NewToken(), env.ToolName, env.Request)
	begun, err := b.begin(ctx, rec, rc.Incarnation, timeout)
	if err != nil {
		return b.refused(ctx, since, rc, env, err)
	}
	next := b.run(ctx, entry, plan, begun, timeout)
	return b.settled(ctx, since, next)
}

// Refuse counts a refusal in the caller's own run and returns the fault to answer with: the
// given one, or the one that overrides it. Nothing of the refusal leaves before that (S06).
func (b *Boundary) Refuse(ctx context.Context, rc RunContext, toolCallID, toolName string, cause error) error {
	f := fault.Of(cause)
	if _, known := b.catalogue.entries[toolName]; !known {
		toolName = ""
	}
	if invocation.CheckToolCallID(toolCallID) != nil {
		toolCallID = ""
	}
	ctx, cancel := b.detached(ctx)
	defer cancel()
	entry := run.Refusal{ToolCallID: toolCallID, ToolName: toolName, Code: f.Code, Reason: f.Reason, Detail: f.Detail}
	if err := b.store.Refuse(ctx, rc.RunID, rc.Incarnation, entry, run.CountsAsRefusal(f.Code)); err != nil {
		return storeFault(err)
	}
	return f
}

// Reject refuses a call that an inbound adapter could not even assemble: it is counted and
// reported like any other refusal, and the fault to answer with is returned.
func (b *Boundary) Reject(ctx context.Context, rc RunContext, toolCallID, toolName string, cause error) error {
	since := b.clock.Now()
	env := Envelope{RunID: rc.RunID, ToolCallID: toolCallID, ToolName: toolName}
	return b.refused(ctx, since, rc, env, b.Refuse(ctx, rc, toolCallID, toolName, cause)).Fault
}

// detached returns a context of the store's own deadline that the caller cannot end.
func (b *Boundary) detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), b.opt.StoreTimeout)
}

func (b *Boundary) begin(ctx context.Context, rec invocation.Record, incarnation string, timeout time.Duration) (ports.Begun, error) {
	// When the run has ended meanwhile, the store says so; only a caller that left is told here.
	var ended *fault.Error
	if cause := context.Cause(ctx); cause != nil && !errors.As(cause, &ended) {
		return ports.Begun{}, fault.New(fault.ExecutionCancelled)
	}
	if err := limits.Check(rec.EncodedLen(), b.opt.Limits.Record, fault.RequestTooLarge); err != nil {
		return ports.Begun{}, err
	}
	detached, cancel := b.detached(ctx)
	defer cancel()
	begun, err := b.store.Begin(detached, rec, incarnation, timeout+b.opt.StoreTimeout+b.opt.LeaseSlack)
	if err != nil {
		return ports.Begun{}, storeFault(err)
	}
	return begun, nil
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

// run executes the plan and projects its answer; it returns the record's next, terminal state.
func (b *Boundary) run(ctx context.Context, entry catalogued, plan tool.Plan, begun ports.Begun, timeout time.Duration) invocation.Record {
	atDeadline := begun.Remaining <= timeout
	bound, cause := timeout, fault.New(fault.ExecutionTimeout)
	if atDeadline {
		bound, cause = begun.Remaining, fault.New(fault.RunDeadlineExceeded)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bound, cause)
	defer cancel()

	raw, err := execute(ctx, entry.Executor, plan, b.opt.Limits.Raw)
	if err != nil {
		return begun.Record.Failed(ending(ctx, err, atDeadline), nil, b.opt.Limits)
	}
	bounds := plan.Bounds
	bounds.AgentResult = b.opt.Limits.AgentResult
	projection, err := project(entry.Projector, raw, bounds)
	if err != nil {
		return begun.Record.Failed(err, raw, b.opt.Limits)
	}
	ready, err := begun.Record.Ready(raw, projection, b.opt.Limits)
	if err != nil {
		return begun.Record.Failed(err, raw, b.opt.Limits)
	}
	return ready
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

func execute(ctx context.Context, t ports.Executor, plan tool.Plan, limit limits.RawBytes) (raw json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			raw, err = nil, fault.Wrap(fault.ExecutionFailed, panicked{p})
		}
	}()
	raw, err = t.Execute(ctx, plan, limit)
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

// project calls the projector. Whatever it does wrong is PROJECTION_FAILED (S13).
func project(p ports.Projector, raw json.RawMessage, bounds tool.Bounds) (projection evidence.Projection, err error) {
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

// NewToken returns 128 random bits as invocation.OwnerLength characters: an owner token or a
// run's incarnation.
func NewToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return base64.RawURLEncoding.EncodeToString(b[:])
}

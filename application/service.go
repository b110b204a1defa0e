package application

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/semaphore"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
)

// Options configure a Service. Zero values take the defaults.
type Options struct {
	// HarnessKeys are the keys of the trusted callers.
	HarnessKeys []HarnessKey
	// Ceilings are the most that a harness may ask for when it opens a run.
	Ceilings Ceilings
	// Limits bound the bytes of one call; default limits.Default.
	Limits limits.Limits
	// MaxConcurrent is how many tool calls this process executes at once, whatever the
	// transport; more are RATE_LIMITED. As many results may be read again at once. Default 256.
	MaxConcurrent int
	// ToolTimeout bounds Execute when the plan sets no timeout; default 30 s.
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
	o.MaxConcurrent = cmp.Or(o.MaxConcurrent, 256)
	o.ToolTimeout = cmp.Or(o.ToolTimeout, 30*time.Second)
	o.StoreTimeout = cmp.Or(o.StoreTimeout, 5*time.Second)
	o.LeaseSlack = cmp.Or(o.LeaseSlack, 10*time.Second)
	o.PollInterval = cmp.Or(o.PollInterval, time.Second)
	return o
}

// Service is the front door: what harnesses, agents and operators may ask, whatever the
// transport. It decides who may ask; the types behind it decide the rest.
type Service struct {
	*authenticator

	catalogue *Catalogue
	runs      *runs
	boundary  *boundary
	results   *results
	reads     *semaphore.Weighted // one slot for each result that is being read again
	watcher   *watcher
	reporter  *reporter
	clock     ports.Clock
}

// New returns the service over the catalogue's tools and the store.
func New(
	catalogue *Catalogue, store ports.Store, tokens Tokens, clock ports.Clock, log *zap.Logger, opt Options,
) *Service {
	opt = opt.withDefaults()
	calls := newInflight()
	return &Service{
		authenticator: newAuthenticator(opt.HarnessKeys, tokens),

		catalogue: catalogue,
		runs:      newRuns(catalogue, store, tokens, opt.Ceilings),
		boundary:  newBoundary(catalogue, store, calls, opt),
		results:   &results{store},
		reads:     semaphore.NewWeighted(int64(opt.MaxConcurrent)),
		watcher:   &watcher{store, calls, log.Named("watch"), opt},
		reporter:  &reporter{clock, log.Named("boundary"), opt.Observe, catalogue},
		clock:     clock,
	}
}

// Call is one tool call as an inbound adapter received it. Nothing in it says what the call
// may do: that comes from the caller's run (S04).
type Call struct {
	// RunID is the run that the call names.
	RunID      run.ID
	ToolCallID string
	ToolName   string
	// Request is the tool's request, byte for byte as it was sent.
	Request json.RawMessage
}

// Open opens a run and returns it with its agent token; RUN_EXISTS when the id is taken.
// Harnesses only.
func (s *Service) Open(ctx context.Context, c Caller, req OpenRequest) (run.Run, string, error) {
	if err := c.RequireHarness(); err != nil {
		return run.Run{}, "", err
	}
	return s.runs.open(ctx, req)
}

// Token returns a fresh agent token of a run that is still active. Harnesses only.
func (s *Service) Token(ctx context.Context, c Caller, id run.ID) (run.Run, string, error) {
	if err := c.RequireHarness(); err != nil {
		return run.Run{}, "", err
	}
	return s.runs.token(ctx, id)
}

// Find returns the run with what is known of its calls, or RUN_NOT_FOUND. Harnesses only.
func (s *Service) Find(ctx context.Context, c Caller, id run.ID) (Overview, error) {
	if err := c.RequireHarness(); err != nil {
		return Overview{}, err
	}
	return s.runs.overview(ctx, id)
}

// End cancels or completes a run; its calls in flight are stopped on every replica. Harnesses only.
func (s *Service) End(ctx context.Context, c Caller, id run.ID, to run.State) (Overview, error) {
	if err := c.RequireHarness(); err != nil {
		return Overview{}, err
	}
	return s.runs.end(ctx, id, to)
}

// Invoke executes one tool call and returns its bounded result. Every refusal and failure is a
// Result with a fault that is safe to show; each call is reported exactly once.
//
// ctx is the caller's: when it ends the tool is stopped and the record still settled (S25).
func (s *Service) Invoke(ctx context.Context, c Caller, call Call) Result {
	since := s.clock.Now()
	rc, res := s.inRun(ctx, c, call, func(rc RunContext) Result { return s.boundary.invoke(ctx, rc, call) })
	s.reporter.report(ctx, since, rc, call, res)
	return res
}

// Refuse refuses a call that an inbound adapter could not assemble (a body that is not JSON, an
// unknown member). It is counted and reported like any other refusal of the caller's run; the
// fault to answer with is returned.
func (s *Service) Refuse(ctx context.Context, c Caller, call Call, cause error) error {
	since := s.clock.Now()
	rc, res := s.inRun(ctx, c, call, func(rc RunContext) Result {
		return refusal(call, s.boundary.refuse(ctx, rc, call, cause))
	})
	s.reporter.report(ctx, since, rc, call, res)
	return res.Fault
}

// inRun resolves the caller's run context and calls do with it: an agent's is its token's, a
// harness's is that of the named run.
//
// A harness's run context is cached and may belong to an earlier run of the same id. The store
// then answers RUN_NOT_FOUND and changes nothing, and do is called once more with a fresh one.
func (s *Service) inRun(ctx context.Context, c Caller, call Call, do func(RunContext) Result) (RunContext, Result) {
	if c.Agent != nil {
		return *c.Agent, do(*c.Agent)
	}
	unknown := RunContext{RunID: call.RunID}
	rc, cached, err := s.runs.context(ctx, call.RunID)
	if err != nil {
		return unknown, refusal(call, err)
	}
	res := do(rc)
	if !cached || res.Recorded || fault.CodeOf(res.err()) != fault.RunNotFound {
		return rc, res
	}
	s.runs.forget(call.RunID)
	if rc, _, err = s.runs.context(ctx, call.RunID); err != nil {
		return unknown, refusal(call, err)
	}
	return rc, do(rc)
}

// Result returns an earlier call's bounded result to a harness or to the run's own agent,
// without a second execution; INVOCATION_NOT_FOUND when there is no record, RATE_LIMITED when
// too many are read at once. A PROJECTING result has neither answer nor fault.
//
// Reading has slots apart from those of calls: it costs the run nothing and must not cost
// others theirs, and a full service still tells of the calls that it executes.
func (s *Service) Result(ctx context.Context, c Caller, id run.ID, toolCallID string) (Result, error) {
	if !s.reads.TryAcquire(1) {
		return Result{}, fault.New(fault.RateLimited)
	}
	defer s.reads.Release(1)
	if c.Agent != nil && c.Agent.RunID != id {
		return Result{}, s.Refuse(ctx, c, Call{RunID: id, ToolCallID: toolCallID}, fault.New(fault.RunMismatch))
	}
	if err := s.runs.known(ctx, c, id); err != nil {
		return Result{}, err
	}
	return s.results.result(ctx, id, toolCallID)
}

// Record returns the whole canonical record. Harnesses only.
func (s *Service) Record(ctx context.Context, c Caller, id run.ID, toolCallID string) (invocation.Record, error) {
	if err := c.RequireHarness(); err != nil {
		return invocation.Record{}, err
	}
	return s.results.record(ctx, id, ports.Whole, toolCallID)
}

// References says of each reference whether it is evidence: found, nothing found, or not
// evidence with the reason (S17). The verdicts are in the references' order. Harnesses only.
func (s *Service) References(ctx context.Context, c Caller, id run.ID, refs []Reference) ([]evidence.Judgement, error) {
	if err := c.RequireHarness(); err != nil {
		return nil, err
	}
	if err := checkReferences(refs); err != nil {
		return nil, err
	}
	if _, err := s.runs.find(ctx, id); err != nil {
		return nil, err
	}
	return s.results.judge(ctx, id, refs)
}

// Tools returns the descriptions of the tools that the caller may use, sorted by name, each with
// the data sources that it may use: an agent's are those of its run, a harness's are all.
func (s *Service) Tools(c Caller) []tool.Description {
	if c.Agent != nil {
		return s.catalogue.Granted(c.Agent.Grants)
	}
	return s.catalogue.Granted(s.catalogue.All())
}

// InFlight returns how many tool calls this process executes now.
func (s *Service) InFlight() int { return s.boundary.calls.len() }

// Watch stops the calls in flight of runs that ended, wherever they were ended, until ctx is done.
func (s *Service) Watch(ctx context.Context) { s.watcher.watch(ctx) }

// Stopping reports whether Stop was called: new calls are refused.
func (s *Service) Stopping() bool { return s.boundary.calls.stops() }

// Stop refuses new calls, waits for those in flight until ctx is done, then cancels them and
// waits for them to settle: at most twice StoreTimeout. It returns the number of runs whose
// calls were cancelled.
func (s *Service) Stop(ctx context.Context) int { return s.watcher.stop(ctx) }

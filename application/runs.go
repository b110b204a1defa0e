package application

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
)

// Ceilings are the defaults of a run and the most that one may ask for. What passes them is
// refused, never clamped.
type Ceilings struct {
	// MaxTTL is the longest time from Open to the deadline, and the default.
	MaxTTL time.Duration
	// RecordTTL is how long records live.
	RecordTTL time.Duration
	// Budget holds default and ceiling of each budget.
	Budget run.Budget
}

// OpenRequest asks for a run. Nil members take the default.
type OpenRequest struct {
	RunID           run.ID
	TTL             *time.Duration
	Grants          run.Grants
	MaxCalls        *int64
	MaxBytes        *int64
	MaxRefusals     *int64
	MaxCallsPerTool map[string]int64
}

// runs are the harness's use cases on runs.
type runs struct {
	catalogue *Catalogue
	store     ports.Store
	tokens    Tokens
	ceilings  Ceilings

	mu       sync.Mutex
	contexts map[run.ID]RunContext // a cache: grants never change within an incarnation
}

// maxContexts bounds the cache of run contexts.
const maxContexts = 4096

func newRuns(catalogue *Catalogue, store ports.Store, tokens Tokens, ceilings Ceilings) *runs {
	return &runs{
		catalogue: catalogue, store: store, tokens: tokens, ceilings: ceilings, contexts: map[run.ID]RunContext{},
	}
}

// open is Service.Open.
func (s *runs) open(ctx context.Context, req OpenRequest) (run.Run, string, error) {
	r, err := s.plan(req)
	if err != nil {
		return run.Run{}, "", err
	}
	if err := s.fitsToken(r); err != nil {
		return run.Run{}, "", err
	}
	opened, err := s.store.Open(ctx, r)
	if err != nil {
		return run.Run{}, "", storeFault(err)
	}
	s.remember(opened)
	token, err := s.tokens.Issue(opened)
	if err != nil {
		return run.Run{}, "", fault.Wrap(fault.Internal, err)
	}
	return opened, token, nil
}

// fitsToken returns REQUEST_INVALID when the grants make the agent token too long. It signs a
// token on trial before the run is opened: a run without a token could never be used. The store
// has not set the deadline yet; this one takes more digits in the token than any real deadline.
func (s *runs) fitsToken(r run.Run) error {
	r.Deadline = time.Unix(1<<33, 0)
	if _, err := s.tokens.Issue(r); err != nil {
		return fault.Because(fault.RequestInvalid, "GRANTS",
			"the grants do not fit an agent token: name fewer tools and data sources").WithCause(err)
	}
	return nil
}

// plan checks a request against the ceilings.
func (s *runs) plan(req OpenRequest) (run.Run, error) {
	if err := req.RunID.Check(); err != nil {
		return run.Run{}, err
	}
	if err := s.catalogue.Check(req.Grants); err != nil {
		return run.Run{}, err
	}
	ttl := s.ceilings.MaxTTL
	if req.TTL != nil {
		ttl = *req.TTL
	}
	if ttl < time.Millisecond || ttl > s.ceilings.MaxTTL {
		return run.Run{}, overCeiling("ttl_seconds",
			fmt.Sprintf("above 0 and at most %d", int64(s.ceilings.MaxTTL.Seconds())))
	}
	budget, err := s.budget(req)
	if err != nil {
		return run.Run{}, err
	}
	return run.Run{
		ID: req.RunID, Incarnation: NewToken(), State: run.Active, TTL: ttl, RecordTTL: s.ceilings.RecordTTL,
		Grants: run.Grants{Tools: sortedSet(req.Grants.Tools), DataSources: sortedSet(req.Grants.DataSources)},
		Budget: budget,
	}, nil
}

// budget returns what the run may spend: what was asked for, else the ceiling.
func (s *runs) budget(req OpenRequest) (run.Budget, error) {
	top := s.ceilings.Budget
	b := run.Budget{}
	for _, part := range []struct {
		name    string
		ask     *int64
		ceiling int64
		into    *int64
	}{
		{"budget.max_calls", req.MaxCalls, top.MaxCalls, &b.MaxCalls},
		{"budget.max_bytes", req.MaxBytes, top.MaxBytes, &b.MaxBytes},
		{"budget.max_refusals", req.MaxRefusals, top.MaxRefusals, &b.MaxRefusals},
	} {
		*part.into = part.ceiling
		if part.ask != nil {
			*part.into = *part.ask
		}
		if *part.into < 0 || *part.into > part.ceiling {
			return run.Budget{}, overCeiling(part.name, fmt.Sprintf("from 0 to %d", part.ceiling))
		}
	}
	var err error
	b.MaxCallsPerTool, err = s.perTool(req, top.MaxCallsPerTool)
	return b, err
}

func (s *runs) perTool(req OpenRequest, top map[string]int64) (map[string]int64, error) {
	perTool := map[string]int64{}
	for _, name := range req.Grants.Tools {
		if most, bounded := top[name]; bounded {
			perTool[name] = most
		}
	}
	for name, ask := range req.MaxCallsPerTool {
		if !slices.Contains(req.Grants.Tools, name) {
			return nil, fault.Because(fault.RequestInvalid, "BUDGET",
				fmt.Sprintf("budget.max_calls_per_tool names %.80q, which tools does not", name))
		}
		most, bounded := top[name]
		if ask < 0 || bounded && ask > most {
			return nil, overCeiling("budget.max_calls_per_tool."+name, "not negative and within its ceiling")
		}
		perTool[name] = ask
	}
	return perTool, nil
}

func overCeiling(member, bound string) error {
	return fault.Because(fault.RequestInvalid, "CEILING", member+" must be "+bound)
}

func sortedSet(list []string) []string {
	set := slices.Clone(list)
	slices.Sort(set)
	set = slices.Compact(set)
	if set == nil {
		set = []string{}
	}
	return set
}

// token is Service.Token.
func (s *runs) token(ctx context.Context, id run.ID) (run.Run, string, error) {
	r, err := s.find(ctx, id)
	if err != nil {
		return run.Run{}, "", err
	}
	if r.State != run.Active {
		return run.Run{}, "", fault.New(fault.RunInactive)
	}
	token, err := s.tokens.Issue(r)
	if err != nil {
		return run.Run{}, "", fault.Wrap(fault.Internal, err)
	}
	return r, token, nil
}

// Overview is a run with what is known of each of its calls.
type Overview struct {
	Run run.Run
	// Invocations are the records without bodies, in the order in which they began; those that
	// expired are left out.
	Invocations []invocation.Record
}

// overview is Service.Find.
func (s *runs) overview(ctx context.Context, id run.ID) (Overview, error) {
	r, err := s.find(ctx, id)
	if err != nil {
		return Overview{}, err
	}
	found, err := s.store.Load(ctx, id, ports.Head, r.ToolCallIDs...)
	if err != nil {
		return Overview{}, storeFault(err)
	}
	o := Overview{Run: r}
	for _, callID := range r.ToolCallIDs {
		f, ok := found[callID]
		switch {
		case !ok: // it expired
		case f.Fault != nil:
			o.Invocations = append(o.Invocations, invocation.Record{
				RunID: id, ToolCallID: callID, Status: invocation.Error, EvidenceStatus: evidence.Error,
				ErrorCode: f.Fault.Code,
			})
		default:
			o.Invocations = append(o.Invocations, f.Record)
		}
	}
	return o, nil
}

// end is Service.End.
func (s *runs) end(ctx context.Context, id run.ID, to run.State) (Overview, error) {
	if err := id.Check(); err != nil {
		return Overview{}, err
	}
	if _, err := s.store.End(ctx, id, to); err != nil {
		return Overview{}, storeFault(err)
	}
	return s.overview(ctx, id)
}

// find returns the run, or RUN_NOT_FOUND.
func (s *runs) find(ctx context.Context, id run.ID) (run.Run, error) {
	if err := id.Check(); err != nil {
		return run.Run{}, err
	}
	r, err := s.store.Find(ctx, id)
	if err != nil {
		return run.Run{}, storeFault(err)
	}
	return r, nil
}

// context returns the run context that a harness acts with, and whether it comes from the cache.
// It is cached per incarnation: grants never change, and the store judges the rest in Begin.
func (s *runs) context(ctx context.Context, id run.ID) (rc RunContext, cached bool, err error) {
	s.mu.Lock()
	rc, cached = s.contexts[id]
	s.mu.Unlock()
	if cached {
		return rc, true, nil
	}
	r, err := s.find(ctx, id)
	if err != nil {
		return RunContext{}, false, err
	}
	return s.remember(r), false, nil
}

func (s *runs) remember(r run.Run) RunContext {
	rc := ContextOf(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.contexts) >= maxContexts {
		clear(s.contexts)
	}
	s.contexts[r.ID] = rc
	return rc
}

// forget drops the cached context of a run that the store does not know in that incarnation.
func (s *runs) forget(id run.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.contexts, id)
}

// known returns RUN_NOT_FOUND unless the store knows the run: for an agent in the incarnation of
// its token, so that a token of an earlier run of the same id reads nothing of this one.
func (s *runs) known(ctx context.Context, c Caller, id run.ID) error {
	if c.Agent == nil {
		_, _, err := s.context(ctx, id)
		return err
	}
	r, err := s.find(ctx, id)
	if err == nil && r.Incarnation != c.Agent.Incarnation {
		err = fault.New(fault.RunNotFound)
	}
	return err
}

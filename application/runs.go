package application

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

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

// TokenIssuer signs agent tokens.
type TokenIssuer interface {
	// Issue returns the token of the run: bound to its id, incarnation and grants, and valid
	// for a while past the deadline, which the store judges.
	Issue(r run.Run) (string, error)
}

// Runs are the harness's use cases on runs.
type Runs struct {
	catalogue   *Catalogue
	runs        ports.Runs
	invocations ports.Invocations
	tokens      TokenIssuer
	ceilings    Ceilings

	mu    sync.Mutex
	known map[run.ID]RunContext // grants never change within an incarnation
}

// maxKnown bounds the cache of run contexts.
const maxKnown = 4096

// NewRuns returns the use cases over the store.
func NewRuns(catalogue *Catalogue, runs ports.Runs, invocations ports.Invocations, tokens TokenIssuer, ceilings Ceilings) *Runs {
	return &Runs{catalogue: catalogue, runs: runs, invocations: invocations, tokens: tokens, ceilings: ceilings, known: map[run.ID]RunContext{}}
}

// Open opens a run and returns it with its agent token; RUN_EXISTS when the id is taken.
func (s *Runs) Open(ctx context.Context, req OpenRequest) (run.Run, string, error) {
	r, err := s.plan(req)
	if err != nil {
		return run.Run{}, "", err
	}
	trial := r
	trial.Deadline = time.Unix(1<<33, 0)
	if _, err := s.tokens.Issue(trial); err != nil {
		return run.Run{}, "", fault.Because(fault.RequestInvalid, "GRANTS", "the grants do not fit an agent token: name fewer tools and data sources").WithCause(err)
	}
	opened, err := s.runs.Open(ctx, r)
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

// plan checks a request against the ceilings.
func (s *Runs) plan(req OpenRequest) (run.Run, error) {
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
		return run.Run{}, overCeiling("ttl_seconds", fmt.Sprintf("above 0 and at most %d", int64(s.ceilings.MaxTTL.Seconds())))
	}
	top := s.ceilings.Budget
	budget := run.Budget{}
	for _, b := range []struct {
		name string
		ask  *int64
		most int64
		into *int64
	}{
		{"budget.max_calls", req.MaxCalls, top.MaxCalls, &budget.MaxCalls},
		{"budget.max_bytes", req.MaxBytes, top.MaxBytes, &budget.MaxBytes},
		{"budget.max_refusals", req.MaxRefusals, top.MaxRefusals, &budget.MaxRefusals},
	} {
		*b.into = b.most
		if b.ask != nil {
			*b.into = *b.ask
		}
		if *b.into < 0 || *b.into > b.most {
			return run.Run{}, overCeiling(b.name, fmt.Sprintf("from 0 to %d", b.most))
		}
	}
	perTool, err := s.perTool(req, top.MaxCallsPerTool)
	budget.MaxCallsPerTool = perTool
	return run.Run{
		ID: req.RunID, Incarnation: NewToken(), State: run.Active, TTL: ttl, RecordTTL: s.ceilings.RecordTTL,
		Grants: run.Grants{Tools: sortedSet(req.Grants.Tools), DataSources: sortedSet(req.Grants.DataSources)}, Budget: budget,
	}, err
}

func (s *Runs) perTool(req OpenRequest, top map[string]int64) (map[string]int64, error) {
	perTool := map[string]int64{}
	for _, name := range req.Grants.Tools {
		if most, bounded := top[name]; bounded {
			perTool[name] = most
		}
	}
	for name, ask := range req.MaxCallsPerTool {
		if !slices.Contains(req.Grants.Tools, name) {
			return nil, fault.Because(fault.RequestInvalid, "BUDGET", fmt.Sprintf("budget.max_calls_per_tool names %.80q, which tools does not", name))
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

// Token returns a fresh agent token of a run that is still active.
func (s *Runs) Token(ctx context.Context, id run.ID) (run.Run, string, error) {
	r, err := s.load(ctx, id)
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

// Overview returns the run, or RUN_NOT_FOUND.
func (s *Runs) Overview(ctx context.Context, id run.ID) (Overview, error) {
	r, err := s.load(ctx, id)
	if err != nil {
		return Overview{}, err
	}
	o := Overview{Run: r}
	found, err := s.invocations.Load(ctx, id, ports.Head, r.ToolCallIDs...)
	if err != nil {
		return Overview{}, storeFault(err)
	}
	for _, callID := range r.ToolCallIDs {
		switch f, ok := found[callID]; {
		case !ok:
		case f.Fault != nil:
			o.Invocations = append(o.Invocations, invocation.Record{RunID: id, ToolCallID: callID, Status: invocation.Error, EvidenceStatus: "ERROR", ErrorCode: f.Fault.Code})
		default:
			o.Invocations = append(o.Invocations, f.Record)
		}
	}
	return o, nil
}

// End cancels or completes a run; its calls in flight are stopped on every replica.
func (s *Runs) End(ctx context.Context, id run.ID, to run.State) (Overview, error) {
	if err := id.Check(); err != nil {
		return Overview{}, err
	}
	if _, err := s.runs.End(ctx, id, to); err != nil {
		return Overview{}, storeFault(err)
	}
	return s.Overview(ctx, id)
}

func (s *Runs) load(ctx context.Context, id run.ID) (run.Run, error) {
	if err := id.Check(); err != nil {
		return run.Run{}, err
	}
	r, err := s.runs.Find(ctx, id)
	if err != nil {
		return run.Run{}, storeFault(err)
	}
	return r, nil
}

// Context returns the run context that a harness acts with. It is cached per incarnation:
// grants never change, and everything that does is judged by the store in Begin.
func (s *Runs) Context(ctx context.Context, id run.ID) (RunContext, error) {
	s.mu.Lock()
	rc, ok := s.known[id]
	s.mu.Unlock()
	if ok {
		return rc, nil
	}
	r, err := s.load(ctx, id)
	if err != nil {
		return RunContext{}, err
	}
	return s.remember(r), nil
}

func (s *Runs) remember(r run.Run) RunContext {
	rc := RunContext{RunID: r.ID, Incarnation: r.Incarnation, Grants: r.Grants}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= maxKnown {
		clear(s.known)
	}
	s.known[r.ID] = rc
	return rc
}

// Current returns RUN_NOT_FOUND unless the store knows the run in the context's incarnation: a
// token of an earlier run of the same id reads nothing of this one.
func (s *Runs) Current(ctx context.Context, rc RunContext) error {
	r, err := s.load(ctx, rc.RunID)
	if err == nil && r.Incarnation != rc.Incarnation {
		err = fault.New(fault.RunNotFound)
	}
	return err
}

// Forget drops the cached context of a run that the store no longer knows, and reports whether
// there was one.
func (s *Runs) Forget(id run.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, cached := s.known[id]
	delete(s.known, id)
	return cached
}

// Package memory is a store in this process: the domain's rules applied under one mutex.
//
// It keeps every promise that ports asks of a store, for one process and as long as that lives; nothing
// survives a restart. Records are kept in their stored form (ports/record), so what is read back went
// through the same bytes as in any other store. What has expired is never seen. Its memory is released
// by later Opens and Begins, a few items each, without a goroutine.
package memory

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
)

// Store keeps runs, records and refusals and tells watchers of ended runs. Make one with New; it is safe
// for concurrent use.
type Store struct {
	clock ports.Clock

	mu       sync.Mutex
	runs     map[run.ID]*ledger
	expiries expiries
	watchers map[*watcher]struct{}
}

var (
	_ ports.Runs          = (*Store)(nil)
	_ ports.Invocations   = (*Store)(nil)
	_ ports.Refusals      = (*Store)(nil)
	_ ports.Cancellations = (*Store)(nil)
)

// ledger is what the store knows of one run.
type ledger struct {
	run     run.Run
	expires time.Time
	calls   map[string]*call
}

// call is what the store knows of one tool call. It outlives the record, so that a duplicate stays one.
type call struct {
	// status and owner repeat those of the record: for the time after it, and to tell the record from a
	// value that was put in its place.
	status invocation.Status
	owner  string
	// settled is the digest of the settlement that was asked for, which differs from the
	// record's when the run's end or its budget changed it.
	settled string
	value   []byte
	expires time.Time
}

// New returns an empty store whose clock is this one.
func New(clock ports.Clock) *Store {
	return &Store{clock: clock, runs: map[run.ID]*ledger{}, watchers: map[*watcher]struct{}{}}
}

// now is the store's time in whole milliseconds.
func (s *Store) now() time.Time { return s.clock.Now().UTC().Truncate(time.Millisecond) }

// ledger returns the run that is known at now.
func (s *Store) ledger(id run.ID, now time.Time) (*ledger, error) {
	l := s.runs[id]
	if l == nil || !now.Before(l.expires) {
		return nil, fault.New(fault.RunNotFound)
	}
	return l, nil
}

// incarnation returns the run that is known at now, if it is this incarnation of it.
func (s *Store) incarnation(id run.ID, want string, now time.Time) (*ledger, error) {
	l, err := s.ledger(id, now)
	if err != nil {
		return nil, err
	}
	if l.run.Incarnation != want {
		return nil, fault.New(fault.RunNotFound)
	}
	return l, nil
}

// Open implements ports.Runs.
func (s *Store) Open(_ context.Context, r run.Run) (run.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.release(now)
	if l, err := s.ledger(r.ID, now); err == nil {
		if l.run.Incarnation != r.Incarnation {
			return run.Run{}, fault.New(fault.RunExists)
		}
		return clone(l.run), nil
	}
	r = clone(r)
	r.TTL, r.RecordTTL = r.TTL.Truncate(time.Millisecond), r.RecordTTL.Truncate(time.Millisecond)
	r.State, r.CreatedAt, r.Deadline = run.Active, now, now.Add(r.TTL)
	r.Usage, r.ToolCallIDs, r.Refusals = run.Usage{}, nil, nil
	l := &ledger{run: r, expires: r.Forgotten(), calls: map[string]*call{}}
	s.runs[r.ID] = l
	s.expiries.add(l.expires, func() {
		if s.runs[r.ID] == l {
			delete(s.runs, r.ID)
		}
	})
	return clone(r), nil
}

// Find implements ports.Runs.
func (s *Store) Find(_ context.Context, id run.ID) (run.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.ledger(id, s.now())
	if err != nil {
		return run.Run{}, err
	}
	return clone(l.run), nil
}

// End implements ports.Runs.
func (s *Store) End(_ context.Context, id run.ID, to run.State) (run.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.ledger(id, s.now())
	if err != nil {
		return run.Run{}, err
	}
	ended, err := l.run.End(to)
	if err != nil {
		return run.Run{}, err
	}
	l.run = ended
	for w := range s.watchers {
		w.tell(id)
	}
	return clone(ended), nil
}

// Refuse implements ports.Refusals.
func (s *Store) Refuse(_ context.Context, id run.ID, incarnation string, entry run.Refusal, counts bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	l, err := s.incarnation(id, incarnation, now)
	if err != nil {
		return err
	}
	l.run, err = l.run.Refuse(entry, counts, now)
	return err
}

// clone copies everything that a caller could change.
func clone(r run.Run) run.Run {
	r.Grants.Tools, r.Grants.DataSources = slices.Clone(r.Grants.Tools), slices.Clone(r.Grants.DataSources)
	r.Budget.MaxCallsPerTool, r.Usage.CallsPerTool = maps.Clone(r.Budget.MaxCallsPerTool),
		maps.Clone(r.Usage.CallsPerTool)
	r.ToolCallIDs, r.Refusals = slices.Clone(r.ToolCallIDs), slices.Clone(r.Refusals)
	return r
}

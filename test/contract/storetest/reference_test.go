package storetest

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/record"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// reference is the model as a store: right, and easy to break. Its methods in lower case are for
// stores that break a promise under the same lock.
type reference struct {
	mu      sync.Mutex
	at      time.Time
	model   *model
	planted map[invocation.Key][]byte
	later   map[invocation.Key][]byte // planted as well, but records: of a later version
	watches map[*refWatcher]struct{}
	crowd   *crowd
	line    *line
}

func newReference() *reference {
	r := &reference{
		at: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), model: newModel(),
		planted: map[invocation.Key][]byte{}, later: map[invocation.Key][]byte{}, watches: map[*refWatcher]struct{}{},
	}
	r.crowd, r.line = &crowd{r: r}, &line{r: r}
	return r
}

func (r *reference) Open(_ context.Context, given run.Run) (run.Run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	opened, err := r.model.open(r.at, copied(given))
	return copied(opened), err
}

func (r *reference) Find(_ context.Context, id run.ID) (run.Run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, err := r.model.find(id)
	return copied(found), err
}

func (r *reference) End(_ context.Context, id run.ID, to run.State) (run.Run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.end(id, to)
}

func (r *reference) end(id run.ID, to run.State) (run.Run, error) {
	ended, err := r.model.end(id, to)
	if err == nil {
		for w := range r.watches {
			if !w.farEnd || r.line.lost(id) == nil {
				w.tell(id)
			}
		}
	}
	return copied(ended), err
}

func (r *reference) Begin(
	_ context.Context, rec invocation.Record, incarnation string, lease time.Duration,
) (ports.Begun, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.begin(rec, incarnation, lease)
}

func (r *reference) begin(rec invocation.Record, incarnation string, lease time.Duration) (ports.Begun, error) {
	if r.planted[rec.Key()] != nil {
		rec.Owner = "nobody's"
	}
	begun, err := r.model.begin(r.at, copiedRecord(rec), incarnation, lease)
	begun.Record = copiedRecord(begun.Record)
	return begun, err
}

func (r *reference) Settle(_ context.Context, next invocation.Record) (invocation.Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.settle(next)
}

func (r *reference) settle(next invocation.Record) (invocation.Record, error) {
	if r.planted[next.Key()] != nil {
		return invocation.Record{}, fault.New(fault.Internal)
	}
	stored, err := r.model.settle(r.at, copiedRecord(next))
	return copiedRecord(stored), err
}

func (r *reference) Load(
	_ context.Context, id run.ID, view ports.View, toolCallIDs ...string,
) (map[string]ports.Found, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.load(id, view, toolCallIDs...), nil
}

func (r *reference) load(id run.ID, view ports.View, toolCallIDs ...string) map[string]ports.Found {
	found := r.model.load(r.at, id, view, toolCallIDs...)
	for toolCallID, f := range found {
		f.Record = copiedRecord(f.Record)
		if r.planted[invocation.Key{RunID: id, ToolCallID: toolCallID}] != nil {
			f = ports.Found{Fault: fault.New(fault.Internal)}
		}
		found[toolCallID] = f
	}
	return found
}

func (r *reference) Refuse(_ context.Context, id run.ID, incarnation string, entry run.Refusal, counts bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refuse(id, incarnation, entry, counts)
}

func (r *reference) refuse(id run.ID, incarnation string, entry run.Refusal, counts bool) error {
	return r.model.refuse(r.at, id, incarnation, entry, counts)
}

func (r *reference) Ended(_ context.Context, ids ...run.ID) (map[run.ID]fault.Code, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.model.ended(r.at, ids...), nil
}

// refWatcher is one call of Watch; the reference's mutex guards it.
type refWatcher struct {
	ended       []run.ID
	interrupted bool
	farEnd      bool // it misses what happens while the line is cut
	wake        chan struct{}
}

// refBacklog is how many ends a watcher may be behind before its watch is interrupted.
const refBacklog = 100

func (w *refWatcher) tell(id run.ID) {
	if len(w.ended) < refBacklog {
		w.ended = append(w.ended, id)
	} else {
		w.interrupted = true
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (r *reference) Watch(ctx context.Context, ended func(run.ID), subscribed func()) error {
	w := &refWatcher{farEnd: ctx.Value(farEnd{}) != nil, wake: make(chan struct{}, 1)}
	r.mu.Lock()
	r.watches[w] = struct{}{}
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.watches, w)
	}()
	subscribed()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.wake:
		}
		r.mu.Lock()
		ids, interrupted := w.ended, w.interrupted
		w.ended, w.interrupted = nil, false
		r.mu.Unlock()
		for _, id := range ids {
			ended(id)
		}
		if interrupted {
			subscribed()
		}
	}
}

// instance shows the store to the suite, which reaches it through store.
func (r *reference) instance(store ports.Store) Instance {
	return Instance{
		Store: cutStore{store, r.line}, Other: store, Unit: time.Minute, crowd: r.crowd,
		Break:    func(kit.T) func() { return r.line.cut("") },
		BreakRun: func(_ kit.T, id run.ID) func() { return r.line.cut(id) },
		Advance: func(_ kit.T, d time.Duration) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.at = r.at.Add(d.Truncate(time.Millisecond))
		},
		Now: func(kit.T) time.Time { return r.now() },
		Plant: func(_ kit.T, key invocation.Key, value []byte) {
			r.mu.Lock()
			defer r.mu.Unlock()
			rec, err := record.Decode(value)
			if own := r.model.calls[key].record; err == nil && encoded(own) == encoded(rec) {
				r.later[key] = value
			} else {
				r.planted[key] = value
			}
		},
		Stored: func(_ kit.T, key invocation.Key) ([]byte, time.Time) {
			r.mu.Lock()
			defer r.mu.Unlock()
			c, ok := r.model.calls[key]
			switch {
			case !ok || !r.at.Before(c.expires):
				return nil, time.Time{}
			case r.planted[key] != nil:
				return r.planted[key], c.expires
			default:
				if value, ok := r.laterValue(key); ok {
					return value, c.expires
				}
				return []byte(encoded(c.record)), c.expires
			}
		},
		RunExpires: func(_ kit.T, id run.ID) time.Time {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.model.runs[id].Forgotten()
		},
	}
}

// laterValue returns what a later version stored, until it was replaced.
func (r *reference) laterValue(key invocation.Key) ([]byte, bool) {
	value, ok := r.later[key]
	rec, err := record.Decode(value)
	return value, ok && err == nil && rec.Status == r.model.calls[key].record.Status
}

func (r *reference) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

func copied(r run.Run) run.Run {
	r.Grants = run.Grants{Tools: slices.Clone(r.Grants.Tools), DataSources: slices.Clone(r.Grants.DataSources)}
	r.Budget.MaxCallsPerTool = copiedCounts(r.Budget.MaxCallsPerTool)
	r.Usage.CallsPerTool = copiedCounts(r.Usage.CallsPerTool)
	r.ToolCallIDs, r.Refusals = slices.Clone(r.ToolCallIDs), slices.Clone(r.Refusals)
	return r
}

func copiedCounts(m map[string]int64) map[string]int64 {
	c := map[string]int64{}
	for k, v := range m {
		c[k] = v
	}
	return c
}

func copiedRecord(r invocation.Record) invocation.Record {
	r.Request, r.RawResponse = bytes.Clone(r.Request), bytes.Clone(r.RawResponse)
	r.AgentResult = bytes.Clone(r.AgentResult)
	return r
}

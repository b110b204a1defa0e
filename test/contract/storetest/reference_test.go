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
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// reference is the model as a store: right, and easy to break.
type reference struct {
	mu      sync.Mutex
	at      time.Time
	model   *model
	planted map[invocation.Key][]byte
	watches map[chan run.ID]struct{}
}

func newReference() *reference {
	return &reference{
		at: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), model: newModel(),
		planted: map[invocation.Key][]byte{}, watches: map[chan run.ID]struct{}{},
	}
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
	ended, err := r.model.end(id, to)
	if err == nil {
		for c := range r.watches {
			c <- id
		}
	}
	return copied(ended), err
}

func (r *reference) Begin(_ context.Context, rec invocation.Record, incarnation string, lease time.Duration) (ports.Begun, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
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
	if r.planted[next.Key()] != nil {
		return invocation.Record{}, fault.New(fault.Internal)
	}
	stored, err := r.model.settle(r.at, copiedRecord(next))
	return copiedRecord(stored), err
}

func (r *reference) Load(_ context.Context, id run.ID, view ports.View, toolCallIDs ...string) (map[string]ports.Found, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := r.model.load(r.at, id, view, toolCallIDs...)
	for toolCallID, f := range found {
		f.Record = copiedRecord(f.Record)
		if r.planted[invocation.Key{RunID: id, ToolCallID: toolCallID}] != nil {
			f = ports.Found{Fault: fault.New(fault.Internal)}
		}
		found[toolCallID] = f
	}
	return found, nil
}

func (r *reference) Refuse(_ context.Context, id run.ID, incarnation string, entry run.Refusal, counts bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.model.refuse(r.at, id, incarnation, entry, counts)
}

func (r *reference) Watch(ctx context.Context, ended func(run.ID), subscribed func()) error {
	c := make(chan run.ID, 1000)
	r.mu.Lock()
	r.watches[c] = struct{}{}
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.watches, c)
	}()
	subscribed()
	for {
		select {
		case id := <-c:
			ended(id)
		case <-ctx.Done():
			return nil
		}
	}
}

func (r *reference) Ended(_ context.Context, ids ...run.ID) (map[run.ID]fault.Code, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.model.ended(r.at, ids...), nil
}

// instance shows the store to the suite, which reaches it through store.
func (r *reference) instance(store ports.Store) Instance {
	return Instance{
		Store: store, Other: store, Unit: time.Minute,
		Advance: func(_ kit.T, d time.Duration) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.at = r.at.Add(d.Truncate(time.Millisecond))
		},
		Now: func(kit.T) time.Time { return r.now() },
		Plant: func(_ kit.T, key invocation.Key, value []byte) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.planted[key] = value
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
				return c.record.Encode(), c.expires
			}
		},
		RunExpires: func(_ kit.T, id run.ID) time.Time {
			r.mu.Lock()
			defer r.mu.Unlock()
			known := r.model.runs[id]
			return known.Deadline.Add(known.RecordTTL + 15*time.Minute)
		},
	}
}

func (r *reference) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

func copied(r run.Run) run.Run {
	r.Grants = run.Grants{Tools: slices.Clone(r.Grants.Tools), DataSources: slices.Clone(r.Grants.DataSources)}
	r.Budget.MaxCallsPerTool, r.Usage.CallsPerTool = copiedCounts(r.Budget.MaxCallsPerTool), copiedCounts(r.Usage.CallsPerTool)
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
	r.Request, r.RawResponse, r.AgentResult = bytes.Clone(r.Request), bytes.Clone(r.RawResponse), bytes.Clone(r.AgentResult)
	return r
}

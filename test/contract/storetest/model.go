package storetest

import (
	"maps"
	"slices"
	"time"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
)

// model is the contract as a program: what a store answers at the time now. It is
// as plain as can be, for one caller at a time, and forgets nothing.
type model struct {
	runs  map[run.ID]run.Run
	calls map[invocation.Key]modelCall
	// lag is how long after its expiry a record is still seen: the millisecond in which it
	// comes belongs to either side.
	lag time.Duration
}

type modelCall struct {
	record  invocation.Record
	settled string // the digest of the settlement that was asked for
	expires time.Time
}

func newModel() *model {
	return &model{runs: map[run.ID]run.Run{}, calls: map[invocation.Key]modelCall{}}
}

// clone returns a model that can go its own way; runs and records in it are replaced, never
// changed.
func (m *model) clone() *model { return &model{runs: maps.Clone(m.runs), calls: maps.Clone(m.calls)} }

func (m *model) alive(c modelCall, now time.Time) bool { return now.Add(-m.lag).Before(c.expires) }

func (m *model) open(now time.Time, r run.Run) (run.Run, error) {
	if known, ok := m.runs[r.ID]; ok {
		if known.Incarnation != r.Incarnation {
			return run.Run{}, fault.New(fault.RunExists)
		}
		return known, nil
	}
	r.State, r.CreatedAt, r.Deadline = run.Active, now, now.Add(r.TTL)
	r.Usage, r.ToolCallIDs, r.Refusals = run.Usage{}, nil, nil
	m.runs[r.ID] = r
	return r, nil
}

func (m *model) find(id run.ID) (run.Run, error) {
	r, ok := m.runs[id]
	if !ok {
		return run.Run{}, fault.New(fault.RunNotFound)
	}
	return r, nil
}

func (m *model) incarnate(id run.ID, incarnation string) (run.Run, error) {
	r, err := m.find(id)
	if err == nil && r.Incarnation != incarnation {
		err = fault.New(fault.RunNotFound)
	}
	return r, err
}

func (m *model) end(id run.ID, to run.State) (run.Run, error) {
	r, err := m.find(id)
	if err != nil {
		return run.Run{}, err
	}
	if r, err = r.End(to); err != nil {
		return run.Run{}, err
	}
	m.runs[id] = r
	return r, nil
}

func (m *model) begin(
	now time.Time, rec invocation.Record, incarnation string, lease time.Duration,
) (ports.Begun, error) {
	r, err := m.incarnate(rec.RunID, incarnation)
	if err != nil {
		return ports.Begun{}, err
	}
	first, known := m.calls[rec.Key()]
	alive := known && m.alive(first, now)
	if alive && first.record.Owner == rec.Owner && first.record.Status == invocation.Projecting {
		return ports.Begun{Record: first.record, Remaining: max(0, r.Deadline.Sub(now))}, nil
	}
	if err := r.Live(now); err != nil {
		return ports.Begun{}, err
	}
	if known {
		return ports.Begun{}, fault.Because(fault.DuplicateToolCall, string(first.record.Status), "")
	}
	if r, err = r.Spend(rec.ToolName, len(rec.Request)); err != nil {
		return ports.Begun{}, err
	}
	r.ToolCallIDs = append(slices.Clone(r.ToolCallIDs), rec.ToolCallID)
	rec.StartedAt, rec.LeaseUntil = now, now.Add(lease)
	m.runs[r.ID] = r
	m.calls[rec.Key()] = modelCall{record: rec, expires: now.Add(r.RecordTTL)}
	return ports.Begun{Record: rec, Remaining: r.Deadline.Sub(now)}, nil
}

func (m *model) settle(now time.Time, next invocation.Record) (invocation.Record, error) {
	if next.Status == invocation.Projecting {
		return invocation.Record{}, fault.New(fault.Internal)
	}
	c, ok := m.calls[next.Key()]
	if !ok || !m.alive(c, now) {
		return invocation.Record{}, fault.New(fault.InvocationNotFound)
	}
	if c.record.Owner == next.Owner && c.settled == next.Digest {
		return c.record, nil
	}
	if c.record.Owner != next.Owner || c.record.Status != invocation.Projecting {
		return invocation.Record{}, fault.New(fault.ExecutionLost)
	}
	r := m.runs[next.RunID]
	c.settled = next.Digest
	if code := r.Interrupted(now); code != "" && next.Status == invocation.Ready {
		next = next.Interrupted(code)
	}
	r, fits := r.Charge(next.Bytes())
	if !fits {
		next = next.Exhausted()
	}
	m.runs[r.ID] = r
	return m.replace(now, c, next), nil
}

func (m *model) replace(now time.Time, c modelCall, next invocation.Record) invocation.Record {
	next.StartedAt, next.LeaseUntil, next.CompletedAt = c.record.StartedAt, c.record.LeaseUntil, now
	c.record = next
	m.calls[next.Key()] = c
	return next
}

func (m *model) load(now time.Time, id run.ID, view ports.View, toolCallIDs ...string) map[string]ports.Found {
	found := map[string]ports.Found{}
	for _, toolCallID := range toolCallIDs {
		c, ok := m.calls[invocation.Key{RunID: id, ToolCallID: toolCallID}]
		if !ok || !m.alive(c, now) {
			continue
		}
		if c.record.Status == invocation.Projecting && !now.Before(c.record.LeaseUntil) {
			c.settled = c.record.Lost().Digest
			c.record = m.replace(now, c, c.record.Lost())
		}
		if view != ports.Whole {
			c.record.Request, c.record.RawResponse = nil, nil
		}
		if view == ports.Head {
			c.record.AgentResult = nil
		}
		found[toolCallID] = ports.Found{Record: c.record}
	}
	return found
}

func (m *model) refuse(now time.Time, id run.ID, incarnation string, entry run.Refusal, counts bool) error {
	r, err := m.incarnate(id, incarnation)
	if err != nil {
		return err
	}
	if r, err = r.Refuse(entry, counts, now); err != nil {
		return err
	}
	m.runs[id] = r
	return nil
}

func (m *model) ended(now time.Time, ids ...run.ID) map[run.ID]fault.Code {
	over := map[run.ID]fault.Code{}
	for _, id := range ids {
		if r, ok := m.runs[id]; !ok {
			over[id] = fault.ExecutionCancelled
		} else if code := r.Interrupted(now); code != "" {
			over[id] = code
		}
	}
	return over
}

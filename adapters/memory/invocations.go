package memory

import (
	"bytes"
	"context"
	"time"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/record"
)

// Begin implements ports.Invocations.
func (s *Store) Begin(
	_ context.Context, rec invocation.Record, incarnation string, lease time.Duration,
) (ports.Begun, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.release(now)
	l, err := s.incarnation(rec.RunID, incarnation, now)
	if err != nil {
		return ports.Begun{}, err
	}
	first := l.calls[rec.ToolCallID]
	if first != nil && first.owner == rec.Owner && first.status == invocation.Projecting {
		if own, err := first.record(rec.Key(), now); err == nil {
			return ports.Begun{Record: own, Remaining: max(0, l.run.Deadline.Sub(now))}, nil
		}
	}
	if err := l.run.Live(now); err != nil {
		return ports.Begun{}, err
	}
	if first != nil {
		return ports.Begun{}, fault.Because(fault.DuplicateToolCall, string(first.status), "")
	}
	spent, err := l.run.Spend(rec.ToolName, len(rec.Request))
	if err != nil {
		return ports.Begun{}, err
	}
	rec.StartedAt, rec.LeaseUntil, rec.CompletedAt = now, now.Add(lease.Truncate(time.Millisecond)), time.Time{}
	value, err := record.Encode(rec)
	if err != nil {
		return ports.Begun{}, fault.Wrap(fault.Internal, err)
	}
	c := &call{status: rec.Status, owner: rec.Owner, value: value, expires: now.Add(l.run.RecordTTL)}
	stored, err := c.record(rec.Key(), now)
	if err != nil {
		return ports.Begun{}, err
	}
	l.run = spent
	l.run.ToolCallIDs = append(l.run.ToolCallIDs, rec.ToolCallID)
	l.calls[rec.ToolCallID] = c
	s.expiries.add(c.expires, func() { c.value = nil })
	return ports.Begun{Record: stored, Remaining: l.run.Deadline.Sub(now)}, nil
}

// Settle implements ports.Invocations.
func (s *Store) Settle(_ context.Context, next invocation.Record) (invocation.Record, error) {
	if next.Status != invocation.Ready && next.Status != invocation.Error {
		return invocation.Record{}, fault.New(fault.Internal)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	l, err := s.ledger(next.RunID, now)
	if err != nil {
		return invocation.Record{}, fault.New(fault.InvocationNotFound)
	}
	c := l.calls[next.ToolCallID]
	if c == nil {
		return invocation.Record{}, fault.New(fault.InvocationNotFound)
	}
	stored, err := c.record(next.Key(), now)
	switch {
	case err != nil:
		return invocation.Record{}, err
	case c.owner != next.Owner:
		return invocation.Record{}, fault.New(fault.ExecutionLost)
	case c.status != invocation.Projecting && c.settled == next.Digest:
		return stored, nil
	case c.status != invocation.Projecting:
		return invocation.Record{}, fault.New(fault.ExecutionLost)
	}
	asked := next.Digest
	if code := l.run.Interrupted(now); code != "" && next.Status == invocation.Ready {
		next = next.Interrupted(code)
	}
	charged, fits := l.run.Charge(next.Bytes())
	if !fits {
		next = next.Exhausted()
	}
	next, err = c.replace(stored, next, asked, now)
	if err != nil {
		return invocation.Record{}, err
	}
	l.run = charged
	return next, nil
}

// Load implements ports.Invocations.
func (s *Store) Load(
	_ context.Context, id run.ID, view ports.View, toolCallIDs ...string,
) (map[string]ports.Found, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := make(map[string]ports.Found, len(toolCallIDs))
	now := s.now()
	l, err := s.ledger(id, now)
	if err != nil {
		return found, nil
	}
	for _, toolCallID := range toolCallIDs {
		c := l.calls[toolCallID]
		if c == nil {
			continue
		}
		rec, err := c.record(invocation.Key{RunID: id, ToolCallID: toolCallID}, now)
		switch {
		case fault.CodeOf(err) == fault.InvocationNotFound:
			continue
		case err != nil:
			found[toolCallID] = ports.Found{Fault: fault.Of(err)}
			continue
		}
		if rec.Status == invocation.Projecting && !now.Before(rec.LeaseUntil) {
			lost := rec.Lost()
			if rec, err = c.replace(rec, lost, lost.Digest, now); err != nil {
				found[toolCallID] = ports.Found{Fault: fault.Of(err)}
				continue
			}
		}
		if view != ports.Whole {
			rec.Request, rec.RawResponse = nil, nil
		}
		if view == ports.Head {
			rec.AgentResult = nil
		}
		found[toolCallID] = ports.Found{Record: rec}
	}
	return found, nil
}

// record reads the stored record: INVOCATION_NOT_FOUND once it has expired, INTERNAL for a value that
// is not a record of this key with the status and owner that the ledger knows (S23).
func (c *call) record(key invocation.Key, now time.Time) (invocation.Record, error) {
	if c.value == nil || !now.Before(c.expires) {
		return invocation.Record{}, fault.New(fault.InvocationNotFound)
	}
	rec, err := record.Decode(c.value)
	if err == nil && (rec.Key() != key || rec.Status != c.status || rec.Owner != c.owner) {
		err = record.ErrCorrupt
	}
	if err != nil {
		return invocation.Record{}, fault.Wrap(fault.Internal, err)
	}
	return rec, nil
}

// replace stores next in place of a PROJECTING record, with the store's times, notes the digest of
// the settlement that was asked for, and returns a copy of what is stored.
func (c *call) replace(stored, next invocation.Record, asked string, now time.Time) (invocation.Record, error) {
	next.StartedAt, next.LeaseUntil, next.CompletedAt = stored.StartedAt, stored.LeaseUntil, now
	value, err := record.Encode(next)
	if err != nil {
		return invocation.Record{}, fault.Wrap(fault.Internal, err)
	}
	c.status, c.value, c.settled = next.Status, value, asked
	next.Request = bytes.Clone(next.Request)
	next.RawResponse, next.AgentResult = bytes.Clone(next.RawResponse), bytes.Clone(next.AgentResult)
	return next, nil
}

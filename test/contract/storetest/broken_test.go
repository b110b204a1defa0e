package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
)

// Each of these breaks one promise.
type (
	readsRenew      struct{ *reference }
	settleRenews    struct{ *reference }
	settleRevives   struct{ *reference }
	settleRaces     struct{ *reference }
	beginRaces      struct{ *reference }
	duplicatesSpend struct{ *reference }
	ownersDuplicate struct{ *reference }
	cancelIgnored   struct{ *reference }
	anyoneSettles   struct{ *reference }
	sharesBytes     struct{ *reference }
	refusesInHaste  struct{ *reference }
	losesTooSoon    struct{ *reference }
	neverLost       struct{ *reference }
	lostIsShownOnly struct{ *reference }
	corruptIsAbsent struct{ *reference }
	corruptFailsAll struct{ *reference }
	overwritesBad   struct{ *reference }
	leaksItsErrors  struct{ *reference }
	miscountsByOne  struct{ *reference }
	keysMeet        struct{ *reference }
	anyIncarnation  struct{ *reference }
	endsTwice       struct{ *reference }
	clientsTime     struct{ *reference }
	neverTells      struct{ *reference }
	chargesTwice    struct{ *reference }
	keepsTooMuchRaw struct{ *reference }
)

func (b readsRenew) Load(ctx context.Context, id run.ID, view ports.View, ids ...string) (map[string]ports.Found, error) {
	found, err := b.reference.Load(ctx, id, view, ids...)
	b.edit(found, func(c *modelCall) { c.expires = b.at.Add(b.model.runs[id].RecordTTL) })
	return found, err
}

// edit changes the calls that were found.
func (r *reference) edit(found map[string]ports.Found, change func(*modelCall)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range found {
		if c, ok := r.model.calls[f.Record.Key()]; ok {
			change(&c)
			r.model.calls[f.Record.Key()] = c
		}
	}
}

func (b settleRenews) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	rec, err := b.reference.Settle(ctx, next)
	b.edit(map[string]ports.Found{"": {Record: rec}}, func(c *modelCall) { c.expires = b.at.Add(b.model.runs[rec.RunID].RecordTTL) })
	return rec, err
}

func (b settleRevives) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	b.mu.Lock()
	if c, ok := b.model.calls[next.Key()]; ok && !b.at.Before(c.expires) {
		c.expires = b.at.Add(time.Hour)
		b.model.calls[next.Key()] = c
	}
	b.mu.Unlock()
	return b.reference.Settle(ctx, next)
}

func (b settleRaces) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	b.mu.Lock()
	before := b.model.clone()
	now := b.at
	b.mu.Unlock()
	time.Sleep(time.Millisecond) // the two round trips of a check before its write
	if b.planted[next.Key()] != nil {
		return b.reference.Settle(ctx, next)
	}
	rec, err := before.settle(now, copiedRecord(next))
	if err != nil {
		return rec, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.model.calls[next.Key()] = before.calls[next.Key()]
	r := b.model.runs[next.RunID]
	r.Usage.Bytes += before.runs[next.RunID].Usage.Bytes - r.Usage.Bytes
	b.model.runs[next.RunID] = r
	return copiedRecord(rec), nil
}

func (b beginRaces) Begin(ctx context.Context, rec invocation.Record, incarnation string, lease time.Duration) (ports.Begun, error) {
	b.mu.Lock()
	before := b.model.clone()
	now := b.at
	b.mu.Unlock()
	if b.planted[rec.Key()] != nil {
		return b.reference.Begin(ctx, rec, incarnation, lease)
	}
	begun, err := before.begin(now, copiedRecord(rec), incarnation, lease)
	if err != nil {
		return begun, err
	}
	time.Sleep(time.Millisecond)
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.model.calls[rec.Key()]; !known {
		r := b.model.runs[rec.RunID]
		r, _ = r.Spend(rec.ToolName, len(rec.Request))
		r.ToolCallIDs = append(slices.Clone(r.ToolCallIDs), rec.ToolCallID)
		b.model.runs[rec.RunID] = r
		b.model.calls[rec.Key()] = before.calls[rec.Key()]
	}
	begun.Record = copiedRecord(begun.Record)
	return begun, nil
}

func (b duplicatesSpend) Begin(ctx context.Context, rec invocation.Record, incarnation string, lease time.Duration) (ports.Begun, error) {
	begun, err := b.reference.Begin(ctx, rec, incarnation, lease)
	if fault.CodeOf(err) == fault.DuplicateToolCall {
		b.mu.Lock()
		defer b.mu.Unlock()
		r := b.model.runs[rec.RunID]
		r.Usage.Calls++
		b.model.runs[rec.RunID] = r
	}
	return begun, err
}

func (b ownersDuplicate) Begin(ctx context.Context, rec invocation.Record, incarnation string, lease time.Duration) (ports.Begun, error) {
	b.mu.Lock()
	c, known := b.model.calls[rec.Key()]
	b.mu.Unlock()
	if known && c.record.Owner == rec.Owner {
		rec.Owner = "somebody else"
	}
	return b.reference.Begin(ctx, rec, incarnation, lease)
}

func (b cancelIgnored) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	b.mu.Lock()
	r := b.model.runs[next.RunID]
	ended := r.State
	if _, known := b.model.runs[next.RunID]; known {
		r.State = run.Active
		b.model.runs[next.RunID] = r
	}
	b.mu.Unlock()
	rec, err := b.reference.Settle(ctx, next)
	b.mu.Lock()
	defer b.mu.Unlock()
	if r, known := b.model.runs[next.RunID]; known {
		r.State = ended
		b.model.runs[next.RunID] = r
	}
	return rec, err
}

func (b anyoneSettles) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	b.mu.Lock()
	if c, known := b.model.calls[next.Key()]; known && c.record.Status == invocation.Projecting {
		next.Owner = c.record.Owner
	}
	b.mu.Unlock()
	return b.reference.Settle(ctx, next)
}

func (b sharesBytes) Load(_ context.Context, id run.ID, view ports.View, ids ...string) (map[string]ports.Found, error) {
	found, err := b.reference.Load(context.Background(), id, view, ids...)
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, f := range found {
		if f.Fault == nil && view == ports.Whole {
			f.Record = b.model.calls[f.Record.Key()].record
			found[i] = f
		}
	}
	return found, err
}

func (b refusesInHaste) Begin(ctx context.Context, rec invocation.Record, incarnation string, lease time.Duration) (ports.Begun, error) {
	b.mu.Lock()
	c, known := b.model.calls[rec.Key()]
	b.mu.Unlock()
	if known && c.record.Owner != rec.Owner {
		return ports.Begun{}, fault.Because(fault.DuplicateToolCall, string(c.record.Status), "")
	}
	return b.reference.Begin(ctx, rec, incarnation, lease)
}

func (b losesTooSoon) Load(ctx context.Context, id run.ID, view ports.View, ids ...string) (map[string]ports.Found, error) {
	b.mu.Lock()
	now := b.at
	b.at = b.at.Add(long) // loses at half the lease
	lost := b.model.clone().load(b.at, id, view, ids...)
	b.at = now
	for _, f := range lost {
		if c := b.model.calls[f.Record.Key()]; c.record.Status == invocation.Projecting && f.Record.Status == invocation.Error {
			c.settled = c.record.Lost().Digest
			b.model.replace(now, c, c.record.Lost())
		}
	}
	b.mu.Unlock()
	return b.reference.Load(ctx, id, view, ids...)
}

func (b neverLost) Load(_ context.Context, id run.ID, view ports.View, ids ...string) (map[string]ports.Found, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := map[string]ports.Found{}
	for _, toolCallID := range ids {
		key := invocation.Key{RunID: id, ToolCallID: toolCallID}
		c, ok := b.model.calls[key]
		switch {
		case !ok || !b.at.Before(c.expires):
			continue
		case b.planted[key] != nil:
			found[toolCallID] = ports.Found{Fault: fault.New(fault.Internal)}
			continue
		case view != ports.Whole:
			c.record.Request, c.record.RawResponse = nil, nil
		}
		if view == ports.Head {
			c.record.AgentResult = nil
		}
		found[toolCallID] = ports.Found{Record: copiedRecord(c.record)}
	}
	return found, nil
}

func (b lostIsShownOnly) Load(ctx context.Context, id run.ID, view ports.View, ids ...string) (map[string]ports.Found, error) {
	b.mu.Lock()
	before := b.model.clone()
	b.mu.Unlock()
	found, err := b.reference.Load(ctx, id, view, ids...)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range found {
		if f.Record.ErrorCode == fault.ExecutionLost {
			b.model.calls[f.Record.Key()] = before.calls[f.Record.Key()]
		}
	}
	return found, err
}

func (b corruptIsAbsent) Load(ctx context.Context, id run.ID, view ports.View, ids ...string) (map[string]ports.Found, error) {
	found, err := b.reference.Load(ctx, id, view, ids...)
	for toolCallID, f := range found {
		if f.Fault != nil {
			delete(found, toolCallID)
		}
	}
	return found, err
}

func (b corruptFailsAll) Load(ctx context.Context, id run.ID, view ports.View, ids ...string) (map[string]ports.Found, error) {
	found, err := b.reference.Load(ctx, id, view, ids...)
	for _, f := range found {
		if f.Fault != nil {
			return nil, f.Fault
		}
	}
	return found, err
}

func (b overwritesBad) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	b.mu.Lock()
	delete(b.planted, next.Key())
	b.mu.Unlock()
	return b.reference.Settle(ctx, next)
}

func (b leaksItsErrors) Find(ctx context.Context, id run.ID) (run.Run, error) {
	r, err := b.reference.Find(ctx, id)
	if err != nil {
		err = errors.New("dial tcp 10.1.2.3:6379: connection refused")
	}
	return r, err
}

func (b leaksItsErrors) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	rec, err := b.reference.Settle(ctx, next)
	if fault.CodeOf(err) == fault.Internal {
		err = fmt.Errorf("key %s: %w", next.ToolCallID, err)
	}
	return rec, err
}

func (b miscountsByOne) Refuse(ctx context.Context, id run.ID, incarnation string, entry run.Refusal, counts bool) error {
	b.mu.Lock()
	r := b.model.runs[id]
	b.mu.Unlock()
	if counts && r.Incarnation == incarnation && r.State == run.Active && r.Usage.Refusals+1 == r.Budget.MaxRefusals && b.now().Before(r.Deadline) {
		return fault.New(fault.RefusalLimitReached)
	}
	return b.reference.Refuse(ctx, id, incarnation, entry, counts)
}

func (b keysMeet) Begin(ctx context.Context, rec invocation.Record, incarnation string, lease time.Duration) (ports.Begun, error) {
	b.mu.Lock()
	for k, c := range b.model.calls {
		if k != rec.Key() && string(k.RunID)+":"+k.ToolCallID == string(rec.RunID)+":"+rec.ToolCallID {
			b.mu.Unlock()
			return ports.Begun{}, fault.Because(fault.DuplicateToolCall, string(c.record.Status), "")
		}
	}
	b.mu.Unlock()
	return b.reference.Begin(ctx, rec, incarnation, lease)
}

func (b anyIncarnation) Begin(ctx context.Context, rec invocation.Record, _ string, lease time.Duration) (ports.Begun, error) {
	b.mu.Lock()
	current := b.model.runs[rec.RunID].Incarnation
	b.mu.Unlock()
	return b.reference.Begin(ctx, rec, current, lease)
}

func (b endsTwice) End(ctx context.Context, id run.ID, to run.State) (run.Run, error) {
	b.mu.Lock()
	if r, known := b.model.runs[id]; known {
		r.State = run.Active
		b.model.runs[id] = r
	}
	b.mu.Unlock()
	return b.reference.End(ctx, id, to)
}

func (b clientsTime) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	rec, err := b.reference.Settle(ctx, next)
	b.edit(map[string]ports.Found{"": {Record: rec}}, func(c *modelCall) { c.record.StartedAt = next.StartedAt })
	if err == nil {
		rec.StartedAt = next.StartedAt
	}
	return rec, err
}

func (b neverTells) Watch(ctx context.Context, _ func(run.ID), subscribed func()) error {
	subscribed()
	<-ctx.Done()
	return nil
}

func (b chargesTwice) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	b.mu.Lock()
	c := b.model.calls[next.Key()]
	if r, known := b.model.runs[next.RunID]; known && c.settled == next.Digest && c.settled != "" {
		r.Usage.Bytes += next.Bytes()
		b.model.runs[next.RunID] = r
	}
	b.mu.Unlock()
	return b.reference.Settle(ctx, next)
}

func (b keepsTooMuchRaw) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	rec, err := b.reference.Settle(ctx, next)
	if rec.ErrorCode == fault.RunBytesExhausted && next.RawResponse != nil {
		rec.RawResponse, rec.Sizes.RawResponse = next.RawResponse, next.Sizes.RawResponse
		b.edit(map[string]ports.Found{"": {Record: rec}}, func(c *modelCall) { c.record = rec })
	}
	return rec, err
}

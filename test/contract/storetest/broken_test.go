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
	readsRenew        struct{ *reference }
	settleRenews      struct{ *reference }
	settleRevives     struct{ *reference }
	settleRaces       struct{ *reference }
	beginRaces        struct{ *reference }
	duplicatesSpend   struct{ *reference }
	ownersDuplicate   struct{ *reference }
	cancelIgnored     struct{ *reference }
	anyoneSettles     struct{ *reference }
	sharesBytes       struct{ *reference }
	refusesInHaste    struct{ *reference }
	losesTooSoon      struct{ *reference }
	neverLost         struct{ *reference }
	lostIsShownOnly   struct{ *reference }
	corruptIsAbsent   struct{ *reference }
	corruptFailsAll   struct{ *reference }
	overwritesBad     struct{ *reference }
	leaksItsErrors    struct{ *reference }
	miscountsByOne    struct{ *reference }
	keysMeet          struct{ *reference }
	anyIncarnation    struct{ *reference }
	endsTwice         struct{ *reference }
	clientsTime       struct{ *reference }
	neverTells        struct{ *reference }
	chargesTwice      struct{ *reference }
	keepsTooMuchRaw   struct{ *reference }
	returnsNilFaults  struct{ *reference }
	panics            struct{ *reference }
	forgetsForTheSlow struct{ *reference }
)

func (b readsRenew) Load(
	_ context.Context, id run.ID, view ports.View, ids ...string,
) (map[string]ports.Found, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := b.load(id, view, ids...)
	for _, f := range found {
		b.edit(f.Record, func(c *modelCall) { c.expires = b.at.Add(b.model.runs[id].RecordTTL) })
	}
	return found, nil
}

// edit changes what is kept of a record, if it is kept; the lock is held.
func (r *reference) edit(rec invocation.Record, change func(*modelCall)) {
	if c, ok := r.model.calls[rec.Key()]; ok {
		change(&c)
		r.model.calls[rec.Key()] = c
	}
}

// editRun changes what is kept of a run, if it is known; the lock is held.
func (r *reference) editRun(id run.ID, change func(*run.Run)) {
	if known, ok := r.model.runs[id]; ok {
		change(&known)
		r.model.runs[id] = known
	}
}

func (b settleRenews) Settle(_ context.Context, next invocation.Record) (invocation.Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	rec, err := b.settle(next)
	b.edit(rec, func(c *modelCall) { c.expires = b.at.Add(b.model.runs[rec.RunID].RecordTTL) })
	return rec, err
}

func (b settleRevives) Settle(_ context.Context, next invocation.Record) (invocation.Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.edit(next, func(c *modelCall) {
		if !b.at.Before(c.expires) {
			c.expires = b.at.Add(time.Hour)
		}
	})
	return b.settle(next)
}

// Settle looks and then writes: two round trips.
func (b settleRaces) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	if b.isPlanted(next.Key()) {
		return b.reference.Settle(ctx, next)
	}
	looked, at := b.crowd.read()
	rec, err := looked.settle(at, copiedRecord(next))
	if err != nil {
		return rec, err
	}
	b.crowd.hold()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.model.calls[next.Key()] = looked.calls[next.Key()]
	b.editRun(next.RunID, func(r *run.Run) { r.Usage.Bytes = looked.runs[next.RunID].Usage.Bytes })
	return copiedRecord(rec), nil
}

// Begin looks and then writes, and at last keeps each id once.
func (b beginRaces) Begin(
	ctx context.Context, rec invocation.Record, incarnation string, lease time.Duration,
) (ports.Begun, error) {
	if b.isPlanted(rec.Key()) {
		return b.reference.Begin(ctx, rec, incarnation, lease)
	}
	looked, at := b.crowd.read()
	begun, err := looked.begin(at, copiedRecord(rec), incarnation, lease)
	if err != nil {
		return begun, err
	}
	b.crowd.hold()
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.model.calls[rec.Key()]; !known {
		b.editRun(rec.RunID, func(r *run.Run) {
			*r, _ = r.Spend(rec.ToolName, len(rec.Request))
			r.ToolCallIDs = append(slices.Clone(r.ToolCallIDs), rec.ToolCallID)
		})
		b.model.calls[rec.Key()] = looked.calls[rec.Key()]
	}
	begun.Record = copiedRecord(begun.Record)
	return begun, nil
}

func (r *reference) isPlanted(key invocation.Key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.planted[key] != nil
}

func (b duplicatesSpend) Begin(
	_ context.Context, rec invocation.Record, incarnation string, lease time.Duration,
) (ports.Begun, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	begun, err := b.begin(rec, incarnation, lease)
	if fault.CodeOf(err) == fault.DuplicateToolCall {
		b.editRun(rec.RunID, func(r *run.Run) { r.Usage.Calls++ })
	}
	return begun, err
}

func (b ownersDuplicate) Begin(
	_ context.Context, rec invocation.Record, incarnation string, lease time.Duration,
) (ports.Begun, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c, known := b.model.calls[rec.Key()]; known && c.record.Owner == rec.Owner {
		rec.Owner = "somebody else"
	}
	return b.begin(rec, incarnation, lease)
}

func (b cancelIgnored) Settle(_ context.Context, next invocation.Record) (invocation.Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ended := b.model.runs[next.RunID].State
	b.editRun(next.RunID, func(r *run.Run) { r.State = run.Active })
	defer b.editRun(next.RunID, func(r *run.Run) { r.State = ended })
	return b.settle(next)
}

func (b anyoneSettles) Settle(_ context.Context, next invocation.Record) (invocation.Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c, known := b.model.calls[next.Key()]; known && c.record.Status == invocation.Projecting {
		next.Owner = c.record.Owner
	}
	return b.settle(next)
}

func (b sharesBytes) Load(
	_ context.Context, id run.ID, view ports.View, ids ...string,
) (map[string]ports.Found, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := b.load(id, view, ids...)
	for i, f := range found {
		if f.Fault == nil && view == ports.Whole {
			f.Record = b.model.calls[f.Record.Key()].record
			found[i] = f
		}
	}
	return found, nil
}

func (b refusesInHaste) Begin(
	_ context.Context, rec invocation.Record, incarnation string, lease time.Duration,
) (ports.Begun, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c, known := b.model.calls[rec.Key()]; known && c.record.Owner != rec.Owner {
		return ports.Begun{}, fault.Because(fault.DuplicateToolCall, string(c.record.Status), "")
	}
	return b.begin(rec, incarnation, lease)
}

// Load loses at half the lease.
func (b losesTooSoon) Load(
	_ context.Context, id run.ID, view ports.View, ids ...string,
) (map[string]ports.Found, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.model.clone().load(b.at.Add(long), id, view, ids...) {
		c := b.model.calls[f.Record.Key()]
		if c.record.Status == invocation.Projecting && f.Record.Status == invocation.Error {
			c.settled = c.record.Lost().Digest
			b.model.replace(b.at, c, c.record.Lost())
		}
	}
	return b.load(id, view, ids...), nil
}

// Those who load come before the one who settles.
func (b losesTooSoon) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	b.crowd.hold()
	return b.reference.Settle(ctx, next)
}

func (b neverLost) Load(
	_ context.Context, id run.ID, view ports.View, ids ...string,
) (map[string]ports.Found, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, leases := b.at, map[invocation.Key]time.Time{}
	for key, c := range b.model.calls { // no lease has passed
		leases[key] = c.record.LeaseUntil
		b.edit(c.record, func(c *modelCall) { c.record.LeaseUntil = at.Add(time.Hour) })
	}
	found := b.load(id, view, ids...)
	for toolCallID, f := range found {
		if f.Fault == nil {
			f.Record.LeaseUntil = leases[f.Record.Key()]
			found[toolCallID] = f
		}
	}
	for key, lease := range leases {
		b.edit(b.model.calls[key].record, func(c *modelCall) { c.record.LeaseUntil = lease })
	}
	return found, nil
}

// Those who load come before the one who settles.
func (b neverLost) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	b.crowd.hold()
	return b.reference.Settle(ctx, next)
}

func (b lostIsShownOnly) Load(
	_ context.Context, id run.ID, view ports.View, ids ...string,
) (map[string]ports.Found, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.model.clone()
	found := b.load(id, view, ids...)
	for _, f := range found {
		if f.Record.ErrorCode == fault.ExecutionLost {
			b.model.calls[f.Record.Key()] = before.calls[f.Record.Key()]
		}
	}
	return found, nil
}

// Those who load come before the one who settles.
func (b lostIsShownOnly) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	b.crowd.hold()
	return b.reference.Settle(ctx, next)
}

func (b corruptIsAbsent) Load(
	ctx context.Context, id run.ID, view ports.View, ids ...string,
) (map[string]ports.Found, error) {
	found, err := b.reference.Load(ctx, id, view, ids...)
	for toolCallID, f := range found {
		if f.Fault != nil {
			delete(found, toolCallID)
		}
	}
	return found, err
}

func (b corruptFailsAll) Load(
	ctx context.Context, id run.ID, view ports.View, ids ...string,
) (map[string]ports.Found, error) {
	found, err := b.reference.Load(ctx, id, view, ids...)
	for _, f := range found {
		if f.Fault != nil {
			return nil, f.Fault
		}
	}
	return found, err
}

func (b overwritesBad) Settle(_ context.Context, next invocation.Record) (invocation.Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.planted, next.Key())
	return b.settle(next)
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

func (b returnsNilFaults) Find(ctx context.Context, id run.ID) (run.Run, error) {
	r, err := b.reference.Find(ctx, id)
	var f *fault.Error
	if err != nil {
		return r, f
	}
	return r, nil
}

func (b panics) Open(_ context.Context, r run.Run) (run.Run, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	opened, err := b.model.open(b.at, copied(r))
	if err != nil {
		panic(err)
	}
	return copied(opened), nil
}

func (b miscountsByOne) Refuse(_ context.Context, id run.ID, incarnation string, entry run.Refusal, counts bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.model.runs[id]
	counted := counts && r.Incarnation == incarnation && r.State == run.Active && b.at.Before(r.Deadline)
	if counted && r.Usage.Refusals+1 == r.Budget.MaxRefusals {
		return fault.New(fault.RefusalLimitReached)
	}
	return b.refuse(id, incarnation, entry, counts)
}

func (b keysMeet) Begin(
	_ context.Context, rec invocation.Record, incarnation string, lease time.Duration,
) (ports.Begun, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k, c := range b.model.calls {
		if k != rec.Key() && string(k.RunID)+":"+k.ToolCallID == string(rec.RunID)+":"+rec.ToolCallID {
			return ports.Begun{}, fault.Because(fault.DuplicateToolCall, string(c.record.Status), "")
		}
	}
	return b.begin(rec, incarnation, lease)
}

func (b anyIncarnation) Begin(
	_ context.Context, rec invocation.Record, _ string, lease time.Duration,
) (ports.Begun, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.begin(rec, b.model.runs[rec.RunID].Incarnation, lease)
}

func (b endsTwice) End(_ context.Context, id run.ID, to run.State) (run.Run, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.editRun(id, func(r *run.Run) { r.State = run.Active })
	return b.end(id, to)
}

func (b clientsTime) Settle(_ context.Context, next invocation.Record) (invocation.Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	rec, err := b.settle(next)
	if err == nil {
		rec.StartedAt = next.StartedAt
		b.edit(rec, func(c *modelCall) { c.record.StartedAt = next.StartedAt })
	}
	return rec, err
}

func (b neverTells) Watch(ctx context.Context, _ func(run.ID), subscribed func()) error {
	subscribed()
	<-ctx.Done()
	return nil
}

// Watch is told of as much as fits, and does not say that there was more.
func (b forgetsForTheSlow) Watch(ctx context.Context, ended func(run.ID), subscribed func()) error {
	first := true
	return b.reference.Watch(ctx, ended, func() {
		if first {
			first = false
			subscribed()
		}
	})
}

func (b chargesTwice) Settle(_ context.Context, next invocation.Record) (invocation.Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.model.calls[next.Key()]; c.settled == next.Digest && c.settled != "" {
		b.editRun(next.RunID, func(r *run.Run) { r.Usage.Bytes += next.Bytes() })
	}
	return b.settle(next)
}

func (b keepsTooMuchRaw) Settle(_ context.Context, next invocation.Record) (invocation.Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	rec, err := b.settle(next)
	if rec.ErrorCode == fault.RunBytesExhausted && next.RawResponse != nil {
		rec.RawResponse, rec.Sizes.RawResponse = next.RawResponse, next.Sizes.RawResponse
		b.edit(rec, func(c *modelCall) { c.record = rec })
	}
	return rec, err
}

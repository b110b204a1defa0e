package storetest

import (
	"context"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
)

// readsItsOwn breaks the rules of versions: it takes what it does not know for corrupt.
type readsItsOwn struct{ *reference }

func (b readsItsOwn) Load(
	ctx context.Context, id run.ID, view ports.View, ids ...string,
) (map[string]ports.Found, error) {
	found, err := b.reference.Load(ctx, id, view, ids...)
	for toolCallID := range found {
		if b.isLater(invocation.Key{RunID: id, ToolCallID: toolCallID}) {
			found[toolCallID] = ports.Found{Fault: fault.New(fault.Internal)}
		}
	}
	return found, err
}

// settlesItsOwn does that in settlements.
type settlesItsOwn struct{ *reference }

func (b settlesItsOwn) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	if b.isLater(next.Key()) {
		return invocation.Record{}, fault.New(fault.Internal)
	}
	return b.reference.Settle(ctx, next)
}

// isLater reports whether a later version's record is stored.
func (r *reference) isLater(key invocation.Key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.laterValue(key)
	return ok
}

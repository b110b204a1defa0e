package storetest

import (
	"context"
	"sync"
	"time"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
)

// line is what lies between a process and the reference. While it is cut, what is asked is
// carried out and the answers are lost.
type line struct {
	r *reference
	// What a broken store does wrong about it.
	keepsUnknown, hidesInterruptions, forgetsWhatItLearned, saysNotFound bool

	mu      sync.Mutex
	isCut   bool
	only    run.ID // the one run that is cut off; "" for all
	unknown []invocation.Record
	healed  []chan struct{}
}

// cut cuts one run off, or all for "", until heal.
func (l *line) cut(id run.ID) (heal func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut, l.only = true, id
	return l.heal
}

func (l *line) heal() {
	l.mu.Lock()
	unknown, healed := l.unknown, l.healed
	l.isCut, l.unknown = false, nil
	l.mu.Unlock()
	for _, rec := range unknown {
		if !l.keepsUnknown {
			l.r.closeOff(rec)
		}
	}
	for _, c := range healed {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// closeOff makes an error of an execution that its caller does not know of.
func (r *reference) closeOff(rec invocation.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, known := r.model.calls[rec.Key()]
	if known && c.record.Owner == rec.Owner && c.record.Status == invocation.Projecting {
		failed := c.record.Failed(fault.New(fault.StoreUnavailable))
		c.settled = failed.Digest
		r.model.replace(r.at, c, failed)
	}
}

// lost returns what is told instead of an answer about the run, or nil when the answer arrives.
func (l *line) lost(id run.ID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.isCut || l.only != "" && l.only != id:
		return nil
	case l.saysNotFound:
		return fault.New(fault.RunNotFound)
	default:
		return fault.New(fault.StoreUnavailable)
	}
}

// cutStore is a store at the far end of a line.
type cutStore struct {
	ports.Store
	line *line
}

func (c cutStore) Open(ctx context.Context, r run.Run) (run.Run, error) {
	opened, err := c.Store.Open(ctx, r)
	if lost := c.line.lost(r.ID); lost != nil {
		return run.Run{}, lost
	}
	return opened, err
}

func (c cutStore) Find(ctx context.Context, id run.ID) (run.Run, error) {
	found, err := c.Store.Find(ctx, id)
	if lost := c.line.lost(id); lost != nil {
		return run.Run{}, lost
	}
	return found, err
}

func (c cutStore) End(ctx context.Context, id run.ID, to run.State) (run.Run, error) {
	ended, err := c.Store.End(ctx, id, to)
	if lost := c.line.lost(id); lost != nil {
		return run.Run{}, lost
	}
	return ended, err
}

func (c cutStore) Begin(
	ctx context.Context, rec invocation.Record, incarnation string, lease time.Duration,
) (ports.Begun, error) {
	begun, err := c.Store.Begin(ctx, rec, incarnation, lease)
	if lost := c.line.lost(rec.RunID); lost != nil {
		c.line.mu.Lock()
		defer c.line.mu.Unlock()
		c.line.unknown = append(c.line.unknown, rec)
		return ports.Begun{}, lost
	}
	return begun, err
}

func (c cutStore) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	stored, err := c.Store.Settle(ctx, next)
	if lost := c.line.lost(next.RunID); lost != nil {
		return invocation.Record{}, lost
	}
	return stored, err
}

func (c cutStore) Load(ctx context.Context, id run.ID, view ports.View, ids ...string) (map[string]ports.Found, error) {
	found, err := c.Store.Load(ctx, id, view, ids...)
	if lost := c.line.lost(id); lost != nil {
		return nil, lost
	}
	return found, err
}

func (c cutStore) Refuse(ctx context.Context, id run.ID, incarnation string, entry run.Refusal, counts bool) error {
	err := c.Store.Refuse(ctx, id, incarnation, entry, counts)
	if lost := c.line.lost(id); lost != nil {
		return lost
	}
	return err
}

func (c cutStore) Ended(ctx context.Context, ids ...run.ID) (map[run.ID]fault.Code, error) {
	over, err := c.Store.Ended(ctx, ids...)
	for _, id := range ids {
		if lost := c.line.lost(id); lost != nil {
			delete(over, id)
			err = lost
		}
	}
	if err != nil && c.line.forgetsWhatItLearned {
		return nil, err
	}
	return over, err
}

// farEnd marks the context of a watch at the far end of the line.
type farEnd struct{}

func (c cutStore) Watch(ctx context.Context, ended func(run.ID), subscribed func()) error {
	healed := make(chan struct{}, 1)
	c.line.mu.Lock()
	c.line.healed = append(c.line.healed, healed)
	c.line.mu.Unlock()
	returned := make(chan error, 1)
	go func() { returned <- c.Store.Watch(context.WithValue(ctx, farEnd{}, true), ended, subscribed) }()
	for {
		select {
		case err := <-returned:
			return err
		case <-healed:
			if !c.line.hidesInterruptions {
				subscribed()
			}
		}
	}
}

package application

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
)

// Watch stops the calls in flight of runs that ended, wherever they were ended, until ctx is
// done. Notices may be lost, so the runs' states are also read once per PollInterval and after
// every interruption of the subscription.
func (b *Boundary) Watch(ctx context.Context) {
	poll := make(chan struct{}, 1)
	look := func() {
		select {
		case poll <- struct{}{}:
		default: // a look-up is due already
		}
	}
	var subscribers sync.WaitGroup
	defer subscribers.Wait()
	subscribers.Go(func() {
		for ctx.Err() == nil {
			err := b.store.Watch(ctx, func(id run.ID) { b.inflight.end(id, fault.ExecutionCancelled) }, look)
			if err != nil && ctx.Err() == nil {
				b.log.Warn("watching for ended runs was interrupted", zap.String("code", string(fault.CodeOf(err))))
			}
			select {
			case <-ctx.Done():
			case <-time.After(b.opt.PollInterval):
			}
		}
	})
	tick := time.NewTicker(b.opt.PollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll:
		case <-tick.C:
		}
		b.stopEnded(ctx)
	}
}

// stopEnded reads the states of all runs with calls in flight, in one round trip.
func (b *Boundary) stopEnded(ctx context.Context) {
	ids := b.inflight.runs()
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, b.opt.StoreTimeout)
	defer cancel()
	ended, err := b.store.Ended(ctx, ids...)
	for id, code := range ended { // what could be learned holds, also when the rest could not
		b.inflight.end(id, code)
	}
	if err != nil {
		b.log.Warn("not all runs in flight could be read", zap.String("code", string(fault.CodeOf(err))))
	}
}

// Stopping reports whether Stop was called: new calls are refused.
func (b *Boundary) Stopping() bool {
	b.inflight.mu.Lock()
	defer b.inflight.mu.Unlock()
	return b.inflight.stopping
}

// Stop refuses new calls, waits for those in flight until ctx is done, then cancels them and
// waits for them to settle: at most StoreTimeout and a little more each. It returns the
// number of calls that were cancelled.
func (b *Boundary) Stop(ctx context.Context) int {
	idle := b.inflight.stop()
	select {
	case <-idle:
		return 0
	case <-ctx.Done():
	}
	ids := b.inflight.runs()
	for _, id := range ids {
		b.inflight.end(id, fault.ExecutionCancelled)
	}
	select {
	case <-idle:
	case <-time.After(2 * b.opt.StoreTimeout):
	}
	return len(ids)
}

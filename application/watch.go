package application

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
)

// watcher ends calls in flight from outside: because their run ended, or because the service stops.
type watcher struct {
	store ports.Cancellations
	calls *inflight
	log   *zap.Logger
	opt   Options
}

// watch stops the calls of runs that ended, until ctx is done. Notices may be lost, so the runs'
// states are also read once per PollInterval and after every interruption of the subscription.
func (w *watcher) watch(ctx context.Context) {
	poll := make(chan struct{}, 1)
	look := func() {
		select {
		case poll <- struct{}{}:
		default: // a look-up is due already
		}
	}
	var subscriber sync.WaitGroup
	defer subscriber.Wait()
	subscriber.Go(func() { w.subscribe(ctx, look) })
	tick := time.NewTicker(w.opt.PollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll:
		case <-tick.C:
		}
		w.stopEnded(ctx)
	}
}

// subscribe listens for notices of ended runs until ctx is done; look is called at the start and
// after every interruption.
func (w *watcher) subscribe(ctx context.Context, look func()) {
	for ctx.Err() == nil {
		err := w.store.Watch(ctx, func(id run.ID) { w.calls.end(id, fault.ExecutionCancelled) }, look)
		if err != nil && ctx.Err() == nil {
			w.log.Warn("watching for ended runs was interrupted", zap.String("code", string(fault.CodeOf(err))))
		}
		select {
		case <-ctx.Done():
		case <-time.After(w.opt.PollInterval):
		}
	}
}

// stopEnded reads the states of all runs with calls in flight, in one round trip.
func (w *watcher) stopEnded(ctx context.Context) {
	ids := w.calls.runs()
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, w.opt.StoreTimeout)
	defer cancel()
	ended, err := w.store.Ended(ctx, ids...)
	for id, code := range ended { // a partial answer counts: the rest is asked again
		w.calls.end(id, code)
	}
	if err != nil {
		w.log.Warn("not all runs in flight could be read", zap.String("code", string(fault.CodeOf(err))))
	}
}

// stop is Service.Stop.
func (w *watcher) stop(ctx context.Context) int {
	idle := w.calls.stop()
	select {
	case <-idle:
		return 0
	case <-ctx.Done():
	}
	ids := w.calls.runs()
	for _, id := range ids {
		w.calls.end(id, fault.ExecutionCancelled)
	}
	select {
	case <-idle:
	case <-time.After(2 * w.opt.StoreTimeout):
	}
	return len(ids)
}

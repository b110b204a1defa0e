package application

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
)

// inflight holds the calls that this process is running, by run, and refuses new ones once
// the service stops.
type inflight struct {
	mu       sync.Mutex
	calls    map[run.ID]map[*call]struct{}
	count    int
	stopping bool
	idle     chan struct{} // closed when stopping and no call is left
}

type call struct {
	runID  run.ID
	cancel context.CancelCauseFunc
}

func newInflight() *inflight {
	return &inflight{calls: map[run.ID]map[*call]struct{}{}, idle: make(chan struct{})}
}

// enter registers a call, or returns SERVER_STOPPING. It is called before Begin, so that an
// end of the run that is published during Begin is not missed.
func (f *inflight) enter(id run.ID, cancel context.CancelCauseFunc) (*call, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopping {
		return nil, fault.New(fault.ServerStopping)
	}
	c := &call{runID: id, cancel: cancel}
	if f.calls[id] == nil {
		f.calls[id] = map[*call]struct{}{}
	}
	f.calls[id][c] = struct{}{}
	f.count++
	return c, nil
}

func (f *inflight) leave(c *call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.calls[c.runID], c)
	if len(f.calls[c.runID]) == 0 {
		delete(f.calls, c.runID)
	}
	f.count--
	if f.stopping && f.count == 0 {
		close(f.idle)
	}
}

// end cancels the run's calls with the code.
func (f *inflight) end(id run.ID, code fault.Code) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.calls[id] {
		c.cancel(fault.New(code))
	}
}

func (f *inflight) runs() []run.ID {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Keys(f.calls))
}

// stop refuses new calls and returns a channel that is closed when none is left.
func (f *inflight) stop() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.stopping {
		f.stopping = true
		if f.count == 0 {
			close(f.idle)
		}
	}
	return f.idle
}

package application

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
)

// inflight holds the calls that this process executes, by run, and refuses new ones once the
// service stops.
type inflight struct {
	mu       sync.Mutex
	cancels  map[run.ID]map[*context.CancelCauseFunc]struct{}
	count    int
	stopping bool
	idle     chan struct{} // closed when stopping and no call is left
}

func newInflight() *inflight {
	return &inflight{cancels: map[run.ID]map[*context.CancelCauseFunc]struct{}{}, idle: make(chan struct{})}
}

// enter registers a call and returns what ends its registration, or SERVER_STOPPING. It is called
// before Begin, so that an end of the run that is published during Begin is not missed.
func (f *inflight) enter(id run.ID, cancel context.CancelCauseFunc) (leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopping {
		return nil, fault.New(fault.ServerStopping)
	}
	if f.cancels[id] == nil {
		f.cancels[id] = map[*context.CancelCauseFunc]struct{}{}
	}
	f.cancels[id][&cancel] = struct{}{}
	f.count++
	return func() { f.leave(id, &cancel) }, nil
}

func (f *inflight) leave(id run.ID, cancel *context.CancelCauseFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.cancels[id], cancel)
	if len(f.cancels[id]) == 0 {
		delete(f.cancels, id)
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
	for cancel := range f.cancels[id] {
		(*cancel)(fault.New(code))
	}
}

// runs returns the runs that have calls in flight.
func (f *inflight) runs() []run.ID {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Keys(f.cancels))
}

// len returns the number of calls in flight.
func (f *inflight) len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
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

// stops reports whether stop was called.
func (f *inflight) stops() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stopping
}

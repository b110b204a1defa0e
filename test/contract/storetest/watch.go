package storetest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// watching is a Watch that runs until its case ends.
type watching struct {
	ended      chan run.ID
	subscribed chan struct{}
	busy       chan struct{} // a slow one looks at its first end
	returned   chan error
	stop       context.CancelFunc
}

// behind is how many runs end while a slow watcher looks at the first: more than a store need
// remember for it.
const behind = 1200

// watch starts a watcher. A slow one, with slow set, takes its first end when slow is closed.
func (s stage) watch(store ports.Store, slow <-chan struct{}) *watching {
	ctx, cancel := context.WithCancel(s.Context())
	w := &watching{
		ended: make(chan run.ID, 2*behind), subscribed: make(chan struct{}, 2*behind),
		busy: make(chan struct{}), returned: make(chan error, 1), stop: cancel,
	}
	look := sync.OnceFunc(func() { close(w.busy) })
	ended := func(id run.ID) {
		if slow != nil {
			look()
			<-slow
		}
		select {
		case w.ended <- id:
		case <-ctx.Done():
		}
	}
	subscribed := func() {
		select {
		case w.subscribed <- struct{}{}:
		case <-ctx.Done():
		}
	}
	go func() { w.returned <- kit.Catch(func() error { return store.Watch(ctx, ended, subscribed) }) }()
	s.Cleanup(cancel)
	return w
}

func (s stage) ready(w *watching) {
	s.Helper()
	select {
	case <-w.subscribed:
	case err := <-w.returned:
		require.Fail(s, "Watch returned", "%v", err)
	case <-time.After(s.Patience):
		require.Fail(s, "subscribed was not called")
	}
}

// looks waits until a slow watcher looks at its first end, unless it is told otherwise of it.
func (s stage) looks(w *watching) {
	s.Helper()
	select {
	case <-w.busy:
	case <-w.subscribed:
	case <-time.After(s.Patience):
		require.Fail(s, "the watcher was not told of the first end")
	}
}

// told waits until the watcher knows that the runs have ended: by notices, or by a call of
// subscribed, after which it has to ask.
func (s stage) told(w *watching, ids ...run.ID) {
	s.Helper()
	missing := map[run.ID]bool{}
	for _, id := range ids {
		missing[id] = true
	}
	for limit := time.After(s.Patience); len(missing) > 0; {
		select {
		case id := <-w.ended:
			delete(missing, id)
		case <-w.subscribed:
			over, err := s.Other.Ended(s.Context(), slices.Collect(maps.Keys(missing))...)
			require.NoError(s, err)
			maps.DeleteFunc(missing, func(id run.ID, _ bool) bool { return over[id] != "" })
		case <-limit:
			require.Fail(s, "the watcher was not told of every end", "%d of %d are missing", len(missing), len(ids))
		}
	}
}

var watchCases = []storeCase{
	{Name: "Watch/TellsEveryWatcher", Scenarios: []string{"S06"},
		Rule: "subscribed is called at the start, and every watcher in every process is told of every end from " +
			"then on.",
		Promises: []string{"Cancellations.Watch#1", "Cancellations.Watch#2", "Runs.End#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			watchers := []*watching{s.watch(s.Store, nil), s.watch(s.Other, nil), s.watch(s.Other, nil)}
			for _, w := range watchers {
				s.ready(w)
			}
			for i, to := range []run.State{run.Cancelled, run.Completed, run.Cancelled} {
				r := s.open(run.ID("r:" + fresh()))
				_, err := []ports.Store{s.Store, s.Other}[i%2].End(t.Context(), r.ID, to)
				require.NoError(t, err)
				for _, w := range watchers {
					s.told(w, r.ID)
				}
			}
		}},
	{Name: "Watch/TellsOfNothingElse",
		Rule:     "Watchers hear of ended runs only, by their exact ids.",
		Promises: []string{"Cancellations.Watch#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			w := s.watch(s.Other, nil)
			s.ready(w)
			r := s.open("busy")
			s.settle(s.answered(s.begin(r, "call_1")))
			_, err := s.Store.End(t.Context(), "ghost", run.Cancelled)
			refused(t, err, fault.RunNotFound)
			last := s.open("last:1.-_")
			_, err = s.Store.End(t.Context(), last.ID, run.Cancelled)
			require.NoError(t, err)
			s.told(w, last.ID)
			for len(w.ended) > 0 {
				require.Equal(t, last.ID, <-w.ended)
			}
			_, err = s.Store.End(t.Context(), last.ID, run.Completed)
			refused(t, err, fault.RunInactive)
		}},
	{Name: "Watch/SlowWatchersAreTold",
		Rule:     "A slow watcher, too, is told of every end: by a notice, or by a call of subscribed.",
		Promises: []string{"Cancellations.Watch#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			slow := make(chan struct{})
			w := s.watch(s.Store, slow)
			wake := sync.OnceFunc(func() { close(slow) })
			t.Cleanup(wake)
			s.ready(w)
			var ids []run.ID
			for range behind {
				r := s.open(run.ID(fresh()))
				_, err := s.Other.End(t.Context(), r.ID, run.Cancelled)
				require.NoError(t, err)
				if ids = append(ids, r.ID); len(ids) == 1 {
					s.looks(w)
				}
			}
			wake()
			s.told(w, ids...)
		}},
	{Name: "Watch/EndsWithItsContext",
		Rule:     "Watch returns nil soon after its context is done.",
		Promises: []string{"Cancellations.Watch#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			w := s.watch(s.Store, nil)
			s.ready(w)
			w.stop()
			select {
			case err := <-w.returned:
				require.NoError(t, err)
			case <-time.After(s.Patience):
				require.Fail(t, "Watch did not return")
			}
		}},
	{Name: "Ended/NamesTheRunsThatAreOver", Scenarios: []string{"S06"},
		Rule: "Ended returns the runs that are over and no others: RUN_DEADLINE_EXCEEDED for a passed deadline, " +
			"EXECUTION_CANCELLED for ended and unknown ones.",
		Promises: []string{"Cancellations.Ended#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			short := func(r *run.Run) { r.TTL = s.Unit }
			s.open("live")
			s.open("late", short)
			s.open("late_ended", short)
			for id, to := range map[run.ID]run.State{"cancelled": run.Cancelled, "completed": run.Completed} {
				s.open(id)
				_, err := s.Store.End(t.Context(), id, to)
				require.NoError(t, err)
			}
			_, err := s.Store.End(t.Context(), "late_ended", run.Completed)
			require.NoError(t, err)
			s.Advance(t, s.Unit)
			over, err := s.Other.Ended(t.Context(), "live", "late", "late_ended", "cancelled", "completed", "ghost",
				"late")
			require.NoError(t, err)
			require.Equal(t, map[run.ID]fault.Code{
				"late": fault.RunDeadlineExceeded, "late_ended": fault.ExecutionCancelled,
				"cancelled": fault.ExecutionCancelled, "completed": fault.ExecutionCancelled,
				"ghost": fault.ExecutionCancelled,
			}, over)
			over, err = s.Other.Ended(t.Context())
			require.NoError(t, err)
			require.Empty(t, over)
		}},
}

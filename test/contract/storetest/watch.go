package storetest

import (
	"context"
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
	returned   chan error
	stop       context.CancelFunc
}

func (s stage) watch(store ports.Store) *watching {
	ctx, cancel := context.WithCancel(s.Context())
	w := &watching{ended: make(chan run.ID, 1000), subscribed: make(chan struct{}, 1000), returned: make(chan error, 1), stop: cancel}
	go func() {
		w.returned <- store.Watch(ctx, func(id run.ID) { w.ended <- id }, func() { w.subscribed <- struct{}{} })
	}()
	s.Cleanup(cancel)
	return w
}

func (s stage) ready(w *watching) {
	s.Helper()
	select {
	case <-w.subscribed:
	case <-time.After(s.Patience):
		require.Fail(s, "subscribed was not called")
	}
}

// told waits until the watcher knows that the run ended: by a notice, or by a call of
// subscribed, after which it has to ask.
func (s stage) told(w *watching, id run.ID) {
	s.Helper()
	for limit := time.After(s.Patience); ; {
		select {
		case got := <-w.ended:
			if got == id {
				return
			}
		case <-w.subscribed:
			over, err := s.Other.Ended(s.Context(), id)
			require.NoError(s, err)
			if over[id] != "" {
				return
			}
		case <-limit:
			require.Fail(s, "the watcher was not told of the end", "run %s", id)
		}
	}
}

var watchCases = []storeCase{
	{Name: "Watch/TellsEveryWatcher", Scenarios: []string{"S06"},
		Rule: "subscribed is called at the start, and every watcher in every process is told of every end from then on.",
		Body: func(t kit.T, h Subject) {
			s := on(t, h)
			watchers := []*watching{s.watch(s.Store), s.watch(s.Other), s.watch(s.Other)}
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
		Rule: "Watchers hear of ended runs only, by their exact ids.",
		Body: func(t kit.T, h Subject) {
			s := on(t, h)
			w := s.watch(s.Other)
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
	{Name: "Watch/EndsWithItsContext",
		Rule: "Watch returns nil soon after its context is done.",
		Body: func(t kit.T, h Subject) {
			s := on(t, h)
			w := s.watch(s.Store)
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
		Rule: "Ended returns the runs that are over and no others: RUN_DEADLINE_EXCEEDED for a passed deadline, EXECUTION_CANCELLED for ended and unknown ones.",
		Body: func(t kit.T, h Subject) {
			s := on(t, h)
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
			over, err := s.Other.Ended(t.Context(), "live", "late", "late_ended", "cancelled", "completed", "ghost", "late")
			require.NoError(t, err)
			require.Equal(t, map[run.ID]fault.Code{
				"late": fault.RunDeadlineExceeded, "late_ended": fault.ExecutionCancelled,
				"cancelled": fault.ExecutionCancelled, "completed": fault.ExecutionCancelled, "ghost": fault.ExecutionCancelled,
			}, over)
			over, err = s.Other.Ended(t.Context())
			require.NoError(t, err)
			require.Empty(t, over)
		}},
}

package memory

import (
	"context"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
)

// backlog is how many ends a slow watcher may be behind. Past that it is told that its watch was
// interrupted.
const backlog = 1024

// watcher is one call of Watch; the store's mutex guards its fields.
type watcher struct {
	ended       []run.ID
	interrupted bool
	wake        chan struct{}
}

// tell queues an end without waiting for the watcher.
func (w *watcher) tell(id run.ID) {
	if len(w.ended) < backlog {
		w.ended = append(w.ended, id)
	} else {
		w.interrupted = true
	}
	select {
	case w.wake <- struct{}{}:
	default: // it is already awake
	}
}

// Watch implements ports.Cancellations. It returns nil when ctx is done.
func (s *Store) Watch(ctx context.Context, ended func(run.ID), subscribed func()) error {
	w := &watcher{wake: make(chan struct{}, 1)}
	s.mu.Lock()
	s.watchers[w] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, w)
	}()
	subscribed()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.wake:
		}
		s.mu.Lock()
		ids, interrupted := w.ended, w.interrupted
		w.ended, w.interrupted = nil, false
		s.mu.Unlock()
		for _, id := range ids {
			ended(id)
		}
		if interrupted {
			subscribed()
		}
	}
}

// Ended implements ports.Cancellations.
func (s *Store) Ended(_ context.Context, ids ...run.ID) (map[run.ID]fault.Code, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	over := map[run.ID]fault.Code{}
	for _, id := range ids {
		l, err := s.ledger(id, now)
		if err != nil {
			over[id] = fault.ExecutionCancelled
		} else if code := l.run.Interrupted(now); code != "" {
			over[id] = code
		}
	}
	return over, nil
}

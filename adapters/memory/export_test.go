package memory

import (
	"time"

	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
)

// Plant replaces a stored value and leaves its expiry. It reports whether there was one.
func (s *Store) Plant(key invocation.Key, value []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.runs[key.RunID]
	if l == nil || l.calls[key.ToolCallID] == nil {
		return false
	}
	l.calls[key.ToolCallID].value = value
	return true
}

// Stored returns what is stored under a key, nil when nothing is, and when it expires.
func (s *Store) Stored(key invocation.Key) ([]byte, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	l, err := s.ledger(key.RunID, now)
	if err != nil || l.calls[key.ToolCallID] == nil {
		return nil, time.Time{}
	}
	c := l.calls[key.ToolCallID]
	if !now.Before(c.expires) {
		return nil, time.Time{}
	}
	return c.value, c.expires
}

// RunExpires returns when a run is forgotten; the zero time for a run that is not there.
func (s *Store) RunExpires(id run.ID) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs[id] == nil {
		return time.Time{}
	}
	return s.runs[id].expires
}

// Size returns how many runs and records hold memory.
func (s *Store) Size() (runs, records int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.runs {
		for _, c := range l.calls {
			if c.value != nil {
				records++
			}
		}
	}
	return len(s.runs), records
}

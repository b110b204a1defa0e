package fake

import (
	"sync"
	"time"

	"github.com/toolboundary/toolboundary/ports"
)

// Clock is a clock that moves only when it is told to.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

var _ ports.Clock = (*Clock)(nil)

// NewClock returns a clock that shows now.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock on by d and returns the new time. It panics when d is negative: a clock
// does not go back.
func (c *Clock) Advance(d time.Duration) time.Time {
	if d < 0 {
		panic("fake: a clock does not go back")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

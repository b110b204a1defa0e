package storetest

import (
	"sync"
	"time"
)

// crowd makes a race certain. A store that reads before it writes reads what was there when the
// callers came, and holds each of them until every other one is held, too, or has its answer.
type crowd struct {
	r *reference

	mu            sync.Mutex
	present, held int
	open          chan struct{}
	before        *model
	at            time.Time
}

// gather says that n callers come at once.
func (c *crowd) gather(n int) {
	before, at := c.r.snapshot()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.present, c.held, c.open = n, 0, make(chan struct{})
	c.before, c.at = before, at
}

// leave says that one of them has its answer.
func (c *crowd) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.present--
	c.release()
}

// hold returns once every caller is held or has left, and at once when there is no crowd.
func (c *crowd) hold() {
	c.mu.Lock()
	if c.present == 0 {
		c.mu.Unlock()
		return
	}
	c.held++
	open := c.open
	c.release()
	c.mu.Unlock()
	<-open
}

func (c *crowd) release() {
	if c.held > 0 && c.held == c.present {
		close(c.open)
		c.held, c.open = 0, make(chan struct{})
	}
}

// read returns what a store that reads before it writes has read: what was there when the crowd
// came, or what is there now.
func (c *crowd) read() (*model, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.present > 0 {
		return c.before.clone(), c.at
	}
	return c.r.snapshot()
}

func (r *reference) snapshot() (*model, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.model.clone(), r.at
}

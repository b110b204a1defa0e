package kit

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// patience ends the context of a case that Violations runs: an adapter that is broken may
// keep a body waiting for what never comes.
const patience = time.Minute

// collector is a T that collects failures.
type collector struct {
	ctx context.Context

	mu       sync.Mutex
	failures []string
	cleanups []func()
}

var _ T = (*collector)(nil)

func (c *collector) Errorf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures = append(c.failures, fmt.Sprintf(format, args...))
}

func (c *collector) FailNow() {
	c.mu.Lock()
	if len(c.failures) == 0 {
		c.failures = append(c.failures, "FailNow")
	}
	c.mu.Unlock()
	runtime.Goexit()
}

func (c *collector) Helper()                  {}
func (c *collector) Logf(string, ...any)      {}
func (c *collector) Context() context.Context { return c.ctx }

func (c *collector) Cleanup(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cleanups = append(c.cleanups, f)
}

// collect runs the body and its cleanups and returns what failed.
func (c Case[S]) collect(ctx context.Context, subject S) []string {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	t := &collector{ctx: ctx}
	t.guard(func() { c.Body(t, subject) })
	cancel()
	for _, f := range slices.Backward(t.cleanups) {
		t.guard(f)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failures
}

// guard runs f on another goroutine, which FailNow may end, and waits for it.
func (c *collector) guard(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer recovered(c)
		f()
	}()
	<-done
}

// recovered, deferred, turns a panic into a failure of the case.
func recovered(t T) {
	if p := recover(); p != nil {
		t.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

// Catch returns what f returns, or an error that says how f panicked. A body that starts goroutines
// calls the adapter through it: a panic there would otherwise end the whole test binary.
func Catch(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

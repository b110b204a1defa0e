// Package slots bounds how many calls a data source executes at once. Every executor that reads
// a data source takes a slot of it first, so that agents cannot crowd the source.
package slots

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// Slots are the slots of one data source. They are safe for concurrent use.
type Slots struct {
	free *semaphore.Weighted
	n    int
	wait time.Duration
	open context.Context // ends when Close is called
	shut context.CancelFunc
}

// DefaultWait is how long a call waits for a free slot when New is not told.
const DefaultWait = time.Second

// New returns n free slots. A call waits for one at most wait; zero means DefaultWait.
func New(n int, wait time.Duration) *Slots {
	if wait <= 0 {
		wait = DefaultWait
	}
	open, shut := context.WithCancel(context.Background())
	return &Slots{semaphore.NewWeighted(int64(n)), n, wait, open, shut}
}

// Take waits for a free slot and returns what frees it again. It returns DATA_SOURCE_BUSY with
// reason NO_FREE_SESSION when none gets free in time, DATA_SOURCE_UNAVAILABLE with reason CLOSED
// after Close, and the context's own fault when ctx has ended.
func (s *Slots) Take(ctx context.Context) (release func(), err error) {
	// An ended context takes no slot, also when one is free.
	if err := ctx.Err(); err != nil {
		return nil, fault.Of(err)
	}
	if s.open.Err() == nil && s.free.TryAcquire(1) {
		return s.release, nil
	}
	waiting, stop := context.WithTimeout(ctx, s.wait)
	defer stop()
	defer context.AfterFunc(s.open, stop)()
	err = s.free.Acquire(waiting, 1)
	switch {
	case s.open.Err() != nil:
		if err == nil {
			s.release()
		}
		return nil, fault.Because(fault.DataSourceUnavailable, "CLOSED", "")
	case err == nil:
		return s.release, nil
	case ctx.Err() != nil:
		return nil, fault.Of(ctx.Err())
	default:
		return nil, fault.Because(fault.DataSourceBusy, "NO_FREE_SESSION", "")
	}
}

func (s *Slots) release() { s.free.Release(1) }

// Full reports whether no slot is free now.
func (s *Slots) Full() bool {
	if !s.free.TryAcquire(1) {
		return true
	}
	s.release()
	return false
}

// Close lets no further call take a slot and waits until all are free. It returns the context's
// error when ctx ended first. Repeating it is harmless.
func (s *Slots) Close(ctx context.Context) error {
	s.shut()
	if err := s.free.Acquire(ctx, int64(s.n)); err != nil {
		return err
	}
	s.free.Release(int64(s.n))
	return nil
}

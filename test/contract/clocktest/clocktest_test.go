package clocktest_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/clocktest"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// clock is a function that tells the time.
type clock func() time.Time

func (c clock) Now() time.Time { return c() }

// subject is a clock that is read in a bubble, where time passes for those who sleep.
func subject(fresh func() ports.Clock) clocktest.Subject {
	return clocktest.Subject{New: func(kit.T) clocktest.Instance {
		return clocktest.Instance{Clock: fresh(), Unit: time.Second, Advance: time.Sleep}
	}}
}

func violationsOf(t *testing.T, fresh func() ports.Clock) (broken map[string][]string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { broken = clocktest.Violations(t.Context(), subject(fresh)) })
	return broken
}

func TestAClockPasses(t *testing.T) {
	require.Empty(t, violationsOf(t, func() ports.Clock { return clock(time.Now) }))
}

func TestBrokenClocksAreCaught(t *testing.T) {
	for name, c := range map[string]struct {
		fresh  func() ports.Clock
		breaks string
	}{
		"stands still": {func() ports.Clock {
			at := time.Now()
			return clock(func() time.Time { return at })
		}, "Now/MovesOn"},
		"is slow": {func() ports.Clock {
			at := time.Now()
			return clock(func() time.Time { return at.Add(time.Since(at) / 2) })
		}, "Now/MovesOn"},
		"is set back once": {func() ports.Clock {
			var readings atomic.Int64
			return clock(func() time.Time {
				if readings.Add(1) > 200 {
					return time.Now().Add(-time.Hour)
				}
				return time.Now()
			})
		}, "Now/IsSafeForConcurrentUse Now/NeverGoesBack"},
		"is for one caller at a time": {func() ports.Clock {
			var busy sync.Mutex
			return clock(func() time.Time {
				if !busy.TryLock() {
					panic("called twice at once")
				}
				defer busy.Unlock()
				time.Sleep(time.Millisecond) // the others come meanwhile
				return time.Now()
			})
		}, "Now/IsSafeForConcurrentUse"},
	} {
		t.Run(name, func(t *testing.T) {
			broken := violationsOf(t, c.fresh)
			require.Equal(t, c.breaks, strings.Join(kit.Names(broken), " "), "%v", broken)
		})
	}
}

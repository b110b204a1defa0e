// Package clocktest holds the contract of ports.Clock.
package clocktest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// Subject is what a clock provides to be tested.
type Subject struct {
	// New returns a clock.
	New func(t kit.T) Instance
	// Exceptions maps cases that the clock is known to break to the reason.
	Exceptions map[string]string
}

// Instance is one clock under test.
type Instance struct {
	Clock ports.Clock
	// Unit is a time that the clock can measure and that is short to wait for.
	Unit time.Duration
	// Advance returns once d has passed on the clock. It may be called while the clock is read.
	Advance func(d time.Duration)
}

// Suite is the contract.
func Suite() kit.Suite[Subject] {
	return kit.Suite[Subject]{Cases: []kit.Case[Subject]{
		{Name: "Now/NeverGoesBack",
			Rule:     "No time is before one that was returned earlier.",
			Promises: []string{"Clock.Now#1"}, Body: neverGoesBack},
		{Name: "Now/MovesOn",
			Rule:     "Once d has passed the time is later by d at least.",
			Promises: []string{"Clock.Now#2"}, Body: movesOn},
		{Name: "Now/IsSafeForConcurrentUse",
			Rule:     "Many may read the clock at once while time passes, and for none of them it goes back.",
			Promises: []string{"Clock.Now#1", "Clock.Now#3"}, Body: concurrently},
	}}
}

// Test tests a clock. Run it under the race detector, too.
func Test(t *testing.T, subject Subject) {
	t.Helper()
	Suite().Test(t, subject, subject.Exceptions)
}

// Violations returns the cases that a clock breaks.
func Violations(ctx context.Context, subject Subject) map[string][]string {
	return Suite().Violations(ctx, subject)
}

func neverGoesBack(t kit.T, subject Subject) {
	in := subject.New(t)
	last := in.Clock.Now()
	for i := range 1000 {
		if i%100 == 99 {
			in.Advance(in.Unit)
		}
		now := in.Clock.Now()
		require.False(t, now.Before(last), "reading %d is %s, after one of %s", i, now, last)
		last = now
	}
}

func movesOn(t kit.T, subject Subject) {
	in := subject.New(t)
	for range 3 {
		before := in.Clock.Now()
		in.Advance(in.Unit)
		require.GreaterOrEqual(t, in.Clock.Now().Sub(before), in.Unit)
	}
}

func concurrently(t kit.T, subject Subject) {
	in := subject.New(t)
	var (
		mu     sync.Mutex
		latest time.Time
		all    sync.WaitGroup
	)
	read := func() error {
		mu.Lock()
		before := latest
		mu.Unlock()
		now := in.Clock.Now()
		if now.Before(before) {
			return errors.New("a reading is before one that another caller had already")
		}
		mu.Lock()
		defer mu.Unlock()
		if now.After(latest) {
			latest = now
		}
		return nil
	}
	failed := make([]error, 8)
	for i := range failed {
		all.Go(func() {
			for range 500 {
				if failed[i] = kit.Catch(read); failed[i] != nil {
					return
				}
			}
		})
	}
	for range 5 {
		in.Advance(in.Unit)
	}
	all.Wait()
	for _, err := range failed {
		require.NoError(t, err)
	}
}

// Package storetest is the contract of the store: runs, invocations, refusals and
// cancellations. Every MUST of ports/store.go is a case here, and every store adapter passes
// them all, so that a scenario proved on one store is proved on each.
//
// Test tests an adapter, Machine compares it with a model over random histories, and Violations
// tests the suite itself against stores that are broken on purpose.
package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// Subject is what an adapter provides to be tested.
type Subject struct {
	// New returns a store with nothing in it, which ends with t.
	New func(t kit.T) Instance
	// Exceptions names the cases that the adapter is known to break, each with the reason.
	Exceptions map[string]string
}

// Instance is one store under test, with a view behind its back.
type Instance struct {
	Store ports.Store
	// Other is a second process's view of the same store; it may be Store itself.
	Other ports.Store
	// Unit is a time that is short to wait for and yet much longer than a few calls of the
	// store: the cases measure leases, deadlines and lives with it.
	Unit time.Duration
	// Patience bounds how long a case waits for a notice, not how fast one must come;
	// default 10 s.
	Patience time.Duration
	// Advance returns once d has passed on the store's clock.
	Advance func(t kit.T, d time.Duration)
	// Now returns the time of the store's clock.
	Now func(t kit.T) time.Time
	// Plant replaces the stored value of a record that exists and keeps its expiry.
	Plant func(t kit.T, key invocation.Key, value []byte)
	// Stored returns the stored value and its absolute expiry, or nil when there is none.
	Stored func(t kit.T, key invocation.Key) ([]byte, time.Time)
	// RunExpires returns the absolute time at which the run is forgotten.
	RunExpires func(t kit.T, id run.ID) time.Time
	// Break cuts Store off, and not Other, until heal is called: what Store asks is carried out or
	// not, and no answer comes back. Where a store cannot be cut off it is nil, and the cases that
	// need it are exceptions.
	Break func(t kit.T) (heal func())
	// BreakRun cuts off only what keeps this run. It is nil where all runs are kept in one place.
	BreakRun func(t kit.T, id run.ID) (heal func())

	// crowd is for this package's own tests; it is told of callers that come at once.
	crowd interface {
		gather(n int)
		leave()
	}
}

// Suite returns the cases.
func Suite() kit.Suite[Subject] {
	return kit.Suite[Subject]{Parallel: true, Cases: slices.Concat(
		runCases, beginCases, budgetCases, settleCases, settleRaceCases, loadCases, lifeCases, lostCases,
		refusalCases, watchCases, breakCases, versionCases,
	)}
}

// Test tests an adapter: one subtest for each case.
func Test(t *testing.T, subject Subject) {
	t.Helper()
	s := Suite()
	t.Cleanup(func() {
		if !t.Failed() {
			t.Logf("the store keeps %d promises", len(s.Cases)-len(subject.Exceptions))
		}
	})
	s.Test(t, subject, subject.Exceptions)
}

// Violations returns the cases that a store breaks, each with what it failed with.
func Violations(ctx context.Context, subject Subject) map[string][]string {
	return Suite().Violations(ctx, subject)
}

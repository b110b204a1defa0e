// Package kit runs contract suites: a suite is data, each case a name, a rule in one sentence
// and a body.
//
// It has two entrances. Suite.Test tests an adapter under *testing.T. Suite.Violations returns
// the names of the cases that an adapter breaks, so that a suite can itself be tested against
// adapters that are broken on purpose. A known deviation is an exception with a reason: it is
// printed, the case still runs, and an exception that is no longer needed fails.
package kit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// T is what the body of a case sees: a part of *testing.T, enough for testify's require.
// A body fails only through it; Context ends just before the cleanups run.
type T interface {
	Errorf(format string, args ...any)
	FailNow()
	Helper()
	Logf(format string, args ...any)
	Context() context.Context
	Cleanup(f func())
}

var _ T = (*testing.T)(nil)

// Case is one promise of a port and the test of it.
type Case[S any] struct {
	// Name is stable and names the subject first: "Load/DoesNotRenewTTL".
	Name string
	// Rule says what must hold, in one sentence; it is printed when the case fails.
	Rule string
	// Scenarios are the numbers of the scenarios that the case proves, such as "S18".
	Scenarios []string
	// Promises names the promises of the port that the case proves: "Invocations.Begin#2" is the
	// second MUST in the comment of that method, "Store#1" the first in the comment of that type.
	Promises []string
	// Body tests the rule on the subject. Every body starts from a fresh state and must end
	// by itself, whatever the adapter does.
	Body func(t T, subject S)
}

// Suite is the contract of one port; S is what an adapter provides to be tested.
type Suite[S any] struct {
	Cases []Case[S]
	// Parallel runs the cases of Test side by side; Violations runs them one by one.
	Parallel bool
}

var (
	nameForm     = regexp.MustCompile(`^[A-Z]\w*/[A-Z]\w*$`)
	scenarioForm = regexp.MustCompile(`^S\d\d$`)
	promiseForm  = regexp.MustCompile(`^[A-Z]\w*(\.[A-Z]\w*)?#[1-9]\d*$`)
)

// Check returns an error for a suite with a case that has no name of the form Subject/Promise,
// no rule, no body, a scenario or a promise of an unknown form, or a name that is used twice, and
// for an exception without a reason or without a case.
func (s Suite[S]) Check(exceptions map[string]string) error {
	seen := map[string]bool{}
	for _, c := range s.Cases {
		if err := c.check(); err != nil {
			return fmt.Errorf("case %q: %w", c.Name, err)
		}
		if seen[c.Name] {
			return fmt.Errorf("case %q: the name is used twice", c.Name)
		}
		seen[c.Name] = true
	}
	for name, reason := range exceptions {
		if !seen[name] || reason == "" {
			return fmt.Errorf("exception %q: it needs a case of that name and a reason", name)
		}
	}
	return nil
}

func (c Case[S]) check() error {
	switch {
	case !nameForm.MatchString(c.Name):
		return errors.New("a name has the form Subject/Promise")
	case c.Rule == "":
		return errors.New("it has no rule")
	case c.Body == nil:
		return errors.New("it has no body")
	}
	for _, n := range c.Scenarios {
		if !scenarioForm.MatchString(n) {
			return fmt.Errorf("a scenario has the form S01, not %q", n)
		}
	}
	for _, p := range c.Promises {
		if !promiseForm.MatchString(p) {
			return fmt.Errorf("a promise has the form Type.Method#1, not %q", p)
		}
	}
	return nil
}

// Test tests an adapter: one subtest for each case. exceptions maps the name of a case that the
// adapter is known to break to the reason. A case that panics fails; the others still run.
func (s Suite[S]) Test(t *testing.T, subject S, exceptions map[string]string) {
	t.Helper()
	if err := s.Check(exceptions); err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Cases {
		t.Run(strings.Join(append([]string{c.Name}, c.Scenarios...), "_"), func(t *testing.T) {
			if s.Parallel {
				t.Parallel()
			}
			if reason, ok := exceptions[c.Name]; ok {
				c.except(t, subject, reason)
				return
			}
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("%s breaks the rule: %s", c.Name, c.rule())
				}
			})
			defer recovered(t)
			c.Body(t, subject)
		})
	}
}

// rule returns the rule with the promises behind it.
func (c Case[S]) rule() string {
	if len(c.Promises) == 0 {
		return c.Rule
	}
	return fmt.Sprintf("%s (ports: %s)", c.Rule, strings.Join(c.Promises, ", "))
}

func (c Case[S]) except(t *testing.T, subject S, reason string) {
	t.Helper()
	t.Logf("EXCEPTION %s: %s (the rule: %s)", c.Name, reason, c.rule())
	failures := c.collect(t.Context(), subject)
	if len(failures) == 0 {
		t.Errorf("%s holds: remove its exception", c.Name)
	}
	for _, f := range failures {
		t.Logf("as declared: %s", f)
	}
}

// Violations returns the names of the cases that the adapter breaks, sorted, each with what
// it failed with. A panic of a body is a failure of that case.
func (s Suite[S]) Violations(ctx context.Context, subject S) map[string][]string {
	broken := map[string][]string{}
	for _, c := range s.Cases {
		if failures := c.collect(ctx, subject); len(failures) > 0 {
			broken[c.Name] = failures
		}
	}
	return broken
}

// Names returns the sorted names of violations.
func Names(violations map[string][]string) []string {
	return slices.Sorted(maps.Keys(violations))
}

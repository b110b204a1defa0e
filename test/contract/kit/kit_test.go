package kit_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// trail is a subject that keeps what the cases did.
type trail struct{ notes *[]string }

func (s trail) note(text string) { *s.notes = append(*s.notes, text) }

var suite = kit.Suite[trail]{Cases: []kit.Case[trail]{
	{Name: "Good/Passes", Rule: "It passes.", Body: func(t kit.T, _ trail) { require.True(t, true) }},
	{Name: "Bad/Requires", Rule: "It requires.", Scenarios: []string{"S01"},
		Promises: []string{"Port.Method#1", "Port#2"},
		Body: func(t kit.T, subject trail) {
			t.Cleanup(func() { subject.note("first registered, last called") })
			t.Cleanup(func() { subject.note("cleaned"); require.Error(t, t.Context().Err()) })
			require.NoError(t, t.Context().Err())
			require.Equal(t, 1, 2)
			subject.note("never reached")
		}},
	{Name: "Bad/Panics", Rule: "It panics.", Body: func(kit.T, trail) { panic("no") }},
	{Name: "Bad/FailsNow", Rule: "It fails without words.", Body: func(t kit.T, _ trail) { t.FailNow() }},
}}

func TestViolationsNamesWhatFails(t *testing.T) {
	var notes []string
	broken := suite.Violations(t.Context(), trail{&notes})
	require.Equal(t, []string{"Bad/FailsNow", "Bad/Panics", "Bad/Requires"}, kit.Names(broken))
	require.Len(t, broken["Bad/Requires"], 1)
	require.Equal(t, []string{"cleaned", "first registered, last called"}, notes)
}

func TestDeclaredExceptionsDoNotFail(t *testing.T) {
	var notes []string
	const reason = "it is bad on purpose"
	suite.Test(t, trail{&notes}, map[string]string{"Bad/Requires": reason, "Bad/Panics": reason,
		"Bad/FailsNow": reason})
}

func TestCheckRefusesBadSuites(t *testing.T) {
	good := kit.Case[trail]{Name: "A/B", Rule: "r", Scenarios: []string{"S18"}, Promises: []string{"P.M#1", "P#12"},
		Body: func(kit.T, trail) {}}
	check := func(exceptions map[string]string, cases ...kit.Case[trail]) error {
		return kit.Suite[trail]{Cases: cases}.Check(exceptions)
	}
	require.NoError(t, check(nil, good))
	require.NoError(t, check(map[string]string{"A/B": "why"}, good))
	require.ErrorContains(t, check(nil, good, good), "used twice")
	require.ErrorContains(t, check(map[string]string{"A/C": "no such case"}, good), "A/C")
	require.ErrorContains(t, check(map[string]string{"A/B": ""}, good), "reason")
	for name, c := range map[string]struct {
		change func(*kit.Case[trail])
		says   string
	}{
		"name":     {func(c *kit.Case[trail]) { c.Name = "good" }, "Subject/Promise"},
		"rule":     {func(c *kit.Case[trail]) { c.Rule = "" }, "no rule"},
		"body":     {func(c *kit.Case[trail]) { c.Body = nil }, "no body"},
		"scenario": {func(c *kit.Case[trail]) { c.Scenarios = []string{"18"} }, `"18"`},
		"promise":  {func(c *kit.Case[trail]) { c.Promises = []string{"P.M"} }, `"P.M"`},
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			c.change(&bad)
			require.ErrorContains(t, check(nil, bad), c.says)
		})
	}
}

func TestCatchTurnsAPanicIntoAnError(t *testing.T) {
	failed := errors.New("failed")
	require.NoError(t, kit.Catch(func() error { return nil }))
	require.Equal(t, failed, kit.Catch(func() error { return failed }))
	require.ErrorContains(t, kit.Catch(func() error { panic("no") }), "panic: no")
}

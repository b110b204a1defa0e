package kit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/contract/kit"
)

type harness struct{ trail *[]string }

func (h harness) note(s string) { *h.trail = append(*h.trail, s) }

var suite = kit.Suite[harness]{Cases: []kit.Case[harness]{
	{Name: "Good/Passes", Rule: "It passes.", Body: func(t kit.T, h harness) { require.True(t, true) }},
	{Name: "Bad/Requires", Rule: "It requires.", Scenarios: []string{"S01"}, Body: func(t kit.T, h harness) {
		t.Cleanup(func() { h.note("first registered, last run") })
		t.Cleanup(func() { h.note("cleaned"); require.Error(t, t.Context().Err()) })
		require.NoError(t, t.Context().Err())
		require.Equal(t, 1, 2)
		h.note("never reached")
	}},
	{Name: "Bad/Panics", Rule: "It panics.", Body: func(kit.T, harness) { panic("no") }},
	{Name: "Bad/FailsNow", Rule: "It fails without words.", Body: func(t kit.T, _ harness) { t.FailNow() }},
}}

func TestViolationsNamesWhatFails(t *testing.T) {
	var trail []string
	broken := suite.Violations(t.Context(), harness{&trail})
	require.Equal(t, []string{"Bad/FailsNow", "Bad/Panics", "Bad/Requires"}, kit.Names(broken))
	require.Len(t, broken["Bad/Requires"], 1)
	require.Equal(t, []string{"cleaned", "first registered, last run"}, trail)
}

func TestRunPrintsDeclaredExceptions(t *testing.T) {
	var trail []string
	suite.Run(t, harness{&trail}, map[string]string{
		"Bad/Requires": "it is bad on purpose", "Bad/Panics": "it is bad on purpose", "Bad/FailsNow": "it is bad on purpose",
	})
}

func TestCheckRefusesBadSuites(t *testing.T) {
	body := func(kit.T, harness) {}
	for name, c := range map[string]kit.Case[harness]{
		"name":     {Name: "good", Rule: "r", Body: body},
		"rule":     {Name: "A/B", Body: body},
		"scenario": {Name: "A/B", Rule: "r", Scenarios: []string{"18"}, Body: body},
	} {
		require.Error(t, kit.Suite[harness]{Cases: []kit.Case[harness]{c}}.Check(nil), name)
	}
	good := kit.Case[harness]{Name: "A/B", Rule: "r", Scenarios: []string{"S18"}, Body: body}
	require.NoError(t, kit.Suite[harness]{Cases: []kit.Case[harness]{good}}.Check(map[string]string{"A/B": "why"}))
	require.Error(t, kit.Suite[harness]{Cases: []kit.Case[harness]{good, good}}.Check(nil))
	require.Error(t, kit.Suite[harness]{Cases: []kit.Case[harness]{good}}.Check(map[string]string{"A/C": "no such case"}))
	require.Error(t, kit.Suite[harness]{Cases: []kit.Case[harness]{good}}.Check(map[string]string{"A/B": ""}))
}

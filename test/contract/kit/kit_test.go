package kit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/contract/kit"
)

type subject struct{ trail *[]string }

func (h subject) note(s string) { *h.trail = append(*h.trail, s) }

var suite = kit.Suite[subject]{Cases: []kit.Case[subject]{
	{Name: "Good/Passes", Rule: "It passes.", Body: func(t kit.T, h subject) { require.True(t, true) }},
	{Name: "Bad/Requires", Rule: "It requires.", Scenarios: []string{"S01"}, Body: func(t kit.T, h subject) {
		t.Cleanup(func() { h.note("first registered, last run") })
		t.Cleanup(func() { h.note("cleaned"); require.Error(t, t.Context().Err()) })
		require.NoError(t, t.Context().Err())
		require.Equal(t, 1, 2)
		h.note("never reached")
	}},
	{Name: "Bad/Panics", Rule: "It panics.", Body: func(kit.T, subject) { panic("no") }},
	{Name: "Bad/FailsNow", Rule: "It fails without words.", Body: func(t kit.T, _ subject) { t.FailNow() }},
}}

func TestViolationsNamesWhatFails(t *testing.T) {
	var trail []string
	broken := suite.Violations(t.Context(), subject{&trail})
	require.Equal(t, []string{"Bad/FailsNow", "Bad/Panics", "Bad/Requires"}, kit.Names(broken))
	require.Len(t, broken["Bad/Requires"], 1)
	require.Equal(t, []string{"cleaned", "first registered, last run"}, trail)
}

func TestRunPrintsDeclaredExceptions(t *testing.T) {
	var trail []string
	suite.Test(t, subject{&trail}, map[string]string{
		"Bad/Requires": "it is bad on purpose", "Bad/Panics": "it is bad on purpose", "Bad/FailsNow": "it is bad on purpose",
	})
}

func TestCheckRefusesBadSuites(t *testing.T) {
	body := func(kit.T, subject) {}
	for name, c := range map[string]kit.Case[subject]{
		"name":     {Name: "good", Rule: "r", Body: body},
		"rule":     {Name: "A/B", Body: body},
		"scenario": {Name: "A/B", Rule: "r", Scenarios: []string{"18"}, Body: body},
	} {
		require.Error(t, kit.Suite[subject]{Cases: []kit.Case[subject]{c}}.Check(nil), name)
	}
	good := kit.Case[subject]{Name: "A/B", Rule: "r", Scenarios: []string{"S18"}, Body: body}
	require.NoError(t, kit.Suite[subject]{Cases: []kit.Case[subject]{good}}.Check(map[string]string{"A/B": "why"}))
	require.Error(t, kit.Suite[subject]{Cases: []kit.Case[subject]{good, good}}.Check(nil))
	require.Error(t, kit.Suite[subject]{Cases: []kit.Case[subject]{good}}.Check(map[string]string{"A/C": "no such case"}))
	require.Error(t, kit.Suite[subject]{Cases: []kit.Case[subject]{good}}.Check(map[string]string{"A/B": ""}))
}

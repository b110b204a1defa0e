package strictyaml_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

func TestReportWithoutAFile(t *testing.T) {
	report := strictyaml.NewReport()
	require.NoError(t, report.Err("environment"))
	report.Root().Key("A").Warn("It is odd.", "Change it.")
	require.NoError(t, report.Err("environment"), "a warning is not an error")
	require.Equal(t, []strictyaml.Problem{{Path: "A", Message: "It is odd.", Fix: "Change it."}}, report.Warnings())
	report.Root().Key("A").Problem("It is wrong.", "Remove it.")
	require.EqualError(t, report.Err("environment"),
		"environment: 1 problem\nenvironment: A: It is wrong.\n    fix: Remove it.")
	report.Root().Key("B").Index(2).Problem("It is wrong too.", "Remove it too.")
	err := report.Err("")
	require.EqualError(t, err, "configuration: 2 problems\n"+
		"configuration: A: It is wrong.\n    fix: Remove it.\n"+
		"configuration: B[2]: It is wrong too.\n    fix: Remove it too.")
	var problems *strictyaml.Problems
	require.ErrorAs(t, err, &problems)
	require.Len(t, problems.Warnings, 1)
}

func TestTextOfAProblem(t *testing.T) {
	p := strictyaml.Problem{Path: "a.b", Line: 7, Message: "It is wrong.", Fix: "Remove it."}
	require.Equal(t, "f.yaml:7: a.b: It is wrong.\n    fix: Remove it.", p.Text("f.yaml"))
	p = strictyaml.Problem{Message: "It is wrong.", Fix: "Remove it."}
	require.Equal(t, "f.yaml: It is wrong.\n    fix: Remove it.", p.Text("f.yaml"))
}

// What is said about a value that could not be read, or below it, is dropped; what is above or
// beside it is not.
func TestUnreadable(t *testing.T) {
	report := strictyaml.NewReport()
	root := report.Root()
	at := root.Key("a").Key("b")
	at.Unreadable("It cannot be read.", "Rewrite it.")
	require.True(t, at.IsUnreadable())
	require.True(t, root.Key("a").Key("b").Key("c").Index(1).IsUnreadable(), "by its path")
	require.False(t, root.Key("a").IsUnreadable())
	require.False(t, root.Key("a").Key("bb").IsUnreadable())
	at.Key("c").Problem("It is wrong.", "Remove it.")
	at.Warn("It is odd.", "Change it.")
	root.Key("a").Problem("The section is wrong.", "Remove it.")
	root.Key("a").Key("d").Warn("This is odd.", "Change this.")
	require.Equal(t, []string{"a.b", "a"}, paths(problemsFrom(t, report.Err(""))))
	require.Equal(t, []string{"a.d"}, paths(report.Warnings()))
}

func TestLinesAndGiven(t *testing.T) {
	_, report, err := parse(minimal + "items:\n  - id: a\n  - id: b\n    count: 1\n")
	require.NoError(t, err)
	for path, line := range map[string]int{
		"": 1, "name": 1, "items": 3, "items[0]": 4, "items[1].id": 5, "items[1].count": 6,
		"items[0].count": 4, "items[7]": 3, "items[1].id.x.y": 5, "nothing": 0,
	} {
		require.Equal(t, line, report.Line(path), path)
	}
	_, list := strictyaml.Parse([]byte("# a list\n[a]"), strictyaml.Options{})
	require.Equal(t, 2, list.Line("[1].x"), "the root of a list")
	root := report.Root()
	require.True(t, root.Key("items").Index(1).Key("count").Given())
	require.False(t, root.Key("items").Index(0).Key("count").Given())
	require.Equal(t, 0, strictyaml.NewReport().Line("a"))
}

func TestPlaceOfASecret(t *testing.T) {
	for text, want := range map[string]string{
		"password_file: absent": "password_file", "password_env: TILL": "password_env", "": "password_env",
	} {
		_, report, _ := parse("name: shop\n" + text)
		report.Root().Secret("password").Warn("It is odd.", "Change it.")
		if at := report.Warnings(); len(at) > 0 {
			require.Equal(t, want, at[0].Path)
		} else {
			require.Equal(t, "password_file", want, "only the file cannot be read")
		}
	}
}

// A path is one short line, whatever the key is.
func TestPathsAreShortAndPlain(t *testing.T) {
	report := strictyaml.NewReport()
	for _, name := range []string{strings.Repeat("x", 96), strings.Repeat("x", 97), "a\nb", `a"b`, "日本"} {
		report.Root().Key(name).Problem("It is wrong.", "Remove it.")
	}
	require.Equal(t, []string{strings.Repeat("x", 96), strings.Repeat("x", 96) + "…", `a\nb`, `a"b`, "日本"},
		paths(problemsFrom(t, report.Err(""))))
}

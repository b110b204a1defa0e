package docs

import (
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

const scenarios = "docs/scenarios.md"

var (
	// entry is the beginning of a scenario's entry.
	entry = regexp.MustCompile(`(?m)^- \*\*(S\d\d)\*\* \S`)
	// word is a run of letters and digits; the underscores of a test's name separate words.
	word = regexp.MustCompile(`[A-Za-z0-9]+`)
	// numbers is a word that is a scenario's number, or a name that ends in some: TestOracleS33S40.
	numbers = regexp.MustCompile(`^(?:[A-Za-z0-9]*[a-z])?((?:S\d\d)+)$`)
	number  = regexp.MustCompile(`S\d\d`)
)

// mentions returns the scenarios that a text names, sorted.
func mentions(text string) []string {
	found := map[string]bool{}
	for _, w := range word.FindAllString(text, -1) {
		if m := numbers.FindStringSubmatch(w); m != nil {
			for _, n := range number.FindAllString(m[1], -1) {
				found[n] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// isTest reports whether a file is a test, a test's script or a part of a contract suite.
// Package docs does not count: it proves no scenario.
func isTest(file string) bool {
	switch {
	case strings.HasPrefix(file, "test/docs/"), strings.HasSuffix(file, ".md"):
		return false
	default:
		return strings.HasPrefix(file, "test/") || strings.HasSuffix(file, "_test.go")
	}
}

// audit compares the entries with what the tree names, and returns what is wrong, sorted.
func audit(t *testing.T, tree fs.FS) []string {
	t.Helper()
	var wrong []string
	listed, proved := map[string]bool{}, map[string]bool{}
	for _, m := range entry.FindAllStringSubmatch(read(t, tree, scenarios), -1) {
		if listed[m[1]] {
			wrong = append(wrong, m[1]+" has more than one entry")
		}
		listed[m[1]] = true
	}
	for _, file := range files(t, tree, ".go", ".lua", ".md", ".txtar") {
		for _, n := range mentions(read(t, tree, file)) {
			if !listed[n] {
				wrong = append(wrong, n+" has no entry and is named by "+file)
			}
			proved[n] = proved[n] || isTest(file)
		}
	}
	for n := range listed {
		if !proved[n] {
			wrong = append(wrong, n+" is named by no test")
		}
	}
	slices.Sort(wrong)
	return wrong
}

func TestEveryScenarioIsListedAndProved(t *testing.T) {
	require.Empty(t, audit(t, repository()), "entries of %s", scenarios)
}

// TestTheAuditFindsWhatIsWrong writes § for S, so that this file itself names no scenario.
func TestTheAuditFindsWhatIsWrong(t *testing.T) {
	tree := fstest.MapFS{}
	for name, text := range map[string]string{
		scenarios: "Numbers.\n\n- **§01** One.\n- **§02** Two.\n- **§03** Three.\n- **§03** Three " +
			"again.\n- **§04**\n",
		"a/a.go":                 "package a // one (§01), another §91\n",
		"a/a_test.go":            "func Test§01_§02_Names(t *testing.T) {}\nfunc TestEnd§92§93(t *testing.T) {}\n",
		"a/lib.lua":              "-- (§94)\n",
		"a/words.go":             "package a // §HA256, H§256, §100, 42§02, PA§§01, §01x, §3\n",
		"test/docs/self_test.go": "package docs // §03 is not proved here\n",
		"test/e2e/run.txtar":     "# §95\n",
		"test/README.md":         "§03 is not proved by a page.\n",
		".cache/hidden.go":       "// §96\n",
		"node_modules/a.md":      "§97\n",
	} {
		tree[name] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(text, "§", "S"))}
	}
	require.Equal(t, []string{
		"§03 has more than one entry",
		"§03 is named by no test",
		"§04 has no entry and is named by docs/scenarios.md",
		"§91 has no entry and is named by a/a.go",
		"§92 has no entry and is named by a/a_test.go",
		"§93 has no entry and is named by a/a_test.go",
		"§94 has no entry and is named by a/lib.lua",
		"§95 has no entry and is named by test/e2e/run.txtar",
	}, strings.Split(strings.ReplaceAll(strings.Join(audit(t, tree), "\n"), "S", "§"), "\n"))
}

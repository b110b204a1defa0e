package docs

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// columns is how wide prose may be.
const columns = 120

// fromCode are the pages that are made from code, at least in part; their texts are not wrapped.
var fromCode = []string{"docs/commands.md", "docs/errors.md"}

// wide returns the lines of prose that are wider than columns. Tables and code blocks may be
// as wide as they need.
func wide(t *testing.T, tree fs.FS) []string {
	t.Helper()
	var found []string
	for _, page := range files(t, tree, ".md") {
		if slices.Contains(fromCode, page) {
			continue
		}
		fenced := false
		for i, line := range strings.Split(read(t, tree, page), "\n") {
			start := strings.TrimLeft(line, " ")
			if strings.HasPrefix(start, "```") {
				fenced = !fenced
			}
			if !fenced && !strings.HasPrefix(start, "|") && utf8.RuneCountInString(line) > columns {
				found = append(found, fmt.Sprintf("%s:%d", page, i+1))
			}
		}
	}
	return found
}

func TestProseIsWrapped(t *testing.T) {
	require.Empty(t, wide(t, repository()), "prose is wrapped at %d columns", columns)
}

func TestWideLinesAreFound(t *testing.T) {
	long := strings.Repeat("ä", columns)
	page := strings.Join([]string{long, long + "x", "```", long + "x", "```", "| " + long + " |", "- " + long}, "\n")
	tree := fstest.MapFS{"a.md": {Data: []byte(page)}, fromCode[0]: {Data: []byte(page)}}
	require.Equal(t, []string{"a.md:2", "a.md:7"}, wide(t, tree))
}

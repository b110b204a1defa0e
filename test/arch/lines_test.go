package arch

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The longest line is 140 characters; wrap near 120. A few lines cannot be wrapped, such as a
// struct's tags: at most so many of each 1,000.
const (
	longest  = 140
	inAllOf  = 1000
	mayPass  = 3 // of production code
	mayPassT = 8 // of tests, whose tables hold statements and answers as they are
)

func TestLinesAreShort(t *testing.T) {
	cmd := exec.Command("git", "ls-files", "*.go")
	cmd.Dir = root(t)
	list, err := cmd.Output()
	if err != nil { // not a checkout, as in an archive of the source
		list = listed(t)
	}
	for name, rule := range map[string]struct {
		tests bool
		most  int
	}{"production": {false, mayPass}, "tests": {true, mayPassT}} {
		t.Run(name, func(t *testing.T) {
			var long []string
			lines := 0
			for _, file := range strings.Fields(string(list)) {
				if strings.HasSuffix(file, "_test.go") != rule.tests {
					continue
				}
				text, err := os.ReadFile(filepath.Join(root(t), file))
				if os.IsNotExist(err) {
					continue // deleted and not yet committed
				}
				require.NoError(t, err)
				for i, line := range bytes.Split(text, []byte("\n")) {
					lines++
					if utf8.RuneCount(line) > longest {
						long = append(long, fmt.Sprintf("%s:%d", file, i+1))
					}
				}
			}
			require.Greater(t, lines, 10_000)
			require.LessOrEqual(t, len(long)*inAllOf, rule.most*lines, "too many lines over %d: %s",
				longest, strings.Join(long, "\n"))
		})
	}
}

// listed returns the Go files of the tree.
func listed(t *testing.T) []byte {
	t.Helper()
	var list []string
	err := filepath.WalkDir(root(t), func(path string, d os.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".go" {
			relative, err := filepath.Rel(root(t), path)
			if err != nil {
				return err
			}
			list = append(list, relative)
		}
		return err
	})
	require.NoError(t, err)
	return []byte(strings.Join(list, "\n"))
}

package docs

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheMapNamesEveryDirectory compares the map in test/README.md with the directories below
// test that hold Go code; a directory may stand for those below it, but not for all of contract.
func TestTheMapNamesEveryDirectory(t *testing.T) {
	mapped := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)` \\|").FindAllStringSubmatch(
		read(t, repository(), "test/README.md"), -1) {
		mapped[m[1]] = false
	}
	for _, file := range files(t, repository(), ".go") {
		dir, below := strings.CutPrefix(path.Dir(file), "test/")
		if !below {
			continue
		}
		parts := strings.Split(dir, "/")
		name := parts[0]
		if name == "contract" && len(parts) > 1 {
			name = path.Join(parts[0], parts[1])
		}
		_, known := mapped[name]
		require.True(t, known, "test/README.md has no row for %s, where %s is", name, file)
		mapped[name] = true
	}
	for name, used := range mapped {
		require.True(t, used, "test/README.md has a row for %s, where no code is", name)
	}
}

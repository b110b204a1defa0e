package docs

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	module    = "github.com/toolboundary/toolboundary/"
	stability = "docs/stability.md"
	extension = "test/extension/"
)

// importable is the first cell of a row of the packages that others may import.
var importable = regexp.MustCompile("(?m)^\\| `([a-z0-9/]+?)(/\\.\\.\\.)?` \\|")

// promised returns the packages that others may import, by path; true says that the packages
// below are included.
func promised(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, m := range importable.FindAllStringSubmatch(read(t, repository(), stability), -1) {
		found[m[1]] = m[2] != ""
	}
	require.NotEmpty(t, found)
	return found
}

func mayImport(promised map[string]bool, pkg string) bool {
	if _, ok := promised[pkg]; ok {
		return true
	}
	for ; pkg != "."; pkg = path.Dir(pkg) {
		if promised[pkg] {
			return true
		}
	}
	return false
}

// TestAnOutsideToolImportsStablePackagesOnly holds the page's list to the example that is built
// outside this module.
func TestAnOutsideToolImportsStablePackagesOnly(t *testing.T) {
	allowed := promised(t)
	for pkg := range allowed {
		info, err := fs.Stat(repository(), pkg)
		require.NoError(t, err, "%s lists %s", stability, pkg)
		require.True(t, info.IsDir(), "%s lists %s", stability, pkg)
	}
	imports := 0
	for _, file := range files(t, repository(), ".go") {
		if !strings.HasPrefix(file, extension) {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, read(t, repository(), file), parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			if pkg, ours := strings.CutPrefix(name, module); ours {
				imports++
				require.True(t, mayImport(allowed, pkg), "%s imports %s, which %s does not list", file, pkg, stability)
			}
		}
	}
	require.NotZero(t, imports)
}

func TestOnlyListedPackagesAreStable(t *testing.T) {
	list := map[string]bool{"domain": true, "config": false}
	for pkg, want := range map[string]bool{
		"domain": true, "domain/run": true, "config": true, "config/strictyaml": false, "domains": false,
		"adapters/mysql": false,
	} {
		require.Equal(t, want, mayImport(list, pkg), pkg)
	}
}

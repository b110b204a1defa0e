// Package arch tests the direction of imports: the tree's architecture, enforced.
package arch

import (
	"bytes"
	"encoding/json"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/toolboundary/toolboundary/"

// layer is a part of the tree: what it is called and which parts of the tree it may import,
// directly or not. The first layer whose prefix matches a package is its layer.
type layer struct {
	prefix string
	may    []string
}

var layers = []layer{
	{"domain", []string{"domain"}},
	{"ports", []string{"domain", "ports"}},
	{"application", []string{"domain", "ports", "application"}},
	{"adapters/httpapi", []string{"domain", "ports", "application", "adapters/httpapi"}},
	{"adapters/mcpserver", []string{"domain", "ports", "application", "adapters/mcpserver"}},
	{"adapters/cli", []string{"domain", "ports", "application", "adapters/cli"}},
	{"adapters/agenttoken", []string{"domain", "ports", "application", "adapters/agenttoken"}},
	{"adapters", []string{"domain", "ports"}},            // and itself: see mayImport
	{"config/strictyaml", []string{"config/strictyaml"}}, // knows nothing of the product
	{"config", []string{"domain", "config"}},
	{"test/contract", []string{"domain", "ports", "test/contract"}},
	{"cmd/app/settings", []string{"domain", "ports", "application", "adapters", "config", "cmd/app/settings"}},
	{"cmd/app/commands", []string{"domain", "ports", "application", "adapters", "config", "cmd/app/settings",
		"cmd/app/commands"}},
	{"cmd/app", []string{""}},
	{"test", []string{""}},
}

// banned standard packages of the domain: it does no I/O, keeps no time and starts nothing.
var banned = []string{"net", "net/http", "os", "database/sql", "log", "log/slog", "os/exec", "sync", "math/rand"}

type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

func load(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", "./...")
	cmd.Dir = root(t)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else {
			require.NoError(t, err)
		}
		if strings.HasPrefix(p.ImportPath, module) {
			all = append(all, p)
		}
	}
	require.Greater(t, len(all), 10, "the tree is there")
	return all
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	require.NoError(t, err)
	return dir
}

func within(path, prefix string) bool {
	return prefix == "" || path == prefix || strings.HasPrefix(path, prefix+"/")
}

func layerOf(path string) (layer, bool) {
	for _, l := range layers {
		if within(path, l.prefix) {
			return l, true
		}
	}
	return layer{}, false
}

// mayImport reports whether a package of the tree may depend on another one. An outbound
// adapter may use its own subdirectories and those above it, never a sibling.
func mayImport(from, to string) bool {
	l, ok := layerOf(from)
	if !ok {
		return false
	}
	for _, allowed := range l.may {
		if within(to, allowed) {
			return true
		}
	}
	return l.prefix == "adapters" && (within(to, from) || within(from, to) || sameAdapter(from, to))
}

// sameAdapter reports whether both packages belong to the same directory under adapters, or
// under adapters/projectors.
func sameAdapter(a, b string) bool { return adapter(a) != "" && adapter(a) == adapter(b) }

func adapter(path string) string {
	parts := strings.Split(path, "/")
	n := 2
	if len(parts) > 1 && parts[1] == "projectors" {
		n = 3
	}
	if len(parts) < n || parts[0] != "adapters" {
		return ""
	}
	return strings.Join(parts[:n], "/")
}

func TestImportsPointInwards(t *testing.T) {
	for _, p := range load(t) {
		from := strings.TrimPrefix(p.ImportPath, module)
		_, known := layerOf(from)
		require.True(t, known, "%s belongs to no layer: the top level is fixed", from)
		for _, d := range p.Deps {
			if to, ours := strings.CutPrefix(d, module); ours {
				require.True(t, mayImport(from, to), "%s may not depend on %s", from, to)
			}
		}
	}
}

func TestDomainIsPure(t *testing.T) {
	for _, p := range load(t) {
		from := strings.TrimPrefix(p.ImportPath, module)
		if !within(from, "domain") {
			continue
		}
		for _, i := range p.Imports {
			require.NotContains(t, banned, i, "%s", from)
			require.False(t, strings.Contains(strings.Split(i, "/")[0], ".") && !strings.HasPrefix(i, module),
				"%s imports %s: the domain knows the standard library only", from, i)
		}
	}
}

func TestFxOnlyInBootstrap(t *testing.T) {
	for _, p := range load(t) {
		from := strings.TrimPrefix(p.ImportPath, module)
		if within(from, "cmd/app/bootstrap") {
			continue
		}
		for _, d := range p.Imports {
			require.False(t, strings.HasPrefix(d, "go.uber.org/fx"), "%s imports %s", from, d)
		}
	}
}

func TestRulesTellWrongFromRight(t *testing.T) {
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"domain/run", "domain/fault", true}, {"domain/run", "ports", false}, {"ports", "application", false},
		{"application", "adapters/memory", false}, {"adapters/memory", "ports", true},
		{"adapters/memory", "adapters/redisstore", false},
		{"adapters/memory", "application", false}, {"adapters/mysql", "adapters/mysql/sqlguard", true},
		{"adapters/mysql", "config", false},
		{"adapters/projectors/rows", "adapters/mysql", false},
		{"adapters/projectors/rows", "adapters/projectors/other", false},
		{"adapters/httpapi", "application", true}, {"adapters/httpapi", "adapters/mcpserver", false},
		{"config", "adapters/mysql", false},
		{"config", "config/strictyaml", true}, {"config/strictyaml", "config", false},
		{"config/strictyaml", "domain/limits", false},
		{"adapters/mysql", "config/strictyaml", false}, {"config/strictyaml/more", "config/strictyaml", true},
		{"cmd/app/bootstrap", "config", true}, {"cmd/app/commands", "cmd/app/settings", true},
		{"cmd/app/settings", "cmd/app/commands", false},
		{"cmd/app/commands", "cmd/app/bootstrap", false}, {"adapters/mysql/operator", "adapters/mysql", true},
		{"adapters/apiclient", "config", false},
		{"ports/toolset", "config", false}, {"test/contract/kit", "adapters/memory", false},
		{"elsewhere", "domain", false},
	} {
		require.Equal(t, c.ok, mayImport(c.from, c.to), "%s → %s", c.from, c.to)
	}
}

// TestEveryPackageSaysWhatItIs demands a doc comment of every package.
func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, p := range load(t) {
		dir := filepath.Join(root(t), strings.TrimPrefix(p.ImportPath, module))
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		documented := false
		for _, f := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.PackageClauseOnly|parser.ParseComments)
			require.NoError(t, err)
			documented = documented || parsed.Doc != nil
		}
		require.True(t, documented, "%s has no package comment", p.ImportPath)
	}
}

// TestLongFilesExplainThemselves refuses files over 400 lines that do not say why
// (a comment "Long because …").
func TestLongFilesExplainThemselves(t *testing.T) {
	err := filepath.WalkDir(root(t), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != "." ||
			d.Name() == "node_modules" || d.Name() == "testdata") {
			if err == nil && path != root(t) {
				return filepath.SkipDir
			}
			return err
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Count(text, []byte("\n")) > 400 {
			require.Contains(t, string(text), "Long because", "%s is over 400 lines", path)
		}
		return nil
	})
	require.NoError(t, err)
}

package arch

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// typed returns the module's packages with syntax and types, without their tests.
func typed(t *testing.T) []*packages.Package {
	t.Helper()
	all, err := wholeTree()
	require.NoError(t, err)
	require.Greater(t, len(all), 10, "the tree is there")
	return all
}

var wholeTree = sync.OnceValues(func() ([]*packages.Package, error) { return loadTyped(nil, "./...") })

// loadTyped loads packages; overlay replaces or adds files.
func loadTyped(overlay map[string][]byte, patterns ...string) ([]*packages.Package, error) {
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedImports |
		packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo
	all, err := packages.Load(&packages.Config{Mode: mode, Dir: "../..", Overlay: overlay}, patterns...)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %v", p.PkgPath, p.Errors)
		}
	}
	return all, nil
}

// production are the parts of the tree that are in the binary.
var production = []string{"domain", "ports", "application", "adapters", "config", "cmd/app"}

func inProduction(path string) bool {
	return slices.ContainsFunc(production, func(part string) bool { return within(path, part) })
}

// users returns, for each exported identifier of the domain, the production packages that use it.
// Identifiers are functions, types, variables and constants, and the methods and fields of types.
// A package is no user of its own identifiers, for it is about who else needs them. Fields are
// different: other packages also read them through encoders, and what a rule reads or sets is there
// for more than one adapter.
func users(all []*packages.Package) map[string][]string {
	names := map[types.Object]string{}
	for _, p := range all {
		if path := strings.TrimPrefix(p.PkgPath, module); within(path, "domain") {
			for name, object := range exported(p.Types) {
				names[object] = path + "." + name
			}
		}
	}
	seen := map[string]map[string]bool{}
	for _, name := range names {
		seen[name] = map[string]bool{}
	}
	for _, p := range all {
		path := strings.TrimPrefix(p.PkgPath, module)
		if !inProduction(path) {
			continue
		}
		for _, object := range p.TypesInfo.Uses {
			name, ok := names[origin(object)]
			if v, isVar := object.(*types.Var); ok && (object.Pkg() != p.Types || isVar && v.IsField()) {
				seen[name][path] = true
			}
		}
	}
	by := map[string][]string{}
	for name, paths := range seen {
		by[name] = slices.Sorted(maps.Keys(paths))
	}
	return by
}

// origin returns what was declared of an object that may belong to an instance of a generic type.
func origin(object types.Object) types.Object {
	switch o := object.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	default:
		return object
	}
}

// exported returns a package's exported identifiers by name.
func exported(p *types.Package) map[string]types.Object {
	all := map[string]types.Object{}
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		if object.Exported() {
			all[name] = object
		}
		named, ok := object.Type().(*types.Named)
		if _, isType := object.(*types.TypeName); !isType || !ok {
			continue
		}
		for m := range named.Methods() {
			if m.Exported() {
				all[name+"."+m.Name()] = m
			}
		}
		if s, ok := named.Underlying().(*types.Struct); ok {
			for f := range s.Fields() {
				if f.Exported() {
					all[name+"."+f.Name()] = f
				}
			}
		}
	}
	return all
}

const redisAdapter = "adapters/redisstore"

// allowedForRedis are rules that the Redis adapter applies in a script, where others call the domain.
var allowedForRedis = map[string]string{
	"domain/run.MaxRefusalLog": "run.Refuse keeps as many lines of the log as the script does",
}

// forRedisAlone returns the identifiers that nothing but the Redis adapter uses.
func forRedisAlone(by map[string][]string) []string {
	var alone []string
	for name, paths := range by {
		if slices.Equal(paths, []string{redisAdapter}) {
			alone = append(alone, name)
		}
	}
	slices.Sort(alone)
	return alone
}

// TestNothingInTheDomainIsForRedisAlone keeps the layout of one adapter out of the rules.
func TestNothingInTheDomainIsForRedisAlone(t *testing.T) {
	by := users(typed(t))
	require.Contains(t, by, "domain/run.Run.Deadline")
	require.Greater(t, len(by["domain/run.Run"]), 3, "the analysis finds users: %v", by["domain/run.Run"])
	require.Equal(t, slices.Sorted(maps.Keys(allowedForRedis)), forRedisAlone(by),
		"%s uses these and no other package does: they belong there, or have a reason above", redisAdapter)
}

// TestTheAnalysisFindsWhatIsForRedisAlone adds identifiers to the domain and uses of them.
func TestTheAnalysisFindsWhatIsForRedisAlone(t *testing.T) {
	file := func(path, text string) (string, []byte) { return filepath.Join(root(t), path), []byte(text) }
	overlay := map[string][]byte{}
	for path, text := range map[string]string{
		"domain/run/added.go": `package run
			type Added struct{ ForRedis, ForBoth, ForRules int }
			func (Added) OfRedis() {}
			func (a Added) rule() int { return a.ForRules }
			const OnlyHere = 1
			var _ = OnlyHere`,
		"adapters/redisstore/added.go": `package redisstore
			import "github.com/toolboundary/toolboundary/domain/run"
			func _(a run.Added) int { a.OfRedis(); return a.ForRedis + a.ForBoth + a.ForRules }`,
		"adapters/memory/added.go": `package memory
			import "github.com/toolboundary/toolboundary/domain/run"
			var _ = run.Added{ForBoth: 1}`,
	} {
		name, content := file(path, text)
		overlay[name] = content
	}
	all, err := loadTyped(overlay, "./domain/run", "./adapters/redisstore", "./adapters/memory")
	require.NoError(t, err)
	by := users(all)
	require.Equal(t, []string{"adapters/memory", redisAdapter}, by["domain/run.Added.ForBoth"])
	require.Empty(t, by["domain/run.OnlyHere"])
	alone := forRedisAlone(by)
	require.Contains(t, alone, "domain/run.Added.ForRedis")
	require.Contains(t, alone, "domain/run.Added.OfRedis")
	require.NotContains(t, alone, "domain/run.Added")
	require.NotContains(t, alone, "domain/run.Added.ForRules")
}

// undocumented returns the exported functions, methods, types, variables and constants of a package
// that have no comment; a comment on a group is one on its members.
func undocumented(p *packages.Package) []string {
	var bare []string
	add := func(recv string, documented bool, names ...*ast.Ident) {
		for _, n := range names {
			if n.IsExported() && !documented {
				bare = append(bare, strings.TrimPrefix(p.PkgPath, module)+"."+recv+n.Name)
			}
		}
	}
	for _, f := range p.Syntax {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if recv, ok := receiver(d); ok {
					add(recv, d.Doc != nil, d.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						add("", d.Doc != nil || s.Doc != nil || s.Comment != nil, s.Name)
					case *ast.ValueSpec:
						add("", d.Doc != nil || s.Doc != nil || s.Comment != nil, s.Names...)
					}
				}
			}
		}
	}
	slices.Sort(bare)
	return bare
}

// receiver returns the type that a method belongs to, with a dot, or "" for a function. ok is false
// for a method of a type that is not exported: nobody reads about it.
func receiver(d *ast.FuncDecl) (name string, ok bool) {
	if d.Recv == nil {
		return "", true
	}
	e := d.Recv.List[0].Type
	for {
		switch of := e.(type) {
		case *ast.StarExpr:
			e = of.X
		case *ast.IndexExpr:
			e = of.X
		case *ast.IndexListExpr:
			e = of.X
		case *ast.Ident:
			return of.Name + ".", of.IsExported()
		default:
			return "", false
		}
	}
}

func TestExportedIdentifiersAreDocumented(t *testing.T) {
	var bare []string
	for _, p := range typed(t) {
		bare = append(bare, undocumented(p)...)
	}
	require.Empty(t, bare, "exported and without a comment")
}

// TestDomainHasNoClockAndStartsNothing keeps the domain to values: now is passed to it.
func TestDomainHasNoClockAndStartsNothing(t *testing.T) {
	clock := []string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Sleep"}
	for _, p := range typed(t) {
		if !within(strings.TrimPrefix(p.PkgPath, module), "domain") {
			continue
		}
		for id, object := range p.TypesInfo.Uses {
			if object.Pkg() != nil && object.Pkg().Path() == "time" && object.Parent() == object.Pkg().Scope() {
				require.NotContains(t, clock, object.Name(), "%s", p.Fset.Position(id.Pos()))
			}
		}
		for _, f := range p.Syntax {
			ast.Inspect(f, func(n ast.Node) bool {
				_, starts := n.(*ast.GoStmt)
				require.False(t, starts, "%s starts a goroutine", p.PkgPath)
				return true
			})
		}
	}
}

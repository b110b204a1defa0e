// Package contract ties the promises of package ports to the cases of the suites that prove them.
package contract

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/contract/clocktest"
	"github.com/toolboundary/toolboundary/test/contract/executortest"
	"github.com/toolboundary/toolboundary/test/contract/inboundtest"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/contract/projectortest"
	"github.com/toolboundary/toolboundary/test/contract/storetest"
)

var update = flag.Bool("update", false, "rewrite testdata/promises.txt")

// suiteOf is the suite that proves the promises of a type of package ports.
var suiteOf = map[string]string{
	"Store": "storetest", "Runs": "storetest", "Invocations": "storetest", "Refusals": "storetest",
	"Cancellations": "storetest", "Executor": "executortest", "Projector": "projectortest", "Clock": "clocktest",
}

// proof is a case and the promises that it proves.
type proof struct {
	suite, name string
	promises    []string
}

func proofs() []proof {
	return slices.Concat(
		proofsOf("storetest", storetest.Suite()), proofsOf("executortest", executortest.Suite()),
		proofsOf("projectortest", projectortest.Suite()), proofsOf("clocktest", clocktest.Suite()),
		proofsOf("inboundtest", inboundtest.Suite()), // of no port: it names no promise
	)
}

func proofsOf[S any](name string, suite kit.Suite[S]) (all []proof) {
	for _, c := range suite.Cases {
		all = append(all, proof{name, c.Name, c.Promises})
	}
	return all
}

// promise is one MUST in the comment of a type or a method.
type promise struct{ id, text string }

var must = regexp.MustCompile(`\bMUST\b`)

// promisesOf returns the promises of a file in their order, and how often the word is in its comments.
func promisesOf(t *testing.T, path string, source any) (all []promise, words int) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.ParseComments)
	require.NoError(t, err)
	for _, group := range file.Comments {
		words += len(must.FindAllString(group.Text(), -1))
	}
	for _, d := range file.Decls {
		declared, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range declared.Specs {
			if typed, ok := s.(*ast.TypeSpec); ok {
				all = append(all, promisesIn(typed.Name.Name, declared.Doc)...)
				all = append(all, promisesOfMethods(typed)...)
			}
		}
	}
	return all, words
}

func promisesOfMethods(typed *ast.TypeSpec) (all []promise) {
	port, ok := typed.Type.(*ast.InterfaceType)
	if !ok {
		return nil
	}
	for _, m := range port.Methods.List {
		if len(m.Names) == 1 {
			all = append(all, promisesIn(typed.Name.Name+"."+m.Names[0].Name, m.Doc)...)
		}
	}
	return all
}

var bullet = regexp.MustCompile(`(?m)^\s*- `)

// promisesIn numbers the MUSTs of a comment. The text of each goes to the next one, or to the end of
// its item in a list.
func promisesIn(subject string, doc *ast.CommentGroup) (all []promise) {
	for _, item := range bullet.Split(doc.Text(), -1) {
		item = strings.Join(strings.Fields(item), " ")
		at := must.FindAllStringIndex(item, -1)
		for i := range at {
			from, to := at[i][0], len(item)
			if i == 0 {
				from = 0
			}
			if i+1 < len(at) {
				to = at[i+1][0]
			}
			text := strings.TrimRight(item[from:to], " ;.,")
			all = append(all, promise{fmt.Sprintf("%s#%d", subject, len(all)+1), text})
		}
	}
	return all
}

func allPromises(t *testing.T) (all []promise) {
	t.Helper()
	files, err := filepath.Glob("../../ports/*.go")
	require.NoError(t, err)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		found, words := promisesOf(t, path, nil)
		require.Len(t, found, words, "in %s a MUST is outside the comment of a type or a method", path)
		all = append(all, found...)
	}
	require.Greater(t, len(all), 50, "the ports are there")
	return all
}

func TestEveryPromiseHasACaseOfItsSuite(t *testing.T) {
	for _, p := range allPromises(t) {
		subject, _, _ := strings.Cut(p.id, "#")
		subject, _, _ = strings.Cut(subject, ".")
		suite := suiteOf[subject]
		require.NotEmpty(t, suite, "which suite proves %s?", p.id)
		proves := func(c proof) bool { return c.suite == suite && slices.Contains(c.promises, p.id) }
		if !slices.ContainsFunc(proofs(), proves) {
			t.Errorf("no case of %s proves %s: %s", suite, p.id, p.text)
		}
	}
}

func TestEveryCaseProvesAPromise(t *testing.T) {
	known := map[string]bool{}
	for _, p := range allPromises(t) {
		known[p.id] = true
	}
	for _, c := range proofs() {
		if len(c.promises) == 0 && c.suite != "inboundtest" {
			t.Errorf("%s of %s proves no promise of a port", c.name, c.suite)
		}
		for _, p := range c.promises {
			if !known[p] {
				t.Errorf("%s of %s names %s, which package ports does not promise", c.name, c.suite, p)
			}
		}
	}
}

// TestWhatEachNumberMeans pins the text behind each number: a promise that comes in between moves the
// numbers after it, and the difference shows whose cases to look at.
func TestWhatEachNumberMeans(t *testing.T) {
	const golden = "testdata/promises.txt"
	var b strings.Builder
	for _, p := range allPromises(t) {
		fmt.Fprintf(&b, "%s: %s\n", p.id, p.text)
		for _, c := range proofs() {
			if slices.Contains(c.promises, p.id) {
				fmt.Fprintf(&b, "\t%s\n", c.name)
			}
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	kept, err := os.ReadFile(golden)
	require.NoError(t, err)
	got, want := strings.Split(b.String(), "\n"), strings.Split(string(kept), "\n")
	for i := range max(len(got), len(want)) {
		var now, then string
		if i < len(got) {
			now = got[i]
		}
		if i < len(want) {
			then = want[i]
		}
		require.Equal(t, then, now, "line %d of %s: if the new one is right, run: go test ./test/contract -update",
			i+1, golden)
	}
}

func TestPromisesAreFound(t *testing.T) {
	found, words := promisesOf(t, "port.go", `package ports

// MUST in no comment of a type is noticed.

// Port promises: it MUST be quick.
type Port interface {
	// Do does it, which nobody MUST
	// doubt.
	//  - MUST be polite; MUST NOT shout,
	//    whoever asks;
	//  - should be kind.
	//  - MUSTANG is no promise, this MUST be one.
	Do()
	// Rest is free.
	Rest()
}
`)
	require.Equal(t, []promise{
		{"Port#1", "Port promises: it MUST be quick"},
		{"Port.Do#1", "Do does it, which nobody MUST doubt"},
		{"Port.Do#2", "MUST be polite"}, {"Port.Do#3", "MUST NOT shout, whoever asks"},
		{"Port.Do#4", "MUSTANG is no promise, this MUST be one"},
	}, found)
	require.Equal(t, 6, words)
}

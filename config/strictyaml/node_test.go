package strictyaml_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

func TestKindsOfNodes(t *testing.T) {
	rows := []struct {
		text     string
		kind     strictyaml.Kind
		describe string
		raw      string
	}{
		{"", strictyaml.Empty, "an empty value", ""},
		{"null", strictyaml.Empty, "an empty value", ""},
		{"~", strictyaml.Empty, "an empty value", ""},
		{"'null'", strictyaml.Scalar, "text", "null"},
		{"a", strictyaml.Scalar, "text", "a"},
		{"5", strictyaml.Scalar, "a number", "5"},
		{"0x5", strictyaml.Scalar, "a number", "0x5"},
		{"1.5", strictyaml.Scalar, "a number", "1.5"},
		{"true", strictyaml.Scalar, "true or false", "true"},
		{"2026-01-02", strictyaml.Scalar, "a date", "2026-01-02"},
		{"!x a", strictyaml.Scalar, "a tagged value", "a"},
		{"[a]", strictyaml.List, "a list", ""},
		{"{a: b}", strictyaml.Mapping, "a section with keys", ""},
		{"&x [a]", strictyaml.List, "a list", ""},
	}
	for _, row := range rows {
		root, report := strictyaml.Parse([]byte("v: "+row.text+"\nw: 1\n"), strictyaml.Options{})
		n, ok := root.Entry("v")
		require.True(t, ok, row.text)
		require.Equal(t, row.kind, n.Kind(), row.text)
		require.Equal(t, row.describe, n.Describe(), row.text)
		require.Equal(t, row.raw, n.Raw(), row.text)
		require.NoError(t, report.Err(""))
	}
}

func TestEntry(t *testing.T) {
	root, report := strictyaml.Parse([]byte("a: 1\nb:\n  c: 2\na: 3\n"), strictyaml.Options{})
	a, ok := root.Entry("a")
	require.True(t, ok)
	require.Equal(t, "1", a.Raw(), "the first one")
	b, _ := root.Entry("b")
	c, ok := b.Entry("c")
	require.True(t, ok)
	require.Equal(t, "2", c.Raw())
	_, ok = b.Entry("a")
	require.False(t, ok)
	for _, text := range []string{"v: 1", "v:", "v: [a, 1]"} {
		root, _ := strictyaml.Parse([]byte(text), strictyaml.Options{})
		v, _ := root.Entry("v")
		_, ok = v.Entry("a")
		require.False(t, ok, "%s has no keys", text)
	}
	require.NoError(t, report.Err(""), "it reports nothing")
	require.Equal(t, 3, report.Line("b.c"))
}

func TestEntriesCanBeLeft(t *testing.T) {
	root, _ := strictyaml.Parse([]byte("a: 1\nb: 2\n"), strictyaml.Options{})
	var keys []string
	for key := range root.Entries() {
		keys = append(keys, key)
		break
	}
	require.Equal(t, []string{"a"}, keys)
	require.Nil(t, root.Items(), "a section has no elements")
}

func TestAliasesAreFollowed(t *testing.T) {
	s, report, err := parse("name: shop\nowner: {key_env: DOOR}\nitems: [&i {id: a}, *i]\nlimits:\n  top: *i\n")
	require.NoError(t, err)
	require.Equal(t, []item{{ID: "a"}, {ID: "a"}}, s.Items)
	require.Equal(t, item{ID: "a"}, s.Limits["top"])
	require.Equal(t, 5, report.Line("limits.top"), "the line of the alias, not of what it names")
}

// A few kilobytes that expand to some million elements are one problem, and are not expanded.
func TestAliasesCannotMakeAFileHuge(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "many:\n  - &l [%s x]\n", strings.Repeat("x, ", 1999))
	for range 2000 {
		b.WriteString("  - *l\n")
	}
	var into struct {
		Many []counted `yaml:"many"`
		More string    `yaml:"more" required:"true"`
	}
	root, report := strictyaml.Parse([]byte(b.String()), strictyaml.Options{})
	root.Struct(&into)
	require.Equal(t, []strictyaml.Problem{{
		Line: 1, Message: "The file is too large once its aliases are expanded.", Fix: "Use fewer aliases.",
	}}, problemsFrom(t, report.Err("")))
	elements := 0
	for _, c := range into.Many {
		elements += int(c)
	}
	require.InDelta(t, 250_000, elements, 2_001, "some lists are read, the rest not")
}

// counted is the number of elements of a list.
type counted int

func (c *counted) ReadYAML(n strictyaml.Node) { *c = counted(len(n.Items())) }

func TestAliasOfItselfEnds(t *testing.T) {
	for _, file := range []string{
		"&x [*x]", "name: &x [*x]", "items: &x [*x]", "owner: &x {nick: *x}", "limits: &x {a: *x}",
		"prices: &x {a: *x}",
	} {
		require.NotEmpty(t, problemsOf(t, file), file)
	}
}

// TestAFileReadsItself reads a file's name without a struct around it.
func TestAFileReadsItself(t *testing.T) {
	var f strictyaml.File
	var reader strictyaml.NodeReader = &f
	root, report := strictyaml.Parse([]byte("doc.go"), strictyaml.Options{})
	reader.ReadYAML(root)
	require.NoError(t, report.Err(""))
	require.Equal(t, strictyaml.File("doc.go"), f)

	root, report = strictyaml.Parse([]byte("there-is-no-such-file"), strictyaml.Options{})
	reader.ReadYAML(root)
	require.Error(t, report.Err(""))
}

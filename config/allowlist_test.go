package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSplitTable(t *testing.T) {
	rows := map[string][2]string{
		"shop.orders": {"shop", "orders"}, "`shop`.`orders`": {"shop", "orders"}, "shop.`a.b`": {"shop", "a.b"},
		"`a``b`.c": {"a`b", "c"}, "日本.表": {"日本", "表"},
	}
	for text, want := range rows {
		schema, table, ok := splitTable(text)
		require.True(t, ok, text)
		require.Equal(t, want, [2]string{schema, table}, text)
	}
	for _, text := range []string{"", "orders", "a.b.c", "`a.b", "`a`b.c", "a`b`.c", "a.`b`c", "a.b`", "`a`"} {
		_, _, ok := splitTable(text)
		require.False(t, ok, text)
	}
}

func TestViewsAreNamedAsInTheAllowlist(t *testing.T) {
	file := strings.Replace(valid, "max_rows: 200", "views: ['shop.`customers`']", 1)
	cfg, err := Parse([]byte(file), environment)
	require.NoError(t, err)
	shop := SourcesOf[*MySQL](cfg.DataSources)["shop"]
	require.True(t, shop.IsView(shop.Allow[0]))
	require.False(t, shop.IsView(Table{Schema: "shop", Name: "orders"}))
	require.False(t, shop.IsView(Table{Schema: "x", Name: "customers"}))
}

func TestAliasesShareAnAllowlist(t *testing.T) {
	cfg, err := Parse([]byte(`data_sources:
  a: {address: 'localhost:1', user_env: SHOP_USER, allow: &list {s.t: [id]}}
  b: {address: 'localhost:2', user_env: SHOP_USER, allow: *list}
`), environment)
	require.NoError(t, err)
	sources := SourcesOf[*MySQL](cfg.DataSources)
	require.Equal(t, Allowlist{{Schema: "s", Name: "t", Columns: []Column{{Name: "id"}}}}, sources["a"].Allow)
	require.Equal(t, sources["a"].Allow, sources["b"].Allow)
}

// A few kilobytes of tables that expand to some million columns are one problem.
func TestAliasesCannotMakeAnAllowlistHuge(t *testing.T) {
	var b strings.Builder
	b.WriteString("data_sources:\n  a:\n    address: localhost:1\n    user_env: SHOP_USER\n")
	b.WriteString("    allow:\n      s.t: &c [x")
	for i := range 2000 {
		fmt.Fprintf(&b, ", x%d", i)
	}
	b.WriteString("]\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "      s.t%d: *c\n", i)
	}
	problems := problemsOf(t, b.String())
	require.Len(t, problems, 1)
	require.Equal(t, "The file is too large once its aliases are expanded.", problems[0].Message)
}

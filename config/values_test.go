package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestByteSize(t *testing.T) {
	rows := map[string]ByteSize{
		"0": 0, "1": 1, "1B": 1, "64KiB": 64 << 10, "64 KiB": 64 << 10, "4MiB": 4 << 20, "1GiB": 1 << 30, "2TiB": 2 << 40, "1500": 1500,
	}
	for text, want := range rows {
		var got ByteSize
		require.NoError(t, got.UnmarshalText([]byte(text)), text)
		require.Equal(t, want, got, text)
		var again ByteSize
		require.NoError(t, again.UnmarshalText([]byte(got.String())))
		require.Equal(t, got, again)
	}
	for _, text := range []string{"", "B", "-1", "-1KiB", "1.5MiB", "1kb", "1K", "1KB", "1kib", "0x10", "010", "1_000", "9223372036854775808", "8388608TiB", "1  KiB", " 1", "1 ", "+1", "١"} {
		var got ByteSize
		require.Error(t, got.UnmarshalText([]byte(text)), text)
		require.Zero(t, got, text)
	}
	require.Equal(t, "64KiB", ByteSize(64<<10).String())
	require.Equal(t, "1000B", ByteSize(1000).String())
}

func TestTLSModes(t *testing.T) {
	rows := map[string]TLSMode{"true": TLSVerify, "verify": TLSVerify, "required": TLSRequired, "false": TLSDisabled, "disabled": TLSDisabled}
	for text, want := range rows {
		cfg, err := Parse([]byte(strings.Replace(valid, "max_rows: 200", "tls: "+text, 1)), environment)
		require.NoError(t, err)
		require.Equal(t, want, SourcesOf[*MySQL](cfg.DataSources)["shop"].TLS)
	}
}

func TestSplitTable(t *testing.T) {
	rows := map[string][2]string{
		"shop.orders": {"shop", "orders"}, "`shop`.`orders`": {"shop", "orders"}, "shop.`a.b`": {"shop", "a.b"}, "`a``b`.c": {"a`b", "c"}, "日本.表": {"日本", "表"},
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

func TestNearestFindsTypingErrorsOnly(t *testing.T) {
	known := []string{"listen", "admin_listen", "tls", "shutdown_grace", "max_concurrent"}
	rows := map[string]string{
		"listn": "listen", "Listen": "listen", "lisetn": "listen", "max-concurrent": "max_concurrent", "adminlisten": "admin_listen", "shutdown": "shutdown_grace", "colour": "", "": "", "x": "",
		strings.Repeat("listen", 100): "",
	}
	for word, want := range rows {
		require.Equal(t, want, nearest(word, known), word)
	}
}

func TestAliasesShareAnAllowlist(t *testing.T) {
	cfg, err := Parse([]byte("data_sources:\n  a: {address: 'localhost:1', user_env: SHOP_USER, allow: &list {s.t: [id]}}\n  b: {address: 'localhost:2', user_env: SHOP_USER, allow: *list}\n"), environment)
	require.NoError(t, err)
	sources := SourcesOf[*MySQL](cfg.DataSources)
	require.Equal(t, sources["a"].Allow, sources["b"].Allow)
}

// TestAliasesCannotMakeAFileHuge: a few kilobytes that expand to many million columns.
func TestAliasesCannotMakeAFileHuge(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "data_sources:\n  a:\n    address: localhost:1\n    user_env: SHOP_USER\n    allow:\n      s.t: &c [%s x]\n", strings.Repeat("x, ", 2000))
	for i := range 2000 {
		fmt.Fprintf(&b, "      s.t%d: *c\n", i)
	}
	start := time.Now()
	_, err := Parse([]byte(b.String()), environment)
	require.ErrorContains(t, err, "too large once its aliases are expanded")
	require.Less(t, time.Since(start), 30*time.Second)
}

func TestAliasOfItselfEnds(t *testing.T) {
	for _, file := range []string{"limits: &x {raw: *x}", "data_sources: &x {a: *x}", "auth: {harness_keys: &x [*x]}", "data_sources: {a: {functions: &x [*x]}}", "&x [*x]", "store: &x {redis: *x}"} {
		_, err := Parse([]byte(file), environment)
		require.Error(t, err, file)
	}
}

func TestDefaultsSurviveWhatCannotBeRead(t *testing.T) {
	_, err := Parse([]byte("server: {max_concurrent: x}\nruns: {budget: {max_calls: x}}\nlimits: {raw: x}"), empty)
	var problems *Problems
	require.ErrorAs(t, err, &problems)
	require.Len(t, problems.List, 3)
}

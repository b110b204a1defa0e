package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRiskyButLegalIsAWarning: each change alone gives exactly its warning, and no problem.
func TestRiskyButLegalIsAWarning(t *testing.T) {
	rows := []struct{ name, old, new, path string }{
		{"nothing", "", "", ""},
		{"listen on every interface", "127.0.0.1:8080", "':8080'", "server.listen"},
		{"listen on the network", "127.0.0.1:8080", "10.0.0.1:8080", "server.listen"},
		{"metrics on the network", "127.0.0.1:8080", "127.0.0.1:8080\n  admin_listen: 0.0.0.0:9090",
			"server.admin_listen"},
		{"records shorter than runs", "record_ttl: 24h", "record_ttl: 59m", "runs.record_ttl|mcp.run.ttl"},
		{"records shorter than the stdio run", "record_ttl: 24h", "record_ttl: 11h", "mcp.run.ttl"},
		{"records too small for everything", "{request: 64KiB}", "{record: 4MiB}", "limits.record"},
		{"budget below one answer", "max_calls: 50", "max_bytes: 4MiB", "runs.budget.max_bytes"},
		{"tool's budget above the run's", "max_calls: 50", "max_calls_per_tool: {mysql_query: 51}",
			"runs.budget.max_calls_per_tool.mysql_query"},
		{"database in the clear", "127.0.0.1:3306", "10.0.0.1:3306", "data_sources.shop.tls"},
		{"database without verification", "127.0.0.1:3306", "db:3306\n    tls: required", "data_sources.shop.tls"},
		{"database verified", "127.0.0.1:3306", "db:3306\n    tls: true", ""},
		{"database on loopback", "127.0.0.1:3306", "'[::1]:3306'", ""},
		{"database without a password", "    password_env: SHOP_PASSWORD\n", "", "data_sources.shop.password_env"},
		{"account that may write", "    require_read_only_account: true\n", "",
			"data_sources.shop.require_read_only_account"},
		{"nothing allowed", "\n      shop.customers: [id, name, {column: email, sensitive: true}]", "",
			"data_sources.shop.allow"},
		{"default schema that is not allowed", "max_rows: 200", "default_schema: Shop",
			"data_sources.shop.default_schema"},
		{"cell above the result", "max_rows: 200", "max_cell: 64KiB", "data_sources.shop.max_cell"},
		{"query longer than a run", "max_rows: 200", "query_timeout: 1h", ""},
		{"query longer than a short run", "  record_ttl: 24h", "  max_ttl: 1s", "data_sources.shop.query_timeout"},
		{"redis in the clear", "kind: memory", "kind: redis\n  redis: {addrs: [redis:6379]}", "store.redis.tls"},
		{"redis on loopback", "kind: memory", "kind: redis\n  redis: {addrs: [localhost:6379]}", ""},
		{"evicting redis", "kind: memory", "kind: redis\n  redis: {addrs: [localhost:6379], allow_eviction: true}",
			"store.redis.allow_eviction"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			require.Contains(t, valid, row.old)
			cfg, err := Parse([]byte(strings.Replace(valid, row.old, row.new, 1)), environment, ForServe())
			require.NoError(t, err)
			var got []string
			for _, w := range cfg.Warnings() {
				require.NotEmpty(t, w.Fix)
				require.Positive(t, w.Line)
				got = append(got, w.Path)
			}
			if row.path == "" {
				require.Empty(t, got)
				return
			}
			require.Equal(t, strings.Split(row.path, "|"), got)
		})
	}
}

func TestNoDataSourceIsAWarning(t *testing.T) {
	cfg, err := Parse([]byte("store: {kind: memory}"), empty)
	require.NoError(t, err)
	require.Len(t, cfg.Warnings(), 1)
	require.Equal(t, "data_sources", cfg.Warnings()[0].Path)
}

package defaults

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/logsearch"
	"github.com/toolboundary/toolboundary/adapters/mcpserver"
	"github.com/toolboundary/toolboundary/adapters/mysql"
	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/adapters/projectors/rows"
	"github.com/toolboundary/toolboundary/adapters/promquery"
	"github.com/toolboundary/toolboundary/adapters/promquery/promguard"
	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/domain/limits"
)

const file = `data_sources:
  db: {address: 'localhost:3306', user_env: USER}
  metrics: {kind: prometheus, url: 'http://localhost', metrics: [up]}
  logs: {kind: logs, root: /var/log, files: ['*']}
`

// load returns a configuration that names nothing that has a default.
func load(t *testing.T) config.Config {
	t.Helper()
	c, err := config.Parse([]byte(file), func(string) (string, bool) { return "reader", true })
	require.NoError(t, err)
	return c
}

// same demands that an adapter and the configuration have the same default of a key.
func same[T any](t *testing.T, key string, adapter, configured T) {
	t.Helper()
	assert.Equal(t, adapter, configured,
		"the adapter (expected) and the configuration (actual) differ in the default of %s", key)
}

func TestMySQL(t *testing.T) {
	configured := config.SourcesOf[*config.MySQL](load(t).DataSources)["db"]
	adapter := mysql.Source{}.WithDefaults()
	same(t, "max_connections", adapter.MaxConnections, configured.MaxConnections)
	same(t, "query_timeout", adapter.QueryTimeout, configured.QueryTimeout)
	same(t, "max_rows", rows.DefaultRows, configured.MaxRows)
	same(t, "max_cell", rows.DefaultCellBytes, int(configured.MaxCell))
}

// What the configuration allows in sql_mode is what the adapter allows.
func TestSQLModes(t *testing.T) {
	const with = "data_sources: {db: {address: 'localhost:3306', user_env: USER, sql_mode_extra: ["
	env := func(string) (string, bool) { return "reader", true }
	for _, mode := range server.SQLModes() {
		_, err := config.Parse([]byte(with+mode+"]}}"), env)
		require.NoError(t, err, mode)
	}
	_, err := config.Parse([]byte(with+"x]}}"), env)
	require.ErrorContains(t, err, "It is one of "+strings.Join(server.SQLModes(), ", ")+".", "and no other")
}

func TestPrometheus(t *testing.T) {
	configured := config.SourcesOf[*config.Prometheus](load(t).DataSources)["metrics"]
	adapter := promquery.Source{}.WithDefaults()
	same(t, "query_timeout", adapter.Timeout, configured.QueryTimeout)
	same(t, "max_range", adapter.MaxRange, configured.MaxRange)
	same(t, "min_step", adapter.MinStep, configured.MinStep)
	same(t, "max_points", adapter.MaxPoints, configured.MaxPoints)
	same(t, "max_series", adapter.MaxSeries, configured.MaxSeries)
	same(t, "max_concurrent", adapter.MaxConcurrent, configured.MaxConcurrent)
	policy := promguard.Policy{}.WithDefaults()
	same(t, "max_lookback", policy.MaxLookback, configured.MaxLookback)
	same(t, "min_step", policy.MinStep, configured.MinStep)
	same(t, "version", policy.Version3, configured.Version == 3)
}

func TestLogs(t *testing.T) {
	configured := config.SourcesOf[*config.Logs](load(t).DataSources)["logs"]
	adapter := logsearch.Source{}.WithDefaults()
	same(t, "format", adapter.Format, logsearch.Format(configured.Format))
	same(t, "time_zone", adapter.Location.String(), configured.TimeZone)
	same(t, "query_timeout", adapter.Timeout, configured.QueryTimeout)
	same(t, "max_lines", adapter.MaxLines, configured.MaxLines)
	same(t, "max_line", adapter.MaxLine, int(configured.MaxLine))
	same(t, "max_unpacked", adapter.MaxUnpacked, int64(configured.MaxUnpacked))
	same(t, "max_files", adapter.MaxFiles, configured.MaxFiles)
	same(t, "max_concurrent", adapter.MaxConcurrent, configured.MaxConcurrent)
}

func TestRedis(t *testing.T) {
	configured := load(t).Store.Redis
	adapter := redisstore.Options{}.WithDefaults()
	same(t, "key_prefix", adapter.KeyPrefix, configured.KeyPrefix)
	same(t, "timeout", adapter.Try, configured.Timeout)
	same(t, "timeout: a call is tried again, within four times as long", adapter.Patience, 4*configured.Timeout)
}

func TestLimitsAndMCP(t *testing.T) {
	c := load(t)
	same(t, "limits", limits.Default(), c.Limits.Domain())
	same(t, "mcp.tool_call_id_keys", []string{mcpserver.ClaudeCodeKey, mcpserver.OwnKey}, c.MCP.ToolCallIDKeys)
}

package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	metricsSource = "data_sources: {m: {kind: prometheus, url: 'https://h:9090/x', metrics: [up, 'http_*'], " +
		"matchers: ['tenant=\"a\"']}}"
	logsTimes  = "time_pattern: '^\\S+', time_layout: rfc3339, "
	logsSource = "data_sources: {l: {kind: logs, root: /var/log/shop, files: ['app.log*'], " + logsTimes +
		"masks: ['password=(\\S+)']}}"
)

func TestKindsAreReadWithTheirDefaults(t *testing.T) {
	cfg, err := Parse([]byte(metricsSource), environment)
	require.NoError(t, err)
	m := SourcesOf[*Prometheus](cfg.DataSources)["m"]
	want := newPrometheus()
	want.URL, want.Metrics, want.Matchers = "https://h:9090/x", []string{"up", "http_*"}, []string{`tenant="a"`}
	require.Equal(t, want, m)

	cfg, err = Parse([]byte(logsSource), environment)
	require.NoError(t, err)
	require.Empty(t, cfg.Warnings())
	l := SourcesOf[*Logs](cfg.DataSources)["l"]
	require.Equal(t, []string{"app.log*"}, l.Files)
	require.Equal(t, []any{"text", "UTC", 20 * time.Second, ByteSize(16 << 10)},
		[]any{l.Format, l.TimeZone, l.QueryTimeout, l.MaxLine})

	cfg, err = Load(filepath.Join("testdata", "full.yaml"), environment, WithoutSecrets(), ForServe())
	require.NoError(t, err)
	require.Equal(t, 3, SourcesOf[*Prometheus](cfg.DataSources)["metrics"].Version)
	logs := SourcesOf[*Logs](cfg.DataSources)["logs"]
	require.Equal(t, []string{"json", "text"}, []string{logs.Format, logs.ByFile[0].Format})
}

// Each row changes one thing of a source that is fine and names the paths of its problems.
func TestFaultsOfEveryKindHaveTheirPath(t *testing.T) {
	for _, row := range []struct{ file, from, to, want string }{
		{metricsSource, "https://h:9090/x", "ftp://h", "m.url"},
		{metricsSource, "https://h:9090/x", "https://u:hunter2@h", "m.url"},
		{metricsSource, "https://h:9090/x", "https://h/?a=b", "m.url"},
		{metricsSource, "https://h:9090/x", "h:9090", "m.url"},
		{metricsSource, "url: 'https://h:9090/x', ", "", "m.url"},
		{metricsSource, "https://h:9090/x', ", "http://localhost', ca_file: config.go, ", "m.ca_file"},
		{metricsSource, "metrics: [up, 'http_*'], ", "", "m.metrics"},
		{metricsSource, "[up, 'http_*']", "[]", "m.metrics"},
		{metricsSource, "'http_*'", "'*'", "m.metrics[1]"},
		{metricsSource, "'http_*'", "'a*b'", "m.metrics[1]"},
		{metricsSource, "'http_*'", "http.server", "m.metrics[1]"},
		{metricsSource, "tenant=\"a\"", "tenant", "m.matchers[0]"},
		{metricsSource, "tenant=\"a\"", "a=\"b\"} or up{c=\"d\"", "m.matchers[0]"},
		{metricsSource, "tenant=\"a\"", "__name__=\"up\"", "m.matchers[0]"},
		{metricsSource, "url:", "bearer_token_env: SHOP_USER, user_env: SHOP_USER, password_env: SHOP_PASSWORD, url:",
			"m.bearer_token_env"},
		{metricsSource, "url:", "user_env: SHOP_USER, url:", "m.user_env"},
		{metricsSource, "url:", "min_step: 2h, max_range: 1h, url:", "m.min_step"},
		{metricsSource, "url:", "version: 1, url:", "m.version"},
		{metricsSource, "url:", "max_serie: 1, url:", "m.max_serie"},
		{logsSource, "/var/log/shop", "logs", "l.root"},
		{logsSource, "'app.log*'", "../x", "l.files[0]"},
		{logsSource, "'app.log*'", "/etc/passwd", "l.files[0]"},
		{logsSource, "'app.log*'", "'['", "l.files[0]"},
		{logsSource, "['app.log*']", "[]", "l.files"},
		{logsSource, "root:", "format: xml, root:", "l.format"},
		{logsSource, "'password=(\\S+)'", "'('", "l.masks[0]"},
		{logsSource, "'password=(\\S+)'", "'x*'", "l.masks[0]"},
		{logsSource, "'^\\S+'", "'('", "l.time_pattern"},
		{logsSource, "rfc3339", "never", "l.time_layout"},
		{logsSource, "time_pattern: '^\\S+', ", "", "l.time_pattern"},
		{logsSource, "root:", "time_zone: Mars/Olympus, root:", "l.time_zone"},
		{logsSource, "root:", "max_line: 1B, root:", "l.max_line"},
		{logsSource, "root:", "max_unpacked: 1B, root:", "l.max_unpacked"},
		{logsSource, "root:", "by_file: [{format: json}], root:", "l.by_file[0].files"},
		{logsSource, "root:", "by_file: [{files: []}], root:", "l.by_file[0].files"},
		{logsSource, "root:", "by_file: [{files: [../x]}], root:", "l.by_file[0].files[0]"},
		{logsSource, "root:", "by_file: [{files: [x], format: xml}], root:", "l.by_file[0].format"},
		{logsSource, "root:", "by_file: [{files: [x], time_pattern: x}], root:", "l.by_file[0].time_layout"},
		{logsSource, "root:", "by_file: [{files: [x], time_pattern: '(', time_layout: unix}], root:",
			"l.by_file[0].time_pattern"},
		{logsSource, "root:", "by_file: [{files: [x], time_pattern: x, time_layout: never}], root:",
			"l.by_file[0].time_layout"},
		{logsSource, "root:", "by_file: [{files: [x], time_zone: Mars/Olympus}], root:", "l.by_file[0].time_zone"},
	} {
		require.Contains(t, row.file, row.from)
		file := strings.Replace(row.file, row.from, row.to, 1)
		problems := problemsOf(t, file)
		require.Len(t, problems, 1, file)
		require.Equal(t, "data_sources."+row.want, problems[0].Path)
		require.NotContains(t, problems[0].Message+problems[0].Fix, "hunter2")
	}
}

func TestRisksOfTheKindsAreWarnings(t *testing.T) {
	for file, want := range map[string]string{
		strings.Replace(metricsSource, "https", "http", 1):               "data_sources.m.url",
		strings.Replace(logsSource, "masks: ['password=(\\S+)']", "", 1): "data_sources.l.masks",
		strings.Replace(logsSource, logsTimes, "", 1):                    "data_sources.l.time_pattern",
	} {
		cfg, err := Parse([]byte(file), environment)
		require.NoError(t, err, file)
		require.Len(t, cfg.Warnings(), 1, file)
		require.Equal(t, want, cfg.Warnings()[0].Path)
	}
}

// The example of the documentation is a configuration that loads without a warning.
func TestTheDocumentedExampleLoads(t *testing.T) {
	text := read(t, "../docs/adapters.md")
	_, after, found := strings.Cut(text, "```yaml\n")
	require.True(t, found)
	example, _, found := strings.Cut(after, "```")
	require.True(t, found)
	cfg, err := Parse([]byte(example), func(string) (string, bool) { return "secret", true })
	require.NoError(t, err)
	require.Empty(t, cfg.Warnings())
	require.Len(t, SourcesOf[*Prometheus](cfg.DataSources), 1)
	require.Len(t, SourcesOf[*Logs](cfg.DataSources), 1)
}

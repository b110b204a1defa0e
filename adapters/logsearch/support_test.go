package logsearch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/logsearch"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
)

type clock struct{ now time.Time }

func (c clock) Now() time.Time { return c.now }

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

var scope = tool.Scope{DataSources: []string{"logs", "unbuilt"}}

// rfc3339 reads times at the beginning of a line.
func rfc3339(s *logsearch.Source) {
	s.TimePattern, s.TimeLayout = `^\S+`, logsearch.LayoutRFC3339
}

func newTool(t testing.TB, root string, change ...func(*logsearch.Source)) *logsearch.Executor {
	t.Helper()
	s := logsearch.Source{ID: "logs", Root: root, Files: []string{"app.log*"}}
	for _, c := range change {
		c(&s)
	}
	made, err := logsearch.New([]logsearch.Source{s}, clock{noon})
	require.NoError(t, err)
	return made
}

// tree writes files: gzipped when the name ends in .gz. The first named is the oldest.
func tree(t testing.TB, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		put(t, filepath.Join(root, files[i]), files[i+1])
		age(t, filepath.Join(root, files[i]), time.Duration(len(files)-i)*time.Minute)
	}
	return root
}

func put(t testing.TB, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	if strings.HasSuffix(path, ".gz") {
		content = zipped(t, content)
	}
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

func zipped(t testing.TB, content string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.String()
}

func age(t testing.TB, path string, d time.Duration) {
	t.Helper()
	require.NoError(t, os.Chtimes(path, noon.Add(-d), noon.Add(-d)))
}

type line struct {
	At, Time, Text string
	Before, After  []string
}

type raw struct {
	Searched struct {
		Files        []string
		FileCount    int `json:"file_count"`
		Lines, Bytes int64
		From, To     string
		OlderFiles   int   `json:"older_files"`
		SkippedFiles int   `json:"skipped_files"`
		UnreadFiles  int   `json:"unread_files"`
		LongLines    int64 `json:"long_lines"`
	}
	Matched, Undated int64
	Interval         string
	Counts           [][2]any
	Lines            []line
}

func (r raw) texts() []string {
	var list []string
	for _, l := range r.Lines {
		list = append(list, l.Text)
	}
	return list
}

func requestJSON(t testing.TB, request map[string]any) json.RawMessage {
	t.Helper()
	full := map[string]any{"data_source": "logs"}
	for k, v := range request {
		full[k] = v
	}
	text, err := json.Marshal(full)
	require.NoError(t, err)
	return text
}

func execute(ctx context.Context, t testing.TB, l *logsearch.Executor, request map[string]any) (json.RawMessage, error) {
	t.Helper()
	plan, err := l.Prepare(requestJSON(t, request), scope)
	require.NoError(t, err, "%v: %s", request, detail(err))
	return l.Execute(ctx, plan, limits.Default().Raw)
}

func search(t testing.TB, l *logsearch.Executor, request map[string]any) raw {
	t.Helper()
	text, err := execute(t.Context(), t, l, request)
	require.NoError(t, err, "%v: %s %s", request, detail(err), fault.CodeOf(err))
	var r raw
	require.NoError(t, json.Unmarshal(text, &r))
	return r
}

func detail(err error) string {
	if err == nil {
		return ""
	}
	return fault.Of(err).Reason + " " + fault.Of(err).Detail
}

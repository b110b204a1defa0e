package logsearch_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/toolboundary/toolboundary/adapters/logsearch"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/executortest"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/contract/projectortest"
)

// openOf returns how often this process has the file open: what the system says, not the tool.
func openOf(t kit.T, path string) int {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	require.NoError(t, err)
	n := 0
	for _, l := range links {
		if target, err := os.Readlink(l); err == nil && target == path {
			n++
		}
	}
	return n
}

func zipSparse(t *testing.T, from, to string, size int64) {
	t.Helper()
	in, err := os.Open(from)
	require.NoError(t, err)
	defer in.Close()
	out, err := os.Create(to)
	require.NoError(t, err)
	defer out.Close()
	z, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	require.NoError(t, err)
	_, err = io.Copy(z, io.LimitReader(in, size))
	require.NoError(t, err)
	require.NoError(t, z.Close())
}

// opens counts, by the system's own notices, how often something below a directory is opened.
type opens struct {
	fd, n int
}

func watch(t *testing.T, dir string) *opens {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	require.NoError(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	_, err = unix.InotifyAddWatch(fd, dir, unix.IN_OPEN)
	require.NoError(t, err)
	return &opens{fd: fd}
}

func (o *opens) count() int {
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(o.fd, buf)
		if err != nil || n <= 0 {
			return o.n
		}
		for at := 0; at+unix.SizeofInotifyEvent <= n; o.n++ {
			at += unix.SizeofInotifyEvent + int(buf[at+12]) | int(buf[at+13])<<8
		}
	}
}

func asked(pattern, files string, more ...string) json.RawMessage {
	const form = `{"data_source":"logs","pattern":%q,"files":%q%s}`
	return json.RawMessage(fmt.Sprintf(form, pattern, files, strings.Join(more, "")))
}

func TestS26_ExecutorContract(t *testing.T) {
	root := t.TempDir()
	var echo strings.Builder
	for i := range 24 {
		fmt.Fprintf(&echo, "caller%dx text%d\n", i, i)
	}
	put(t, filepath.Join(root, "app.log"), echo.String()+"once limit warm after a\n")
	sparse(t, filepath.Join(root, "app.log.slow"), 1<<38, "", "")
	wide := strings.Repeat(strings.Repeat("w", 15<<10)+"\n", 1000)
	put(t, filepath.Join(root, "app.log.large"), strings.Repeat(wide, 8))
	require.NoError(t, writeFile(filepath.Join(root, "app.log.gz"), "s3cret words of the source"))
	notices := watch(t, root)

	executortest.Test(t, executortest.Subject{
		New: func(t kit.T) ports.Executor {
			made, err := logsearch.New([]logsearch.Source{{
				ID: "logs", Root: root, Files: []string{"app.log*"}, MaxLines: 1_000_000, MaxConcurrent: 4,
			}}, clock{noon})
			require.NoError(t, err)
			return made
		},
		Scope:   scope,
		Echo:    func(text string) json.RawMessage { return asked(`\b`+text+`\b`, "app.log") },
		Large:   asked("w", "app.log.large", `,"max":1000000`),
		Slow:    asked("never", "app.log.slow"),
		Failing: asked("never", "app.log.gz"), FailsWith: fault.ExecutionFailed,
		Refused: []executortest.Refused{
			{Why: "no pattern of RE2", Request: asked("(", "app.log"), Code: fault.QueryRejected},
			{
				Why:     "a program out of a few letters",
				Request: asked(strings.Repeat(`\pL{99}`, 100), ""), Code: fault.QueryRejected,
			},
			{Why: "no time", Request: asked("x", "", `,"start":"now"`), Code: fault.RequestInvalid},
			{Why: "too much context", Request: asked("x", "", `,"context":11`), Code: fault.RequestInvalid},
		},
		Running: func(t kit.T) int {
			return openOf(t, filepath.Join(root, "app.log.slow")) + openOf(t, filepath.Join(root, "app.log.large"))
		},
		Calls:   func(kit.T) int { return notices.count() },
		Secrets: []string{root, "s3cret", "gzip:"},
		Break: func(t kit.T) func() { // as when a volume is not mounted
			require.NoError(t, os.Rename(root, root+".away"))
			return func() { require.NoError(t, os.Rename(root+".away", root)) }
		},
	})
}

func rawAnswer(pattern, problem string, texts ...string) json.RawMessage {
	lines := []map[string]string{}
	for i, text := range texts {
		lines = append(lines, map[string]string{"at": fmt.Sprint("f:", i), "text": text})
	}
	a := map[string]any{
		"asked":    map[string]string{"data_source": "logs", "pattern": pattern},
		"searched": map[string]any{"files": []string{"app.log"}, "file_count": 1, "lines": 9, "bytes": 99},
		"matched":  len(texts), "interval": "1s", "counts": [][2]any{{noon.Format(time.RFC3339), len(texts)}}, "lines": lines,
	}
	if len(texts) == 0 {
		delete(a, "counts")
	}
	if problem != "" {
		a["problems"] = []string{problem}
	}
	raw, _ := json.Marshal(a)
	return raw
}

func TestS26_ProjectorContract(t *testing.T) {
	projectortest.Test(t, projectortest.Subject{
		Projector: logsearch.Projector{},
		Answer:    func(texts ...string) json.RawMessage { return rawAnswer("", "", texts...) },
		Empty:     func(asked string) json.RawMessage { return rawAnswer(asked, "") },
		Sensitive: func(text string) json.RawMessage { return rawAnswer("", text, "x") },
		Malformed: []json.RawMessage{
			json.RawMessage(`{}`), json.RawMessage(`[]`), json.RawMessage(`null`),
			json.RawMessage(`{"asked":{},"searched":{"files":[]}}`),
			json.RawMessage(`{"asked":{},"searched":{},"matched":0,"lines":[{"at":"a","text":"b"}]}`),
		},
	})
}

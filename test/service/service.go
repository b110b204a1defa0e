// Package service starts the whole service in this process, as the command line does, and
// talks to it over HTTP: for the tests of what only the whole can show.
package service

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/cmd/app/bootstrap"
)

// The keys of every service that Start starts.
const (
	HarnessKey = "canary-harness-key-0123456789abcdef"
	TokenKey   = "canary-token-key-0123456789abcdef0123456789"
)

// Service is a running service.
type Service struct {
	t *testing.T
	// URL is http://host:port.
	URL  string
	logs *Log
	stop context.CancelFunc
	done chan int
	kill func() // of a service that is a process of its own
}

// Start writes the configuration to a file, serves it and waits until it listens. The
// configuration's server section and keys are added: it starts with store, limits or sources.
func Start(t *testing.T, configuration string, options ...bootstrap.Option) *Service {
	t.Helper()
	t.Setenv("TOOLBOUNDARY_HARNESS_KEY", HarnessKey)
	t.Setenv("TOOLBOUNDARY_TOKEN_KEY", TokenKey)
	path := Write(t, configuration)
	ctx, stop := context.WithCancel(context.Background())
	s := &Service{t: t, logs: &Log{}, stop: stop, done: make(chan int, 1)}
	go func() {
		s.done <- bootstrap.Run(ctx, "test", []string{"serve", "--config", path}, cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: s.logs}, options...)
	}()
	return s.await()
}

var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "toolboundary-test-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "toolboundary")
	out, err := exec.Command("go", "build", "-o", path, "github.com/toolboundary/toolboundary/cmd/app").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// StartProcess is Start in a process of its own, which Kill ends without warning.
func StartProcess(t *testing.T, configuration string) *Service {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	return StartBinary(t, path, configuration)
}

// StartBinary is StartProcess with a binary that was built elsewhere.
func StartBinary(t *testing.T, path, configuration string) *Service {
	t.Helper()
	t.Setenv("TOOLBOUNDARY_HARNESS_KEY", HarnessKey)
	t.Setenv("TOOLBOUNDARY_TOKEN_KEY", TokenKey)
	s := &Service{t: t, logs: &Log{}, done: make(chan int, 1)}
	cmd := exec.Command(path, "serve", "--config", Write(t, configuration))
	cmd.Stderr = s.logs
	require.NoError(t, cmd.Start())
	s.stop = func() { _ = cmd.Process.Signal(os.Interrupt) }
	s.kill = func() { _ = cmd.Process.Kill() }
	go func() {
		_ = cmd.Wait()
		s.done <- cmd.ProcessState.ExitCode()
	}()
	return s.await()
}

// Kill ends the process at once, as kill -9 does, and waits until it is gone.
func (s *Service) Kill() {
	s.kill()
	s.Stop()
}

// await waits until the service listens, and stops it with the test.
func (s *Service) await() *Service {
	t := s.t
	t.Helper()
	t.Cleanup(func() { s.Stop() })
	require.Eventually(t, func() bool {
		select {
		case code := <-s.done:
			s.done <- code
			return true
		default:
			return s.logs.address() != ""
		}
	}, 30*time.Second, 5*time.Millisecond)
	require.NotEmpty(t, s.logs.address(), "the service did not listen: %s", s.logs)
	s.URL = "http://" + s.logs.address()
	return s
}

// Write writes a configuration with server and auth sections in front, and returns its path.
func Write(t *testing.T, configuration string) string {
	t.Helper()
	head := "server: {listen: \"127.0.0.1:0\", shutdown_grace: 2s}\nauth:\n  harness_keys: [{name: test, key_env: TOOLBOUNDARY_HARNESS_KEY}]\n  token_keys: [{id: k1, key_env: TOOLBOUNDARY_TOKEN_KEY}]\n"
	path := filepath.Join(t.TempDir(), "toolboundary.yaml")
	require.NoError(t, os.WriteFile(path, []byte(head+configuration), 0o600))
	return path
}

// Stop ends the service and returns its exit code; it may be called twice.
func (s *Service) Stop() int {
	s.stop()
	code := <-s.done
	s.done <- code
	return code
}

// Logs returns everything that the service logged.
func (s *Service) Logs() string { return s.logs.String() }

// Answer is an HTTP answer.
type Answer struct {
	Status int
	Body   []byte
}

// Call is one answer's parts that tests look at.
type Call struct {
	Status         string          `json:"status"`
	EvidenceStatus string          `json:"evidence_status"`
	AgentResult    json.RawMessage `json:"agent_result"`
	Error          struct {
		Code, Message, Reason, Detail string
	} `json:"error"`
	HTTP int `json:"-"`
}

// Do sends a request. A context that ends closes the connection, as a client that goes away.
func (s *Service) Do(ctx context.Context, bearer, method, path, body string) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, strings.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	return Answer{res.StatusCode, all}, err
}

// Must sends a harness's request and requires an answer with that status.
func (s *Service) Must(status int, method, path, body string) []byte {
	s.t.Helper()
	a, err := s.Do(s.t.Context(), HarnessKey, method, path, body)
	require.NoError(s.t, err)
	require.Equal(s.t, status, a.Status, "%s", a.Body)
	return a.Body
}

// Open opens a run with these further members and returns its agent token.
func (s *Service) Open(run, members string) string {
	s.t.Helper()
	if members == "" {
		members = `"tools":["mysql_query","mysql_schema"],"data_sources":["shop"]`
	}
	var opened struct {
		AgentToken string `json:"agent_token"`
	}
	require.NoError(s.t, json.Unmarshal(s.Must(201, "POST", "/v1/runs", fmt.Sprintf(`{"run_id":%q,%s}`, run, members)), &opened))
	require.NotEmpty(s.t, opened.AgentToken)
	return opened.AgentToken
}

// Invoke calls a tool as the run's agent.
func (s *Service) Invoke(ctx context.Context, token, run, id, tool, request string) (Call, error) {
	a, err := s.Do(ctx, token, "POST", "/v1/runs/"+run+"/tool-calls", fmt.Sprintf(`{"tool_call_id":%q,"tool_name":%q,"request":%s}`, id, tool, request))
	if err != nil {
		return Call{}, err
	}
	c := Call{HTTP: a.Status}
	return c, json.Unmarshal(a.Body, &c)
}

// Query calls mysql_query on the source shop and requires an answer.
func (s *Service) Query(token, run, id, sql string, params ...any) Call {
	s.t.Helper()
	if params == nil {
		params = []any{}
	}
	request, err := json.Marshal(map[string]any{"data_source": "shop", "sql": sql, "params": params})
	require.NoError(s.t, err)
	c, err := s.Invoke(s.t.Context(), token, run, id, "mysql_query", string(request))
	require.NoError(s.t, err)
	return c
}

// Record returns a canonical record, and whether there is one.
func (s *Service) Record(run, id string) (record map[string]json.RawMessage, found bool) {
	s.t.Helper()
	a, err := s.Do(s.t.Context(), HarnessKey, "GET", "/v1/runs/"+run+"/tool-calls/"+url.PathEscape(id)+"/record", "")
	require.NoError(s.t, err)
	if a.Status == http.StatusNotFound {
		return nil, false
	}
	require.Equal(s.t, http.StatusOK, a.Status, "%s", a.Body)
	require.NoError(s.t, json.Unmarshal(a.Body, &record))
	return record, true
}

// Log collects log lines.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write appends p.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns everything.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// address is where the log says that the service listens, or "".
func (l *Log) address() string {
	for line := range strings.Lines(l.String()) {
		var entry struct{ Msg, Address string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "listening" {
			return entry.Address
		}
	}
	return ""
}

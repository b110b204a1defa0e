// Package mcp_test holds what other people's software says of the MCP server: the Go and the
// TypeScript SDK's clients over HTTP and stdio, the conformance suite, and the configuration
// snippets that the documentation gives to Claude Code, Claude Desktop, VS Code and Cursor.
//
// The server is the real one, composed by cmd/app/bootstrap, with scripted tools.
package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/cmd/app/bootstrap"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports/toolset"
)

// actAsBinary makes this test binary behave like the toolboundary binary: "real" as it is,
// "scripted" with scripted tools besides.
const actAsBinary = "TOOLBOUNDARY_TEST_ACT_AS_BINARY"

func TestMain(m *testing.M) {
	switch os.Getenv(actAsBinary) {
	case "real":
		os.Exit(bootstrap.Main("test"))
	case "scripted":
		os.Exit(bootstrap.Main("test", bootstrap.WithTools(scripted)))
	}
	os.Exit(m.Run())
}

// scripted builds the tools that the tests call: each does what its request says.
func scripted(toolset.Deps) (toolset.Set, error) {
	schema := json.RawMessage(`{"type":"object","properties":{"data_source":{"type":"string"},"answer":{},"do":{"type":"string"}}}`)
	answer := json.RawMessage(`{"type":"object","properties":{"items":{"type":"array"},"truncated":{"type":"boolean"}},"required":["items","truncated"]}`)
	var set toolset.Set
	for _, about := range []tool.Description{
		{Name: "demo_query", Title: "Query", Text: "Finds rows.", DataSources: []string{"shop"}},
		{Name: "demo_schema", Title: "Schema", Text: "Tells what can be found."},
	} {
		about.InputSchema, about.OutputSchema, about.ReadOnly = schema, answer, true
		set.Entries = append(set.Entries, toolset.Entry{Executor: fake.NewExecutor(about, tool.Plan{}), Projector: fake.Projector{}})
	}
	return set, nil
}

// What a run is granted to use the scripted tools.
var demoTools, demoSources = []string{"demo_query", "demo_schema"}, []string{"shop"}

const harnessKey = "harness-key-of-the-mcp-tests-0123456789"

// configure writes a configuration file and returns its path. extra is YAML.
func configure(t *testing.T, listen, extra string) string {
	t.Helper()
	t.Setenv("MCP_TEST_HARNESS_KEY", harnessKey)
	t.Setenv("MCP_TEST_TOKEN_KEY", strings.Repeat("k", 32))
	path := filepath.Join(t.TempDir(), "toolboundary.yaml")
	text := fmt.Sprintf(`server: {listen: %q}
auth:
  harness_keys: [{name: tests, key_env: MCP_TEST_HARNESS_KEY}]
  token_keys: [{id: k1, key_env: MCP_TEST_TOKEN_KEY}]
store: {kind: memory}
%s`, listen, extra)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// service is a running `toolboundary serve`.
type service struct {
	t   *testing.T
	url string
}

// freeAddress returns an address on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// self returns the path of this test binary.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

// serve starts the service with the configuration and stops it when the test ends. tools are
// built besides the repository's own.
func serve(t *testing.T, path string, tools ...func(toolset.Deps) (toolset.Set, error)) *service {
	t.Helper()
	c, err := config.Load(path, os.LookupEnv)
	require.NoError(t, err)
	var options []bootstrap.Option
	for _, build := range tools {
		options = append(options, bootstrap.WithTools(build))
	}
	ctx, stop := context.WithCancel(context.Background())
	var log lockedBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- bootstrap.Run(ctx, "test", []string{"serve", "--config", path}, cli.Streams{In: strings.NewReader(""), Out: &log, Err: &log}, options...)
	}()
	t.Cleanup(func() {
		stop()
		select {
		case code := <-ended:
			require.Zero(t, code, log.String())
		case <-time.After(30 * time.Second):
			t.Errorf("the service did not stop:\n%s", log.String())
		}
	})
	s := &service{t, "http://" + c.Server.Listen}
	require.Eventually(t, func() bool {
		res, err := http.Get(s.url + "/healthz")
		if err != nil {
			return false
		}
		return res.Body.Close() == nil && res.StatusCode == http.StatusOK
	}, 30*time.Second, 10*time.Millisecond, "the service must come up")
	return s
}

// open opens a run as a harness does and returns its agent token.
func (s *service) open(id string, tools, sources []string) string {
	s.t.Helper()
	var opened struct {
		AgentToken string `json:"agent_token"`
	}
	s.harness(http.MethodPost, "/v1/runs", map[string]any{"run_id": id, "tools": tools, "data_sources": append([]string{}, sources...)}, &opened)
	require.NotEmpty(s.t, opened.AgentToken)
	return opened.AgentToken
}

// recorded returns the tool_call_ids of the run's records.
func (s *service) recorded(id string) []string {
	s.t.Helper()
	var overview struct {
		Invocations []struct {
			ToolCallID string `json:"tool_call_id"`
		} `json:"invocations"`
	}
	s.harness(http.MethodGet, "/v1/runs/"+id, nil, &overview)
	var ids []string
	for _, i := range overview.Invocations {
		ids = append(ids, i.ToolCallID)
	}
	return ids
}

// harness makes a call with the harness key.
func (s *service) harness(method, path string, body, into any) {
	s.t.Helper()
	var data []byte
	var err error
	if body != nil {
		data, err = json.Marshal(body)
		require.NoError(s.t, err)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, bytes.NewReader(data))
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+harnessKey)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer func() { _ = res.Body.Close() }()
	data, err = io.ReadAll(res.Body)
	require.NoError(s.t, err)
	require.Less(s.t, res.StatusCode, 300, string(data))
	require.NoError(s.t, json.Unmarshal(data, into))
}

// lockedBuffer collects what several goroutines write.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

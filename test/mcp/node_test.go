package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// install installs the npm packages once and returns the Node that runs them. Without npm or
// Node the tests fail.
var install = sync.OnceValues(func() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "./install.sh")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", &exec.Error{Name: "install.sh: " + said.String(), Err: err}
	}
	return strings.TrimSpace(string(out)), nil
})

// node runs a script of this directory and returns what it printed.
func node(t *testing.T, env []string, args ...string) []byte {
	t.Helper()
	binary, err := install()
	require.NoError(t, err, "these tests need Node.js 22 or later and npm")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), env...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	require.NoError(t, err, "%s\n%s", out, said.String())
	return out
}

// report is what clients/typescript.mjs prints.
type report struct {
	ProtocolVersion, Server string
	Tools                   []struct {
		Name, Title  string
		OutputSchema map[string]any
		Annotations  map[string]any
	}
	Found, Nothing, Duplicate, Refused, Anonymous, After result
	Unknown                                              struct {
		Code    int
		Message string
	}
	Cancelled string
}

type result struct {
	IsError           bool
	Content           []struct{ Text string }
	StructuredContent struct {
		ToolCallID     string          `json:"tool_call_id"`
		EvidenceStatus string          `json:"evidence_status"`
		AgentResult    json.RawMessage `json:"agent_result"`
		Error          struct{ Code, Detail string }
	}
}

func (r result) code() string { return r.StructuredContent.Error.Code }

func typescript(t *testing.T, env []string, args ...string) report {
	t.Helper()
	var r report
	require.NoError(t, json.Unmarshal(node(t, env, append([]string{"clients/typescript.mjs"}, args...)...), &r))
	require.Equal(t, "toolboundary", r.Server)
	require.Len(t, r.Tools, 2)
	require.Equal(t, "demo_query", r.Tools[0].Name)
	require.Equal(t, "demo_schema", r.Tools[1].Name)
	require.Equal(t, true, r.Tools[0].Annotations["readOnlyHint"])
	require.Equal(t, false, r.Tools[0].Annotations["openWorldHint"])
	require.NotEmpty(t, r.Tools[0].OutputSchema)
	require.Equal(t, "call_1", r.Found.StructuredContent.ToolCallID)
	require.JSONEq(t, `{"items":[1,"é"],"truncated":false}`, string(r.Found.StructuredContent.AgentResult))
	require.Contains(t, r.Found.Content[0].Text, `"items":[1,"é"]`)
	require.Equal(t, "NO_EVIDENCE", r.Nothing.StructuredContent.EvidenceStatus)
	require.True(t, r.Duplicate.IsError)
	require.Equal(t, "DUPLICATE_TOOL_CALL", r.Duplicate.code())
	require.Equal(t, "customers.ssn is not available", r.Refused.StructuredContent.Error.Detail)
	require.Equal(t, -32602, r.Unknown.Code)
	return r
}

func TestTypeScriptClientOverHTTP(t *testing.T) {
	s := serve(t, scripted)
	r := typescript(t, nil, "http", s.url+"/mcp", s.open("ts-http", demoTools, demoSources))
	require.Equal(t, "TOOL_CALL_ID_INVALID", r.Anonymous.code(), "over HTTP a JSON-RPC id is no identity")
	var overview struct {
		Invocations []struct {
			ToolCallID string `json:"tool_call_id"`
		} `json:"invocations"`
	}
	s.harness("POST", "/v1/runs/ts-http/cancel", nil, &overview)
	require.NotEmpty(t, overview.Invocations)
	require.Equal(t, "call_1", overview.Invocations[0].ToolCallID)
}

func TestTypeScriptClientOverStdio(t *testing.T) {
	self, err := filepath.Abs(os.Args[0])
	require.NoError(t, err)
	r := typescript(t, []string{actAsBinary + "=1"}, "stdio", self, "mcp", "--config", configure(t, "127.0.0.1:0", ""))
	require.False(t, r.Anonymous.IsError)
	require.NotEmpty(t, r.Anonymous.StructuredContent.ToolCallID, "over stdio the JSON-RPC id is taken")
	require.Contains(t, r.Cancelled, "enough")
	require.Equal(t, "EVIDENCE_FOUND", r.After.StructuredContent.EvidenceStatus)
}

package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/service"
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
		return "", errors.Join(err, errors.New(said.String()))
	}
	return strings.TrimSpace(string(out)), nil
})

// node runs a script of this directory and returns what it printed.
func node(t *testing.T, env []string, input []byte, args ...string) []byte {
	t.Helper()
	binary, err := install()
	require.NoError(t, err, "these tests need Node.js 22 or later and npm")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Stdin = append(os.Environ(), env...), bytes.NewReader(input)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	require.NoError(t, err, "%s\n%s", out, said.String())
	return out
}

// call is one call that clients/typescript.mjs makes; without an id it sends none.
type call struct {
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	// Cancel, when set, is the reason with which the call is cancelled while it runs.
	Cancel string `json:"cancel,omitempty"`
}

// report is what clients/typescript.mjs prints.
type report struct {
	Server  string
	Tools   []listed
	Results []result
}

type listed struct {
	Name, Title, Description  string
	InputSchema, OutputSchema json.RawMessage
	Annotations               map[string]bool
}

// structured is what tests look at in a result's structured content.
type structured struct {
	ToolCallID     string          `json:"tool_call_id"`
	EvidenceStatus string          `json:"evidence_status"`
	AgentResult    json.RawMessage `json:"agent_result"`
	Error          struct{ Code, Detail string }
}

// result is a call's result, or the protocol error that the client threw.
type result struct {
	IsError           bool
	Content           []struct{ Text string }
	StructuredContent structured
	Thrown            struct {
		Code    int
		Message string
	}
}

// text returns the text of a result.
func (r result) text(t *testing.T) string {
	t.Helper()
	require.Len(t, r.Content, 1, "%+v", r)
	return r.Content[0].Text
}

func (r result) code() string { return r.StructuredContent.Error.Code }

// typescript lists and makes the calls over the transport that args name.
func typescript(t *testing.T, env []string, calls []call, args ...string) report {
	t.Helper()
	data, err := json.Marshal(calls)
	require.NoError(t, err)
	out := node(t, append(env, "CALLS="+string(data)), nil, append([]string{"clients/typescript.mjs"}, args...)...)
	var r report
	require.NoError(t, json.Unmarshal(out, &r), "%s", out)
	require.Equal(t, "toolboundary", r.Server)
	require.Len(t, r.Tools, 2)
	require.Len(t, r.Results, len(calls))
	for _, tool := range r.Tools {
		require.True(t, tool.Annotations["readOnlyHint"], tool.Name)
		require.False(t, tool.Annotations["openWorldHint"], tool.Name)
		require.NotEmpty(t, tool.OutputSchema, tool.Name)
	}
	return r
}

var scriptedCalls = []call{
	{ID: "call_1", Name: "demo_query", Arguments: json.RawMessage(`{"data_source":"shop","answer":[1,"é"]}`)},
	{ID: "call_2", Name: "demo_schema", Arguments: json.RawMessage(`{"answer":[]}`)},
	{ID: "call_1", Name: "demo_query", Arguments: json.RawMessage(`{"answer":[2]}`)},
	{ID: "call_3", Name: "demo_query", Arguments: json.RawMessage(`{"refuse":` + unknownColumn + `}`)},
	{ID: "call_4", Name: "nosuch", Arguments: json.RawMessage(`{}`)},
	{Name: "demo_query", Arguments: json.RawMessage(`{"answer":[3]}`)},
}

func requireScripted(t *testing.T, r report) {
	t.Helper()
	require.Equal(t, "demo_query", r.Tools[0].Name)
	require.Equal(t, "demo_schema", r.Tools[1].Name)
	require.Equal(t, "call_1", r.Results[0].StructuredContent.ToolCallID)
	require.JSONEq(t, `{"items":[1,"é"],"truncated":false}`, string(r.Results[0].StructuredContent.AgentResult))
	require.Contains(t, r.Results[0].text(t), `"items":[1,"é"]`)
	require.Equal(t, "NO_EVIDENCE", r.Results[1].StructuredContent.EvidenceStatus)
	require.True(t, r.Results[2].IsError, "the result should be an error: %+v", r.Results[2])
	require.Equal(t, "DUPLICATE_TOOL_CALL", r.Results[2].code())
	require.Equal(t, "customers.ssn is not available", r.Results[3].StructuredContent.Error.Detail)
	require.Equal(t, -32602, r.Results[4].Thrown.Code)
}

func TestTypeScriptClientOverHTTP(t *testing.T) {
	s := serve(t)
	r := typescript(t, nil, scriptedCalls, "http", s.URL+"/mcp", s.Open("ts-http", demoGrants))
	requireScripted(t, r)
	require.Equal(t, "TOOL_CALL_ID_INVALID", r.Results[5].code(), "over HTTP the JSON-RPC id is not used")
	require.Equal(t, []string{"call_1", "call_2"}, recorded(t, s, "ts-http"))
}

func TestTypeScriptClientOverStdio(t *testing.T) {
	calls := append(slices.Clone(scriptedCalls),
		call{ID: "call_5", Name: "demo_query", Arguments: json.RawMessage(`{"do":"block"}`), Cancel: "enough"},
		call{ID: "call_6", Name: "demo_query", Arguments: json.RawMessage(`{"answer":[6]}`)})
	r := typescript(t, []string{actAsBinary + "=scripted"}, calls,
		"stdio", self(t), "mcp", "--config", service.Write(t, ""))
	requireScripted(t, r)
	require.False(t, r.Results[5].IsError, "the result should not be an error: %+v", r.Results[5])
	require.NotEmpty(t, r.Results[5].StructuredContent.ToolCallID, "over stdio the JSON-RPC id is used")
	require.Contains(t, r.Results[6].Thrown.Message, "enough")
	require.Equal(t, "EVIDENCE_FOUND", r.Results[7].StructuredContent.EvidenceStatus)
}

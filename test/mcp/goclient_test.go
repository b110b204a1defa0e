package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// bearer adds the agent token to each request.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

func TestGoClientOverHTTP(t *testing.T) {
	s := serve(t, configure(t, freeAddress(t), ""), scripted)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: bearer{s.open("go-http", demoTools, demoSources)}}}, nil)
	require.NoError(t, err)
	goClient(ctx, t, session)
	require.NoError(t, session.Close())

	var record struct {
		Request json.RawMessage `json:"request"`
		Status  string          `json:"status"`
	}
	s.harness(http.MethodGet, "/v1/runs/go-http/tool-calls/toolu_01/record", nil, &record)
	require.Equal(t, "READY", record.Status)
	require.Equal(t, `{"data_source":"shop","answer":[12345678901234567890]}`, string(record.Request))
}

func TestGoClientOverStdio(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self(t), "mcp", "--config", configure(t, "127.0.0.1:0", "mcp: {run: {id_prefix: desk}}\n"))
	cmd.Env = append(os.Environ(), actAsBinary+"=scripted")
	var log lockedBuffer
	cmd.Stderr = &log
	session, err := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	require.NoError(t, err, log.String())
	goClient(ctx, t, session)

	// A client that sends no id of its own: its JSON-RPC id is taken, and each call has another.
	var ids []string
	for range 2 {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "demo_schema", Arguments: map[string]any{"answer": []int{1}}})
		require.NoError(t, err)
		require.False(t, res.IsError)
		ids = append(ids, structured(t, res)["tool_call_id"].(string))
	}
	require.NotEqual(t, ids[0], ids[1])
	require.NoError(t, session.Close())
	require.Contains(t, log.String(), "evidence of this run dies with this process")
}

// goClient lists the tools and calls both.
func goClient(ctx context.Context, t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	list, err := session.ListTools(ctx, nil)
	require.NoError(t, err)
	require.Len(t, list.Tools, 2)
	require.Equal(t, "demo_query", list.Tools[0].Name)
	require.Equal(t, "demo_schema", list.Tools[1].Name)
	for _, tool := range list.Tools {
		require.NotNil(t, tool.OutputSchema)
		require.True(t, tool.Annotations.ReadOnlyHint)
		require.False(t, *tool.Annotations.OpenWorldHint)
	}
	call := func(id, tool, arguments string) *mcp.CallToolResult {
		t.Helper()
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments), Meta: mcp.Meta{"claudecode/toolUseId": id}})
		require.NoError(t, err)
		return res
	}
	res := call("toolu_01", "demo_query", `{"data_source":"shop","answer":[12345678901234567890]}`)
	require.False(t, res.IsError)
	require.Equal(t, "toolu_01", structured(t, res)["tool_call_id"])
	require.Contains(t, res.Content[0].(*mcp.TextContent).Text, `"items":[12345678901234567890]`)

	res = call("toolu_02", "demo_schema", `{"answer":[]}`)
	require.Equal(t, "NO_EVIDENCE", structured(t, res)["evidence_status"])

	res = call("toolu_01", "demo_query", `{"answer":[1]}`)
	require.True(t, res.IsError)
	require.Equal(t, "DUPLICATE_TOOL_CALL", structured(t, res)["error"].(map[string]any)["code"])

	res = call("toolu_03", "demo_query", `{"refuse":{"code":"QUERY_REJECTED","reason":"UNKNOWN_COLUMN","detail":"customers.ssn is not available"}}`)
	require.True(t, res.IsError)
	require.Equal(t, "customers.ssn is not available", structured(t, res)["error"].(map[string]any)["detail"])

	_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "nosuch", Meta: mcp.Meta{"claudecode/toolUseId": "toolu_04"}})
	require.ErrorContains(t, err, "There is no such tool")
}

func structured(t *testing.T, res *mcp.CallToolResult) map[string]any {
	t.Helper()
	content, ok := res.StructuredContent.(map[string]any)
	require.True(t, ok, "%v", res.StructuredContent)
	return content
}

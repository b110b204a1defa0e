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

	"github.com/toolboundary/toolboundary/test/service"
	"github.com/toolboundary/toolboundary/test/service/process"
)

// bearer adds the agent token to each request.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// overHTTP returns the transport of a client that holds the agent token.
func overHTTP(s *service.Service, token string) mcp.Transport {
	return &mcp.StreamableClientTransport{
		Endpoint: s.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer{token}},
	}
}

// connect connects the Go SDK's client, which says that it is the program called name.
func connect(ctx context.Context, t *testing.T, name string, over mcp.Transport) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil).Connect(ctx, over, nil)
	require.NoError(t, err)
	return session
}

// minute returns a context for what takes much less than a minute.
func minute(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestGoClientOverHTTP(t *testing.T) {
	s := serve(t)
	ctx := minute(t)
	session := connect(ctx, t, "go", overHTTP(s, s.Open("go-http", demoGrants)))
	goClient(ctx, t, session)
	require.NoError(t, session.Close())

	record, found := s.Record("go-http", "toolu_01")
	require.True(t, found)
	require.Equal(t, `"READY"`, string(record["status"]))
	require.Equal(t, `{"data_source":"shop","answer":[12345678901234567890]}`, string(record["request"]))
}

func TestGoClientOverStdio(t *testing.T) {
	ctx := minute(t)
	cmd := exec.CommandContext(ctx, self(t), "mcp", "--config", service.Write(t, "mcp: {run: {id_prefix: desk}}\n"))
	cmd.Env = append(os.Environ(), actAsBinary+"=scripted")
	log := process.NewOutput(nil)
	cmd.Stderr = log
	session := connect(ctx, t, "go", &mcp.CommandTransport{Command: cmd})
	goClient(ctx, t, session)

	// The JSON-RPC id is used for a client that sends no tool_call_id, and differs in each call.
	var ids []string
	for range 2 {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{
			Name: "demo_schema", Arguments: map[string]any{"answer": []int{1}},
		})
		require.NoError(t, err, "%s", log)
		require.False(t, res.IsError, "the result should not be an error: %v", res.StructuredContent)
		ids = append(ids, said(t, res).ToolCallID)
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
		require.NotNil(t, tool.OutputSchema, tool.Name)
		require.NotNil(t, tool.Annotations, tool.Name)
		require.True(t, tool.Annotations.ReadOnlyHint, tool.Name)
		require.NotNil(t, tool.Annotations.OpenWorldHint, tool.Name)
		require.False(t, *tool.Annotations.OpenWorldHint, tool.Name)
	}
	call := func(id, tool, arguments string) *mcp.CallToolResult {
		t.Helper()
		res, err := session.CallTool(ctx, &mcp.CallToolParams{
			Name: tool, Arguments: json.RawMessage(arguments), Meta: mcp.Meta{"claudecode/toolUseId": id},
		})
		require.NoError(t, err)
		return res
	}
	res := call("toolu_01", "demo_query", `{"data_source":"shop","answer":[12345678901234567890]}`)
	require.False(t, res.IsError, "the result should not be an error: %v", res.StructuredContent)
	require.Equal(t, "toolu_01", said(t, res).ToolCallID)
	require.Contains(t, text(t, res), `"items":[12345678901234567890]`)

	res = call("toolu_02", "demo_schema", `{"answer":[]}`)
	require.Equal(t, "NO_EVIDENCE", said(t, res).EvidenceStatus)

	res = call("toolu_01", "demo_query", `{"answer":[1]}`)
	require.True(t, res.IsError, "the result should be an error: %v", res.StructuredContent)
	require.Equal(t, "DUPLICATE_TOOL_CALL", said(t, res).Error.Code)

	res = call("toolu_03", "demo_query", `{"refuse":`+unknownColumn+`}`)
	require.True(t, res.IsError, "the result should be an error: %v", res.StructuredContent)
	require.Equal(t, "customers.ssn is not available", said(t, res).Error.Detail)

	_, err = session.CallTool(ctx, &mcp.CallToolParams{
		Name: "nosuch", Meta: mcp.Meta{"claudecode/toolUseId": "toolu_04"},
	})
	require.ErrorContains(t, err, "There is no such tool")
}

// unknownColumn makes a scripted tool refuse as the SQL guard does.
const unknownColumn = `{"code":"QUERY_REJECTED","reason":"UNKNOWN_COLUMN","detail":"customers.ssn is not available"}`

// said returns the structured content of a result.
func said(t *testing.T, res *mcp.CallToolResult) structured {
	t.Helper()
	data, err := json.Marshal(res.StructuredContent)
	require.NoError(t, err)
	var content structured
	require.NoError(t, json.Unmarshal(data, &content), "%s", data)
	return content
}

// text returns the text of a result.
func text(t *testing.T, res *mcp.CallToolResult) string {
	t.Helper()
	require.Len(t, res.Content, 1)
	content, ok := res.Content[0].(*mcp.TextContent)
	require.True(t, ok, "the content is a %T", res.Content[0])
	return content.Text
}

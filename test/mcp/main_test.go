// Package mcp_test holds what other people's software says of the MCP server: the Go and the
// TypeScript SDK's clients over HTTP and stdio, the conformance suite, and the configuration
// snippets that the documentation gives to Claude Code, Claude Desktop, VS Code and Cursor.
//
// The server is the real one, composed by cmd/app/bootstrap, with scripted tools.
package mcp_test

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/cmd/app/bootstrap"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports/toolset"
	"github.com/toolboundary/toolboundary/test/service"
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
	schema := json.RawMessage(`{"type":"object",` +
		`"properties":{"data_source":{"type":"string"},"answer":{},"do":{"type":"string"}}}`)
	answer := json.RawMessage(`{"type":"object",` +
		`"properties":{"items":{"type":"array"},"truncated":{"type":"boolean"}},"required":["items","truncated"]}`)
	var set toolset.Set
	for _, about := range []tool.Description{
		{Name: "demo_query", Title: "Query", Text: "Finds rows.", DataSources: []string{"shop"}},
		{Name: "demo_schema", Title: "Schema", Text: "Tells what can be found."},
	} {
		about.InputSchema, about.OutputSchema, about.ReadOnly = schema, answer, true
		set.Entries = append(set.Entries, toolset.Entry{
			Executor: fake.NewExecutor(about, tool.Plan{}), Projector: fake.Projector{},
		})
	}
	return set, nil
}

// demoGrants are the members of a run that may use the scripted tools.
const demoGrants = `"tools":["demo_query","demo_schema"],"data_sources":["shop"]`

// serve starts the service with the scripted tools on the memory store.
func serve(t *testing.T) *service.Service {
	t.Helper()
	return service.Start(t, "store: {kind: memory}\n", bootstrap.WithTools(scripted))
}

// self returns the path of this test binary.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

// recorded returns the tool_call_ids of the run's records.
func recorded(t *testing.T, s *service.Service, run string) []string {
	t.Helper()
	var overview struct {
		Invocations []struct {
			ToolCallID string `json:"tool_call_id"`
		} `json:"invocations"`
	}
	body := s.Must(http.StatusOK, "GET", "/v1/runs/"+run, "")
	require.NoError(t, json.Unmarshal(body, &overview), "%s", body)
	var ids []string
	for _, i := range overview.Invocations {
		ids = append(ids, i.ToolCallID)
	}
	return ids
}

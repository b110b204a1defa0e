package mcp_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/service"
)

// parityCase is one call that is made through the HTTP API and through MCP.
type parityCase struct {
	name, id, tool, request string
	// foreign makes the call with the token of another run.
	foreign bool
	// code is the expected one, "" for READY; recorded says that there is a record afterwards.
	code     string
	recorded bool
}

// The cases are executed in this order, in one run on each side.
var parityCases = []parityCase{
	{name: "found", id: "c01", request: `{"data_source":"shop","answer":[{"id":1}]}`, recorded: true},
	{name: "nothing found", id: "c02", request: `{"answer":[]}`, recorded: true},
	{name: "twenty digits", id: "c03", request: `{"answer":[12345678901234567890,1.10,-0.0]}`, recorded: true},
	{name: "escapes and blanks", id: "c04", request: `{ "answer" : ["\u00e9é<&>"] }`, recorded: true},
	{name: "duplicate", id: "c01", request: `{"answer":[2]}`, code: "DUPLICATE_TOOL_CALL", recorded: true},
	{name: "failed", id: "c05", request: `{"do":"fail","code":"EXECUTION_FAILED","reason":"NOT_GROUPED"}`,
		code: "EXECUTION_FAILED", recorded: true},
	{name: "duplicate of a failed call's id", id: "c05", request: `{"answer":[1]}`,
		code: "DUPLICATE_TOOL_CALL", recorded: true},
	{name: "cross-run token", id: "c06", request: `{"answer":[1]}`, foreign: true, code: "RUN_MISMATCH"},
	{name: "cross-run token on a used id", id: "c01", request: `{"answer":[1]}`, foreign: true,
		code: "RUN_MISMATCH", recorded: true},
	{name: "blank id", id: "", request: `{"answer":[1]}`, code: "TOOL_CALL_ID_INVALID"},
	{name: "unsafe id", id: "a b", request: `{"answer":[1]}`, code: "TOOL_CALL_ID_INVALID"},
	{name: "unknown tool", id: "c07", tool: "nosuch", request: `{}`, code: "TOOL_UNKNOWN"},
	{name: "tool that was not granted", id: "c08", tool: "demo_schema", request: `{}`, code: "TOOL_NOT_AUTHORIZED"},
	{name: "source that does not exist", id: "c09", request: `{"data_source":"nosuch"}`, code: "DATA_SOURCE_UNKNOWN"},
	{name: "not an object", id: "c10", request: `[1]`, code: "REQUEST_INVALID"},
	{name: "member twice", id: "c11", request: `{"answer":[1],"answer":[2]}`, code: "REQUEST_INVALID"},
	{name: "unknown member", id: "c12", request: `{"authorized":true}`, code: "REQUEST_INVALID"},
	{name: "nested too deep", id: "c13",
		request: `{"answer":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`, code: "REQUEST_INVALID"},
	{name: "too large", id: "c14", request: `{"answer":"` + strings.Repeat("x", 70<<10) + `"}`,
		code: "REQUEST_TOO_LARGE"},
	{name: "rejected with reason and detail", id: "c15", request: `{"refuse":` + unknownColumn + `}`,
		code: "QUERY_REJECTED"},
	{name: "executor panics", id: "c16", request: `{"do":"panic","text":"CANARY"}`,
		code: "EXECUTION_FAILED", recorded: true},
	{name: "projector panics", id: "c17", request: `{"answer":{"project":"panic","text":"CANARY"}}`,
		code: "PROJECTION_FAILED", recorded: true},
	{name: "raw response too large", id: "c18", request: `{"do":"flood","bytes":5000000}`,
		code: "RESULT_TOO_LARGE", recorded: true},
	{name: "agent result too large", id: "c19", request: `{"answer":{"project":"oversize"}}`,
		code: "RESULT_TOO_LARGE", recorded: true},
}

// doors are one service, to which the HTTP API and MCP lead.
type doors struct {
	*service.Service
	t *testing.T
	// tokens are the agent tokens of the runs http, mcp, foreign-http and foreign-mcp.
	tokens map[string]string
}

// in returns the same doors for a subtest.
func (d doors) in(t *testing.T) doors { return doors{d.In(t), t, d.tokens} }

// sides are the two runs in which each call is made: run http over HTTP, run mcp over MCP.
var sides = []string{"http", "mcp"}

// TestHTTPAndMCPAgree makes the same calls through both doors of one service and compares what
// the agent is told, what is recorded and what the run's log holds.
func TestHTTPAndMCPAgree(t *testing.T) {
	d := doors{serve(t), t, map[string]string{}}
	for _, run := range []string{"http", "mcp", "foreign-http", "foreign-mcp"} {
		d.tokens[run] = d.Open(run, `"tools":["demo_query"],"data_sources":["shop"]`)
	}
	for _, c := range parityCases {
		t.Run(c.name, func(t *testing.T) { d.in(t).compare(c) })
	}
	for _, run := range sides {
		d.Must(http.StatusOK, "POST", "/v1/runs/"+run+"/cancel", "")
	}
	t.Run("ended run", func(t *testing.T) {
		d := d.in(t)
		d.compare(parityCase{id: "c20", request: `{"answer":[1]}`, code: "RUN_INACTIVE"})
		d.compare(parityCase{id: "c21", request: `{"unknown":1}`, code: "RUN_INACTIVE"})
		d.compare(parityCase{id: "c01", request: `{"answer":[1]}`, code: "RUN_INACTIVE", recorded: true})
	})
	t.Run("usage and refusals", func(t *testing.T) {
		d := d.in(t)
		var both []string
		for _, run := range sides {
			both = append(both, normal(t, run, d.Must(http.StatusOK, "GET", "/v1/runs/"+run, "")))
		}
		require.Equal(t, both[0], both[1])
	})
}

// compare makes the call through both doors and requires the same of both.
func (d doors) compare(c parityCase) {
	t := d.t
	t.Helper()
	c.tool = cmp.Or(c.tool, "demo_query")
	var told, kept []string
	for _, run := range sides {
		token := d.tokens[run]
		if c.foreign {
			token = d.tokens["foreign-"+run]
		}
		call := map[string]func(run, token string, c parityCase) []byte{"http": d.callAPI, "mcp": d.callMCP}[run]
		said := call(run, token, c)
		require.NotContains(t, string(said), "CANARY")
		told = append(told, normal(t, run, said))
		kept = append(kept, d.kept(run, c.id))
	}
	require.Equal(t, told[0], told[1], "what the agent is told")
	require.Equal(t, kept[0], kept[1], "what is recorded")
	require.Equal(t, c.recorded, kept[0] != "", "whether there is a record: %s", kept[0])
	var b struct{ Error struct{ Code string } }
	require.NoError(t, json.Unmarshal([]byte(told[0]), &b))
	require.Equal(t, c.code, b.Error.Code, told[0])
}

// callAPI makes the call through POST /v1/runs/{run}/tool-calls.
func (d doors) callAPI(run, token string, c parityCase) []byte {
	d.t.Helper()
	return d.post("/v1/runs/"+run+"/tool-calls", token,
		fmt.Sprintf(`{"tool_call_id":%q,"tool_name":%q,"request":%s}`, c.id, c.tool, c.request))
}

// callMCP makes the call through /mcp and returns the text of its result, or its error's data.
func (d doors) callMCP(run, token string, c parityCase) []byte {
	d.t.Helper()
	answer := d.post("/mcp", token, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+
		`"name":%q,"arguments":%s,"_meta":{"toolboundary/toolCallId":%q,"toolboundary/runId":%q}}}`,
		c.tool, c.request, c.id, run))
	var r struct {
		Result struct {
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
		}
		Error struct{ Data json.RawMessage }
	}
	require.NoError(d.t, json.Unmarshal(answer, &r), "%s", answer)
	if r.Error.Data != nil {
		return r.Error.Data
	}
	require.Len(d.t, r.Result.Content, 1, "%s", answer)
	require.JSONEq(d.t, r.Result.Content[0].Text, string(r.Result.StructuredContent))
	return []byte(r.Result.Content[0].Text)
}

func (d doors) post(path, token, body string) []byte {
	d.t.Helper()
	a, err := d.Do(d.t.Context(), token, "POST", path, body)
	require.NoError(d.t, err)
	return a.Body
}

// kept returns the record of the call without what differs from run to run; "" when there is none.
func (d doors) kept(run, id string) string {
	d.t.Helper()
	path := "/v1/runs/" + run + "/tool-calls/" + url.PathEscape(id) + "/record"
	a, err := d.Do(d.t.Context(), service.HarnessKey, "GET", path, "")
	require.NoError(d.t, err)
	if a.Status != http.StatusOK {
		return ""
	}
	return normal(d.t, run, a.Body)
}

// normal returns the JSON with sorted members, the run's name and the times taken out.
func normal(t *testing.T, run string, data []byte) string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v), string(data))
	var clean func(v any) any
	clean = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range []string{
				"started_at", "completed_at", "created_at", "deadline", "lease_until", "at", "owner", "digest",
			} {
				delete(v, name)
			}
			if v["code"] == "DUPLICATE_TOOL_CALL" {
				delete(v, "detail") // it says where to read the first result, which differs by door
			}
			for name, value := range v {
				v[name] = clean(value)
			}
		case []any:
			for i := range v {
				v[i] = clean(v[i])
			}
		case string:
			if v == run {
				return "RUN"
			}
		}
		return v
	}
	out, err := json.Marshal(clean(v))
	require.NoError(t, err)
	return string(out)
}

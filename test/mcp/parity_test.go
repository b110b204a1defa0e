package mcp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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

// parityCases are made in this order in one run on each side.
var parityCases = []parityCase{
	{name: "found", id: "c01", request: `{"data_source":"shop","answer":[{"id":1}]}`, recorded: true},
	{name: "nothing found", id: "c02", request: `{"answer":[]}`, recorded: true},
	{name: "twenty digits", id: "c03", request: `{"answer":[12345678901234567890,1.10,-0.0]}`, recorded: true},
	{name: "escapes and blanks", id: "c04", request: `{ "answer" : ["\u00e9é<&>"] }`, recorded: true},
	{name: "duplicate", id: "c01", request: `{"answer":[2]}`, code: "DUPLICATE_TOOL_CALL", recorded: true},
	{name: "duplicate of a failed call's id", id: "c05", request: `{"do":"fail","code":"EXECUTION_FAILED","reason":"NOT_GROUPED"}`, code: "EXECUTION_FAILED", recorded: true},
	{name: "and again", id: "c05", request: `{"answer":[1]}`, code: "DUPLICATE_TOOL_CALL", recorded: true},
	{name: "cross-run token", id: "c06", request: `{"answer":[1]}`, foreign: true, code: "RUN_MISMATCH"},
	{name: "cross-run token on a used id", id: "c01", request: `{"answer":[1]}`, foreign: true, code: "RUN_MISMATCH", recorded: true},
	{name: "blank id", id: "", request: `{"answer":[1]}`, code: "TOOL_CALL_ID_INVALID"},
	{name: "unsafe id", id: "a b", request: `{"answer":[1]}`, code: "TOOL_CALL_ID_INVALID"},
	{name: "unknown tool", id: "c07", tool: "nosuch", request: `{}`, code: "TOOL_UNKNOWN"},
	{name: "tool that was not granted", id: "c08", tool: "demo_schema", request: `{}`, code: "TOOL_NOT_AUTHORIZED"},
	{name: "source that does not exist", id: "c09", request: `{"data_source":"nosuch"}`, code: "DATA_SOURCE_UNKNOWN"},
	{name: "not an object", id: "c10", request: `[1]`, code: "REQUEST_INVALID"},
	{name: "member twice", id: "c11", request: `{"answer":[1],"answer":[2]}`, code: "REQUEST_INVALID"},
	{name: "unknown member", id: "c12", request: `{"authorized":true}`, code: "REQUEST_INVALID"},
	{name: "nested too deep", id: "c13", request: `{"answer":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`, code: "REQUEST_INVALID"},
	{name: "too large", id: "c14", request: `{"answer":"` + strings.Repeat("x", 70<<10) + `"}`, code: "REQUEST_TOO_LARGE"},
	{name: "rejected with reason and detail", id: "c15", request: `{"refuse":{"code":"QUERY_REJECTED","reason":"UNKNOWN_COLUMN","detail":"customers.ssn is not available"}}`, code: "QUERY_REJECTED"},
	{name: "executor panics", id: "c16", request: `{"do":"panic","text":"CANARY"}`, code: "EXECUTION_FAILED", recorded: true},
	{name: "projector panics", id: "c17", request: `{"answer":{"project":"panic","text":"CANARY"}}`, code: "PROJECTION_FAILED", recorded: true},
	{name: "raw answer too large", id: "c18", request: `{"do":"flood","bytes":5000000}`, code: "RESULT_TOO_LARGE", recorded: true},
	{name: "agent result too large", id: "c19", request: `{"answer":{"project":"oversize"}}`, code: "RESULT_TOO_LARGE", recorded: true},
}

// TestHTTPAndMCPAgree makes the same calls through both doors of one service and compares what
// the agent is told, what is recorded and what the run's log holds.
func TestHTTPAndMCPAgree(t *testing.T) {
	s := serve(t, configure(t, freeAddress(t), ""), scripted)
	only := []string{"demo_query"}
	doors := []string{"http", "mcp"}
	tokens := map[string]string{}
	for _, run := range []string{"http", "mcp", "foreign-http", "foreign-mcp"} {
		tokens[run] = s.open(run, only, demoSources)
	}
	compare := func(t *testing.T, c parityCase) {
		t.Helper()
		if c.tool == "" {
			c.tool = "demo_query"
		}
		var told, kept []string
		for _, run := range doors {
			token := tokens[run]
			if c.foreign {
				token = tokens["foreign-"+run]
			}
			said := map[string]func(run, token string, c parityCase) []byte{"http": s.callAPI, "mcp": s.callMCP}[run](run, token, c)
			require.NotContains(t, string(said), "CANARY")
			told = append(told, normal(t, run, said))
			kept = append(kept, s.kept(t, run, c.id))
		}
		require.Equal(t, told[0], told[1], "what the agent is told")
		require.Equal(t, kept[0], kept[1], "what is recorded")
		require.Equal(t, c.recorded, kept[0] != "")
		var b struct{ Error struct{ Code string } }
		require.NoError(t, json.Unmarshal([]byte(told[0]), &b))
		require.Equal(t, c.code, b.Error.Code)
	}
	for _, c := range parityCases {
		t.Run(c.name, func(t *testing.T) { compare(t, c) })
	}
	for _, run := range doors {
		s.harness(http.MethodPost, "/v1/runs/"+run+"/cancel", nil, new(any))
	}
	t.Run("ended run", func(t *testing.T) {
		compare(t, parityCase{id: "c20", request: `{"answer":[1]}`, code: "RUN_INACTIVE"})
		compare(t, parityCase{id: "c21", request: `{"unknown":1}`, code: "RUN_INACTIVE"})
		compare(t, parityCase{id: "c01", request: `{"answer":[1]}`, code: "RUN_INACTIVE", recorded: true})
	})
	t.Run("usage and refusals", func(t *testing.T) {
		var both []string
		for _, run := range doors {
			var overview any
			s.harness(http.MethodGet, "/v1/runs/"+run, nil, &overview)
			data, err := json.Marshal(overview)
			require.NoError(t, err)
			both = append(both, normal(t, run, data))
		}
		require.Equal(t, both[0], both[1])
	})
}

// callAPI makes the call through POST /v1/runs/{run}/tool-calls.
func (s *service) callAPI(run, token string, c parityCase) []byte {
	id, err := json.Marshal(c.id)
	require.NoError(s.t, err)
	return s.post("/v1/runs/"+run+"/tool-calls", token, `{"tool_call_id":`+string(id)+`,"tool_name":"`+c.tool+`","request":`+c.request+`}`)
}

// callMCP makes the call through /mcp and returns the text of its result, or its error's data.
func (s *service) callMCP(run, token string, c parityCase) []byte {
	id, err := json.Marshal(c.id)
	require.NoError(s.t, err)
	answer := s.post("/mcp", token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+c.tool+`","arguments":`+c.request+
		`,"_meta":{"toolboundary/toolCallId":`+string(id)+`,"toolboundary/runId":"`+run+`"}}}`)
	var r struct {
		Result struct {
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
		}
		Error struct{ Data json.RawMessage }
	}
	require.NoError(s.t, json.Unmarshal(answer, &r), string(answer))
	if r.Error.Data != nil {
		return r.Error.Data
	}
	require.Len(s.t, r.Result.Content, 1, string(answer))
	require.JSONEq(s.t, r.Result.Content[0].Text, string(r.Result.StructuredContent))
	return []byte(r.Result.Content[0].Text)
}

func (s *service) post(path, token, body string) []byte {
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	return data
}

// kept returns the record of the call without what differs from run to run; "" when there is none.
func (s *service) kept(t *testing.T, run, id string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/runs/"+run+"/tool-calls/"+strings.ReplaceAll(id, " ", "%20")+"/record", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+harnessKey)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	if res.StatusCode != http.StatusOK {
		return ""
	}
	return normal(t, run, data)
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
			for _, name := range []string{"started_at", "completed_at", "created_at", "deadline", "lease_until", "at", "owner", "digest"} {
				delete(v, name)
			}
			if v["code"] == "DUPLICATE_TOOL_CALL" {
				delete(v, "detail") // where the first result can be read is the door's own
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

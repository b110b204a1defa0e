package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/httpapi"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/ports/record"
	"github.com/toolboundary/toolboundary/test/contract/inboundtest"
)

const calls = "/v1/runs/r1/tool-calls"

func body(id, request string) string {
	return fmt.Sprintf(`{"tool_call_id":%q,"tool_name":"probe","request":%s}`, id, request)
}

// TestS34_EnvelopeIsStrict: what cannot be assembled is refused, counted and logged in the
// caller's own run, and no answer repeats a word of it.
func TestS34_EnvelopeIsStrict(t *testing.T) {
	s := plain(t)
	token := s.Open(t, inboundtest.RunRequest{ID: "r1"})
	const fine = `"tool_call_id":"c","tool_name":"probe","request":{"answer":[1]}`
	cases := map[string]struct{ body, reason string }{
		"authorized":             {`{` + fine + `,"authorized":true}`, "UNKNOWN_MEMBER"},
		"read_only":              {`{` + fine + `,"read_only":true}`, "UNKNOWN_MEMBER"},
		"run_id":                 {`{` + fine + `,"run_id":"r2"}`, "UNKNOWN_MEMBER"},
		"data_sources":           {`{"data_sources":["s2"],` + fine + `}`, "UNKNOWN_MEMBER"},
		"other case":             {`{"Tool_Call_ID":"CANARY",` + fine + `}`, "UNKNOWN_MEMBER"},
		"duplicate id":           {`{` + fine + `,"tool_call_id":"d"}`, "DUPLICATE_MEMBER"},
		"duplicate id, escaped":  {`{` + fine + `,"tool\u005fcall_id":"d"}`, "DUPLICATE_MEMBER"},
		"duplicate request":      {`{` + fine + `,"request":{}}`, "DUPLICATE_MEMBER"},
		"id is a number":         {`{"tool_call_id":1,"tool_name":"probe","request":{}}`, "TYPE"},
		"id is null":             {`{"tool_call_id":null,"tool_name":"probe","request":{}}`, "TYPE"},
		"tool is a list":         {`{"tool_call_id":"c","tool_name":["probe"],"request":{}}`, "TYPE"},
		"lone surrogate in id":   {`{"tool_call_id":"CANARY\ud800","tool_name":"probe","request":{}}`, "JSON"},
		"invalid UTF-8 in id":    {"{\"tool_call_id\":\"CANARY\xff\",\"tool_name\":\"probe\",\"request\":{}}", "JSON"},
		"invalid UTF-8 in name":  {"{" + fine + ",\"CANARY\xff\":1}", "JSON"},
		"trailing data":          {`{` + fine + `} CANARY`, "TRAILING_DATA"},
		"second object":          {`{` + fine + `}{}`, "TRAILING_DATA"},
		"list":                   {`["CANARY"]`, "TYPE"},
		"cut off":                {`{` + fine, "JSON"},
		"cut off in the request": {`{"tool_call_id":"c","tool_name":"probe","request":{"answer":"CANARY`, "JSON"},
		"no JSON":                {`CANARY`, "JSON"},
		"missing comma":          {`{"tool_call_id":"c" "tool_name":"probe"}`, "JSON"},
		"no content":             {``, "CONTENT_TYPE"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := s.do(t, "POST", calls, token, c.body)
			out := r.fails(t, 400, fault.RequestInvalid)
			require.Equal(t, c.reason, out.Error.Reason, r.body)
			require.Equal(t, "r1", out.RunID)
			require.Equal(t, "ERROR", string(out.Status))
			require.Equal(t, "ERROR", string(out.EvidenceStatus))
			require.NotContains(t, r.body, "CANARY")
		})
	}
	run := s.Find(t, "r1")
	require.EqualValues(t, len(cases), run.Usage.Refusals, "each counts")
	require.Zero(t, run.Usage.Calls)
	require.Zero(t, s.Executions())
	require.NotContains(t, fmt.Sprint(run.Refusals), "CANARY")

	for missing, c := range map[string]struct {
		body   string
		status int
		code   fault.Code
	}{
		"tool_call_id": {`{"tool_name":"probe","request":{}}`, 400, fault.ToolCallIDInvalid},
		"tool_name":    {`{"tool_call_id":"c","request":{}}`, 404, fault.ToolUnknown},
		"request":      {`{"tool_call_id":"c","tool_name":"probe"}`, 400, fault.RequestInvalid},
		"everything":   {`{}`, 400, fault.ToolCallIDInvalid},
	} {
		t.Run("without "+missing, func(t *testing.T) {
			s.do(t, "POST", calls, token, c.body).fails(t, c.status, c.code)
		})
	}
}

func TestS06_MalformedCallsAreOverriddenByTheRunsEnd(t *testing.T) {
	s := plain(t)
	token := s.Open(t, inboundtest.RunRequest{ID: "r1"})
	other := s.Open(t, inboundtest.RunRequest{ID: "r2"})
	s.do(t, "POST", calls, other, `{"bad`).fails(t, 403, fault.RunMismatch)
	require.EqualValues(t, 1, s.Find(t, "r2").Usage.Refusals)
	require.Zero(t, s.Find(t, "r1").Usage.Refusals)

	s.Cancel(t, "r1")
	for _, bad := range []string{`{"bad`, `{"unknown":1}`, `{}`, strings.Repeat("x", 1<<20)} {
		out := s.do(t, "POST", calls, token, bad).fails(t, 409, fault.RunInactive)
		require.Empty(t, out.Error.Reason+out.Error.Detail, "of %.20s", bad)
	}
	s.do(t, "POST", "/v1/runs/none/tool-calls", key, `{"bad`).fails(t, 404, fault.RunNotFound)
	s.do(t, "POST", calls, other, body("c", `{}`)).fails(t, 403, fault.RunMismatch)
}

func TestS07_DuplicateSaysWhereToRead(t *testing.T) {
	s := plain(t)
	token := s.Open(t, inboundtest.RunRequest{ID: "r1"})
	const id = "a/b?c=%#+d"
	first := s.do(t, "POST", calls, token, body(id, `{"answer":[1]}`))
	require.Equal(t, 200, first.status, first.body)
	out := s.do(t, "POST", calls, token, body(id, `{"answer":[2]}`)).fails(t, 409, fault.DuplicateToolCall)
	require.Equal(t, "READY", out.Error.Reason)
	require.Equal(t, id, out.ToolCallID)
	path := "/v1/runs/r1/tool-calls/a%2Fb%3Fc=%25%23+d"
	require.Equal(t, "GET "+path+" has the first call's result", out.Error.Detail)
	require.Equal(t, first.body, s.do(t, "GET", path, token, "").body, "the same bytes again")
}

func TestReadAResultAgain(t *testing.T) {
	s := plain(t)
	token := s.Open(t, inboundtest.RunRequest{ID: "r1"})
	other := s.Open(t, inboundtest.RunRequest{ID: "r2"})
	for _, id := range []string{"call_1", "a/b", "a//b", "a+b", "%2F", "a%2Fb", "...", "a;b", "a&id=b", "{id}", "~"} {
		t.Run(id, func(t *testing.T) { s.readAgain(t, token, id) })
	}
	s.do(t, "GET", calls+"/none", token, "").fails(t, 404, fault.InvocationNotFound)
	s.do(t, "GET", calls+"/none/record", key, "").fails(t, 404, fault.InvocationNotFound)
	s.do(t, "GET", calls+"/a%20b", token, "").fails(t, 400, fault.ToolCallIDInvalid)
	s.do(t, "GET", calls+"/%2e%2e", token, "").fails(t, 400, fault.ToolCallIDInvalid)
	s.do(t, "GET", calls+"/call_1", other, "").fails(t, 403, fault.RunMismatch)
	require.EqualValues(t, 1, s.Find(t, "r2").Usage.Refusals, "an attempt to read another run counts")
	for _, query := range []string{
		"", "?", "?id", "?id=", "?id=call_1&id=call_1", "?id=call_1&x=1", "?ID=call_1", "?id=%zz", "?id=a+b",
		"?id=call_1;x",
	} {
		r := s.do(t, "GET", "/v1/runs/r1/tool-call"+query, token, "")
		require.Equal(t, 400, r.status, "%q: %s", query, r.body)
	}
}

// readAgain makes a call under the id and requires its result, and its record, to be read again
// byte for byte.
func (s *site) readAgain(t *testing.T, token, id string) {
	t.Helper()
	first := s.do(t, "POST", calls, token, body(id, `{"answer":["<&>",12345678901234567890]}`))
	require.Equal(t, 200, first.status, first.body)
	executed := s.Executions()
	for _, bearer := range []string{token, key} {
		byPath := s.do(t, "GET", calls+"/"+url.PathEscape(id), bearer, "")
		require.Equal(t, first.body, byPath.body)
		byQuery := s.do(t, "GET", "/v1/runs/r1/tool-call?id="+url.QueryEscape(id), bearer, "")
		require.Equal(t, first.body, byQuery.body)
		require.Equal(t, 200, byQuery.status)
	}
	require.Equal(t, executed, s.Executions(), "nothing is executed again")
	answered := s.do(t, "GET", calls+"/"+url.PathEscape(id)+"/record", key, "")
	rec, ok := s.Record(t, "r1", id)
	require.True(t, ok, "there is no record")
	stored, err := record.Encode(rec)
	require.NoError(t, err)
	require.Equal(t, string(stored), answered.body, "the record byte for byte")
	s.do(t, "GET", calls+"/"+url.PathEscape(id)+"/record", token, "").fails(t, 403, fault.Forbidden)
}

func TestS14_RunningCallIsPending(t *testing.T) {
	s := plain(t)
	token := s.Open(t, inboundtest.RunRequest{ID: "r1"})
	var running sync.WaitGroup
	running.Go(func() {
		_, _ = s.send(t.Context(), "POST", calls, token, []byte(body("c", `{"do":"hold","answer":[1]}`)))
	})
	require.NoError(t, s.AwaitRunning(t.Context(), 1))
	r := s.do(t, "GET", calls+"/c", token, "")
	require.Equal(t, http.StatusAccepted, r.status)
	require.Equal(t, `{"run_id":"r1","tool_call_id":"c","status":"PROJECTING"}`, r.body)
	require.Equal(t, "1", r.header.Get("Retry-After"))
	overview := s.do(t, "GET", "/v1/runs/r1", key, "").body
	require.Contains(t, overview, `"status":"PROJECTING","started_at"`)
	require.NotContains(t, overview, "evidence_status", "the placeholder is never shown as evidence")
	s.Release()
	running.Wait()
	require.Equal(t, 200, s.do(t, "GET", calls+"/c", token, "").status)
}

func TestErrorsThatAreRecordedAre200(t *testing.T) {
	s := plain(t)
	token := s.Open(t, inboundtest.RunRequest{ID: "r1"})
	for id, request := range map[string]string{
		"unavailable": `{"do":"fail","code":"DATA_SOURCE_UNAVAILABLE"}`,
		"leak":        `{"do":"leak","text":"secret"}`,
		"timeout":     `{"do":"fail","code":"EXECUTION_TIMEOUT"}`,
	} {
		t.Run(id, func(t *testing.T) {
			r := s.do(t, "POST", calls, token, body(id, request))
			require.Equal(t, 200, r.status, r.body)
			require.NotContains(t, r.body, "agent_result")
			require.Equal(t, r.body, s.do(t, "GET", calls+"/"+id, token, "").body)
		})
	}
}

func TestHarnessMayCallForItsRun(t *testing.T) {
	s := plain(t)
	s.Open(t, inboundtest.RunRequest{ID: "r1"})
	r := s.do(t, "POST", calls, key, body("c", `{"answer":[1]}`))
	require.Equal(t, 200, r.status, r.body)
	s.do(t, "POST", "/v1/runs/none/tool-calls", key, body("c", `{"answer":[1]}`)).fails(t, 404, fault.RunNotFound)
	s.do(t, "POST", calls, key, `{"tool_call_id":"d","tool_name":"other","request":{}}`).
		fails(t, 403, fault.ToolNotAuthorized)
}

func TestTools(t *testing.T) {
	s := plain(t)
	token := s.Open(t, inboundtest.RunRequest{ID: "r1"})
	r := s.do(t, "GET", "/v1/tools", token, "")
	require.Equal(t, `{"tools":[{"name":"probe","title":"PROBE","description":"Does what its request says.",`+
		`"input_schema":{"type":"object"},"output_schema":{"type":"object"},"data_sources":["s1"]}]}`, r.body)
	r = s.do(t, "GET", "/v1/tools", key, "")
	require.Contains(t, r.body, `"name":"other"`)
	require.Contains(t, r.body, `"data_sources":["s1","s2"]`)
}

func TestRateLimit(t *testing.T) {
	s := newSite(t, httpapi.Options{}, application.Options{MaxConcurrent: 2})
	token := s.Open(t, inboundtest.RunRequest{ID: "r1"})
	var running sync.WaitGroup
	for i := range 2 {
		running.Go(func() {
			_, _ = s.send(t.Context(), "POST", calls, token, []byte(body(fmt.Sprint("c", i), `{"do":"hold"}`)))
		})
	}
	require.NoError(t, s.AwaitRunning(t.Context(), 2))
	r := s.do(t, "POST", calls, token, body("c9", `{"answer":[1]}`))
	r.fails(t, 429, fault.RateLimited)
	require.Equal(t, "1", r.header.Get("Retry-After"))
	require.Equal(t, 202, s.do(t, "GET", calls+"/c0", token, "").status, "reading is not limited")
	require.Zero(t, s.Find(t, "r1").Usage.Refusals)
	s.Release()
	running.Wait()
	require.Equal(t, 200, s.do(t, "POST", calls, token, body("c9", `{"answer":[1]}`)).status)
}

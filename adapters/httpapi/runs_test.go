package httpapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/httpapi"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/test/contract/inboundtest"
	"github.com/toolboundary/toolboundary/test/rig"
)

const key = rig.HarnessKey

func plain(t *testing.T) *site { return newSite(t, httpapi.Options{}, application.Options{}) }

// fails requires the answer to be an error with this status and code, and returns it.
func (r reply) fails(t *testing.T, status int, code fault.Code) said {
	t.Helper()
	require.Equal(t, status, r.status, r.body)
	out := r.said(t)
	require.Equal(t, code, out.Error.Code, r.body)
	require.Equal(t, code.Sentence(), out.Error.Message)
	return out
}

func TestOpenARun(t *testing.T) {
	s := plain(t)
	r := s.do(t, "POST", "/v1/runs", key, `{"run_id":"r1","ttl_seconds":60,
		"tools":["probe","other","probe"],"data_sources":["s1"],
		"budget":{"max_calls":5,"max_calls_per_tool":{"probe":3},"max_bytes":1000,"max_refusals":0}}`)
	require.Equal(t, 201, r.status, r.body)
	run, token, _ := strings.Cut(r.body, `,"agent_token":`)
	require.Equal(t, `{"run":{"run_id":"r1","state":"ACTIVE","created_at":"2026-11-30T12:00:00.000Z",`+
		`"deadline":"2026-11-30T12:01:00.000Z","tools":["other","probe"],"data_sources":["s1"],`+
		`"budget":{"max_calls":5,"max_calls_per_tool":{"probe":3},"max_bytes":1000,"max_refusals":0},`+
		`"usage":{"calls":0,"bytes":0,"refusals":0}}`, run)
	require.Regexp(t, `^"[A-Za-z0-9_.-]+"\}$`, token)

	s.do(t, "POST", "/v1/runs", key, `{"run_id":"r1","tools":["probe"]}`).fails(t, 409, fault.RunExists)
	r = s.do(t, "POST", "/v1/runs", key,
		`{"run_id":"r2","tools":["probe","other"],"budget":{"max_calls_per_tool":7}}`)
	require.Contains(t, r.body, `"max_calls_per_tool":{"other":7,"probe":7}`)
	require.Contains(t, r.body, `"data_sources":[]`)
	require.Contains(t, r.body, `"deadline":"2026-11-30T13:00:00.000Z"`, "the default is the ceiling")
}

func TestOpenRefusesWhatPassesACeiling(t *testing.T) {
	s := plain(t)
	for _, members := range []string{
		`"ttl_seconds":3601`, `"ttl_seconds":0`, `"ttl_seconds":-1`, `"ttl_seconds":9223372036854775807`,
		`"budget":{"max_calls":1001}`, `"budget":{"max_calls":-1}`, `"budget":{"max_bytes":33554433}`,
		`"budget":{"max_refusals":1001}`, `"budget":{"max_calls_per_tool":-1}`,
	} {
		t.Run(members, func(t *testing.T) {
			r := s.do(t, "POST", "/v1/runs", key, `{"run_id":"r1","tools":["probe"],`+members+`}`)
			require.Equal(t, "CEILING", r.fails(t, 400, fault.RequestInvalid).Error.Reason, r.body)
		})
	}
	for _, c := range []struct {
		body   string
		status int
		code   fault.Code
	}{
		{`{"run_id":"r1","tools":[]}`, 400, fault.RequestInvalid},
		{`{"tools":["probe"]}`, 400, fault.RequestInvalid},
		{`{"run_id":"../r","tools":["probe"]}`, 400, fault.RequestInvalid},
		{`{"run_id":"r1","tools":["nosuch"]}`, 404, fault.ToolUnknown},
		{`{"run_id":"r1","tools":["probe"],"data_sources":["nosuch"]}`, 404, fault.DataSourceUnknown},
	} {
		t.Run(c.body, func(t *testing.T) { s.do(t, "POST", "/v1/runs", key, c.body).fails(t, c.status, c.code) })
	}
	s.do(t, "GET", "/v1/runs/r1", key, "").fails(t, 404, fault.RunNotFound)
}

// TestS03_BodiesAreStrict: each body is refused for its own reason, and no answer repeats a
// word of it or of the parser.
func TestS03_BodiesAreStrict(t *testing.T) {
	s := plain(t)
	for name, c := range map[string]struct{ body, reason string }{
		"unknown member":             {`{"run_id":"r1","tools":["probe"],"CANARY":1}`, "UNKNOWN_MEMBER"},
		"unknown member below":       {`{"run_id":"r1","tools":["probe"],"budget":{"CANARY":1}}`, "UNKNOWN_MEMBER"},
		"member in other case":       {`{"Run_ID":"r1","tools":["probe"]}`, "UNKNOWN_MEMBER"},
		"member in other case below": {`{"run_id":"r1","tools":["probe"],"budget":{"MAX_CALLS":1}}`, "UNKNOWN_MEMBER"},
		"dash for underscore":        {`{"run-id":"r1","tools":["probe"]}`, "UNKNOWN_MEMBER"},
		"$schema":                    {`{"$schema":"x","run_id":"r1","tools":["probe"]}`, "UNKNOWN_MEMBER"},
		"duplicate member":           {`{"run_id":"r1","run_id":"r2","tools":["probe"]}`, "DUPLICATE_MEMBER"},
		"duplicate, escaped":         {`{"run_id":"r1","run\u005fid":"r2","tools":["probe"]}`, "DUPLICATE_MEMBER"},
		"duplicate below": {`{"run_id":"r1","tools":["probe"],"budget":{"max_calls_per_tool":{"probe":1,"probe":2}}}`,
			"DUPLICATE_MEMBER"},
		"null":             {`{"run_id":"r1","tools":["probe"],"ttl_seconds":null}`, "NULL"},
		"null alone":       {`null`, "NULL"},
		"trailing data":    {`{"run_id":"r1","tools":["probe"]} {}`, "TRAILING_DATA"},
		"trailing garbage": {`{"run_id":"r1","tools":["probe"]}CANARY`, "TRAILING_DATA"},
		"invalid UTF-8":    {"{\"run_id\":\"CANARY\xff\",\"tools\":[\"probe\"]}", "JSON"},
		"lone surrogate":   {`{"run_id":"CANARY\ud800","tools":["probe"]}`, "JSON"},
		"wrong type":       {`{"run_id":"r1","tools":"CANARY"}`, "TYPE"},
		"number as text":   {`{"run_id":"r1","tools":["probe"],"ttl_seconds":"60"}`, "TYPE"},
		"fraction":         {`{"run_id":"r1","tools":["probe"],"ttl_seconds":1.5}`, "TYPE"},
		"exponent":         {`{"run_id":"r1","tools":["probe"],"ttl_seconds":1e1}`, "TYPE"},
		"huge number":      {`{"run_id":"r1","tools":["probe"],"ttl_seconds":99999999999999999999}`, "TYPE"},
		"per tool as list": {`{"run_id":"r1","tools":["probe"],"budget":{"max_calls_per_tool":["CANARY"]}}`, "TYPE"},
		"no object":        {`["CANARY"]`, "TYPE"},
		"no JSON":          {`run_id=CANARY`, "JSON"},
		"cut off":          {`{"run_id":"CANARY`, "JSON"},
		"empty":            {``, "CONTENT_TYPE"},
		"blank":            {`  `, "JSON"},
		"NaN":              {`{"run_id":"r1","tools":["probe"],"ttl_seconds":NaN}`, "JSON"},
		"comment":          {`{"run_id":"r1",/*CANARY*/"tools":["probe"]}`, "JSON"},
		"byte order mark":  {"\ufeff{\"run_id\":\"r1\",\"tools\":[\"probe\"]}", "JSON"},
		"deep":             {`{"run_id":` + strings.Repeat("[", 65) + strings.Repeat("]", 65) + `}`, "NESTING"},
		"very deep":        {`{"run_id":` + strings.Repeat("[", 100000), "NESTING"},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.do(t, "POST", "/v1/runs", key, c.body)
			out := r.fails(t, 400, fault.RequestInvalid)
			require.Equal(t, c.reason, out.Error.Reason, r.body)
			for _, word := range []string{"CANARY", "jsontext", "json:", "Go ", "invalid character", "offset"} {
				require.NotContains(t, r.body, word)
			}
		})
	}
	s.do(t, "GET", "/v1/runs/r1", key, "").fails(t, 404, fault.RunNotFound)
}

func TestContentType(t *testing.T) {
	s := plain(t)
	const body = `{"run_id":"r1","tools":["probe"]}`
	for _, media := range []string{
		"", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1",
		"application/cbor", "application/problem+json", "json", "*/*",
	} {
		t.Run(media, func(t *testing.T) {
			r := s.do(t, "POST", "/v1/runs", key, body, "Content-Type", media)
			require.Equal(t, "CONTENT_TYPE", r.fails(t, 400, fault.RequestInvalid).Error.Reason, r.body)
		})
	}
	r := s.do(t, "POST", "/v1/runs", key, body, "Content-Encoding", "gzip")
	require.Equal(t, "CONTENT_TYPE", r.fails(t, 400, fault.RequestInvalid).Error.Reason, r.body)
	r = s.do(t, "POST", "/v1/runs", key, body,
		"Content-Type", "application/JSON; charset=UTF-8", "Accept", "application/xml")
	require.Equal(t, 201, r.status, r.body)
}

func TestBodiesAreBounded(t *testing.T) {
	s := plain(t)
	token := s.Open(t, inboundtest.RunRequest{ID: "r1"})
	for path, bearer := range map[string]string{
		"/v1/runs": key, "/v1/runs/r1/references": key, "/v1/runs/r1/cancel": key, "/v1/runs/r1/tool-calls": token,
	} {
		t.Run(path, func(t *testing.T) {
			s.do(t, "POST", path, bearer, strings.Repeat(" ", 9<<20)).fails(t, 413, fault.RequestTooLarge)
			// The answer comes although the body never ends.
			req, err := http.NewRequestWithContext(t.Context(), "POST", s.url+path,
				io.MultiReader(strings.NewReader(`{"run_id":"`), endless{}))
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer "+bearer)
			req.Header.Set("Content-Type", "application/json")
			res, err := s.client.Do(req)
			require.NoError(t, err)
			defer res.Body.Close()
			require.Equal(t, 413, res.StatusCode)
			require.True(t, res.Close, "the rest of the body is not read")
		})
	}
	require.EqualValues(t, 2, s.Find(t, "r1").Usage.Refusals, "too large a tool call counts as a refusal")
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestS06_RunLife(t *testing.T) {
	s := plain(t)
	token := s.Open(t, inboundtest.RunRequest{ID: "r1"})
	r := s.do(t, "POST", "/v1/runs/r1/token", key, "")
	require.Equal(t, 200, r.status, r.body)
	require.Contains(t, r.body, `"agent_token":"`)

	r = s.do(t, "POST", "/v1/runs/r1/cancel", key, "{}")
	require.Equal(t, 200, r.status, r.body)
	require.Contains(t, r.body, `"state":"CANCELLED"`)
	require.Equal(t, 200, s.do(t, "POST", "/v1/runs/r1/cancel", key, "").status, "repeating it is harmless")
	s.do(t, "POST", "/v1/runs/r1/complete", key, "").fails(t, 409, fault.RunInactive)
	s.do(t, "POST", "/v1/runs/r1/token", key, "").fails(t, 409, fault.RunInactive)
	s.do(t, "POST", calls, token, body("c", `{}`)).fails(t, 409, fault.RunInactive)

	s.Open(t, inboundtest.RunRequest{ID: "r2"})
	require.Contains(t, s.do(t, "POST", "/v1/runs/r2/complete", key, " ").body, `"state":"COMPLETED"`)
	s.do(t, "POST", "/v1/runs/r2/cancel", key, "").fails(t, 409, fault.RunInactive)

	s.do(t, "POST", "/v1/runs/r1/cancel", key, `{"force":true}`).fails(t, 400, fault.RequestInvalid)
	for _, path := range []string{"/v1/runs/none/cancel", "/v1/runs/none/complete", "/v1/runs/none/token"} {
		s.do(t, "POST", path, key, "").fails(t, 404, fault.RunNotFound)
	}
	s.do(t, "GET", "/v1/runs/..%2Fr1", key, "").fails(t, 400, fault.RequestInvalid)
	s.StoreDown(true)
	s.do(t, "GET", "/v1/runs/r1", key, "").fails(t, 503, fault.StoreUnavailable)
	s.do(t, "POST", "/v1/runs", key, `{"run_id":"r3","tools":["probe"]}`).fails(t, 503, fault.StoreUnavailable)
	s.StoreDown(false)
}

func TestAccess(t *testing.T) {
	s := plain(t)
	token := s.Open(t, inboundtest.RunRequest{ID: "r1"})
	s.Advance(time.Second)
	for _, c := range []struct {
		method, path string
		harnessOnly  bool
	}{
		{"POST", "/v1/runs", true},
		{"GET", "/v1/runs/r1", true},
		{"POST", "/v1/runs/r1/token", true},
		{"POST", "/v1/runs/r1/cancel", true},
		{"POST", "/v1/runs/r1/complete", true},
		{"POST", "/v1/runs/r1/references", true},
		{"GET", "/v1/runs/r1/tool-calls/c/record", true},
		{"POST", "/v1/runs/r1/tool-calls", false},
		{"GET", "/v1/runs/r1/tool-calls/c", false},
		{"GET", "/v1/runs/r1/tool-call?id=c", false},
		{"GET", "/v1/tools", false},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			if c.harnessOnly {
				s.do(t, c.method, c.path, token, `{}`).fails(t, 403, fault.Forbidden)
			}
			for _, bad := range []string{"", "x", token + "x", key + "x", "Basic", strings.Repeat("x", 40000)} {
				r := s.do(t, c.method, c.path, bad, `{}`)
				r.fails(t, 401, fault.Unauthenticated)
				require.Contains(t, r.header.Get("WWW-Authenticate"), "Bearer", "token %.20q", bad)
			}
		})
	}
	require.Equal(t, "ACTIVE", string(s.Find(t, "r1").State))
	require.Zero(t, s.Find(t, "r1").Usage)

	for _, authorization := range []string{
		"Basic " + key, key, "bearer" + key, "Bearer", "Bearer " + key + " x", "Token " + key,
	} {
		r := s.do(t, "GET", "/v1/tools", "", "", "Authorization", authorization)
		require.Equal(t, 401, r.status, authorization)
	}
	r := s.do(t, "GET", "/v1/tools", "", "", "Authorization", "bearer  "+key)
	require.Equal(t, 200, r.status, "the scheme's case does not matter: %s", r.body)

	req, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/v1/tools", nil)
	require.NoError(t, err)
	req.Header["Authorization"] = []string{"Bearer " + key, "Bearer x"}
	res, err := s.client.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 401, res.StatusCode, "two credentials are not valid")
}

func TestS17_References(t *testing.T) {
	s := plain(t)
	token := s.Open(t, inboundtest.RunRequest{ID: "r1"})
	for id, request := range map[string]string{
		"found": `{"answer":[1]}`, "nothing": `{"answer":[]}`, "failed": `{"do":"fail","code":"EXECUTION_FAILED"}`,
	} {
		r := s.do(t, "POST", calls, token, body(id, request))
		require.Equal(t, 200, r.status, r.body)
	}
	go func() {
		_, _ = s.send(t.Context(), "POST", calls, token, []byte(body("running", `{"do":"hold"}`)))
	}()
	require.NoError(t, s.AwaitRunning(t.Context(), 1))
	r := s.do(t, "POST", "/v1/runs/r1/references", key, `{"references":[
		{"tool_call_id":"found"},{"run_id":"r1","tool_call_id":"nothing"},{"tool_call_id":"failed"},
		{"tool_call_id":"running"},{"tool_call_id":"missing"},{"run_id":"r2","tool_call_id":"found"},
		{"tool_call_id":""},{},{"tool_call_id":"a b"}]}`)
	s.Release()
	require.Equal(t, 200, r.status, r.body)
	require.Equal(t, `{"references":[`+
		`{"tool_call_id":"found","referencable":true,"observation":"POSITIVE"},`+
		`{"tool_call_id":"nothing","referencable":true,"observation":"NEGATIVE"},`+
		`{"tool_call_id":"failed","referencable":false,"reason":"ERROR"},`+
		`{"tool_call_id":"running","referencable":false,"reason":"PROJECTING"},`+
		`{"tool_call_id":"missing","referencable":false,"reason":"NOT_FOUND"},`+
		`{"tool_call_id":"found","referencable":false,"reason":"RUN_MISMATCH"},`+
		`{"tool_call_id":"","referencable":false,"reason":"ID_INVALID"},`+
		`{"tool_call_id":"","referencable":false,"reason":"ID_INVALID"},`+
		`{"tool_call_id":"a b","referencable":false,"reason":"ID_INVALID"}]}`, r.body)

	require.Equal(t, `{"references":[]}`, s.do(t, "POST", "/v1/runs/r1/references", key, `{"references":[]}`).body)
	s.do(t, "POST", "/v1/runs/none/references", key, `{"references":[]}`).fails(t, 404, fault.RunNotFound)
	most := strings.Repeat(`{"tool_call_id":"x"},`, application.MaxReferences)
	r = s.do(t, "POST", "/v1/runs/r1/references", key, `{"references":[`+strings.TrimSuffix(most, ",")+`]}`)
	require.Equal(t, 200, r.status, "%.300s", r.body)
	s.do(t, "POST", "/v1/runs/r1/references", key, `{"references":[`+most+`{"tool_call_id":"x"}]}`).
		fails(t, 400, fault.RequestInvalid)
}

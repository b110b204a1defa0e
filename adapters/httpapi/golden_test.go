package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/httpapi"
	"github.com/toolboundary/toolboundary/application"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "go test ./adapters/httpapi -update rewrites the golden files")
}

func TestOpenAPIDocument(t *testing.T) {
	s := newSite(t, httpapi.Options{Version: "1.2.3", Metrics: httpapi.NewMetrics()}, application.Options{})
	doc := s.do(t, "GET", "/openapi.json", "", "").body
	golden(t, "openapi.json", doc+"\n")
	again := newSite(t, httpapi.Options{Version: "1.2.3", Metrics: httpapi.NewMetrics()}, application.Options{})
	require.Equal(t, doc, again.do(t, "GET", "/openapi.json", "", "").body, "the document is the same each time")
	require.NotContains(t, doc, "$schema")
}

// random are the parts of an answer that differ each time.
var random = regexp.MustCompile(`("agent_token":"|"owner":")[^"]+"`)

// TestGoldenAnswers keeps one answer of each kind as harnesses and agents parse it.
func TestGoldenAnswers(t *testing.T) {
	s := plain(t)
	var page bytes.Buffer
	show := func(method, path, bearer, sent string) reply {
		t.Helper()
		r := s.do(t, method, path, bearer, sent)
		fmt.Fprintf(&page, "### %s %s %s\n%d %s\n%s\n\n",
			method, path, sent, r.status, r.header.Get("Content-Type"), random.ReplaceAllString(r.body, `$1…"`))
		return r
	}
	opened := show("POST", "/v1/runs", key, `{"run_id":"r1","ttl_seconds":600,"tools":["probe"],`+
		`"data_sources":["s1"],"budget":{"max_calls":4,"max_calls_per_tool":3}}`)
	var run struct {
		AgentToken string `json:"agent_token"`
	}
	require.NoError(t, json.Unmarshal([]byte(opened.body), &run), opened.body)
	token := run.AgentToken
	show("GET", "/v1/tools", token, "")
	show("POST", calls, token, body("call_1",
		`{"data_source":"s1","answer":[{"id":9007199254740993,"name":"Ada <&>"}]}`))
	show("POST", calls, token, body("call_2", `{"answer":[]}`))
	show("POST", calls, token, body("call_3", `{"refuse":{"code":"QUERY_REJECTED",`+
		`"reason":"UNKNOWN_COLUMN","detail":"customers.ssn is not available"}}`))
	show("POST", calls, token, body("call_1", `{"answer":[]}`))
	show("POST", calls, token, body("call_3", `{"do":"fail","code":"EXECUTION_FAILED","reason":"NOT_GROUPED"}`))
	show("POST", calls, token, body("call_4", `{"answer":[]}`))
	show("POST", calls, token, `{"authorized":true}`)
	show("GET", calls+"/call_1", token, "")
	show("GET", calls+"/call_1/record", key, "")
	show("POST", "/v1/runs/r1/references", key, `{"references":[{"tool_call_id":"call_1"},`+
		`{"tool_call_id":"call_2"},{"tool_call_id":"call_3"},{"tool_call_id":"call_9"}]}`)
	show("GET", "/v1/runs/r1", key, "")
	show("POST", "/v1/runs/r1/complete", key, "")
	show("POST", calls, token, body("call_5", `{"answer":[]}`))
	show("GET", "/v1/runs/r1", token, "")
	show("GET", "/v1/runs/r1", "", "")
	show("GET", "/v1/runs/r9", key, "")
	show("GET", "/nowhere", "", "")
	show("DELETE", "/v1/runs", "", "")
	show("GET", "/readyz", "", "")
	golden(t, "answers.txt", page.String())
}

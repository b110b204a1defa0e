package mcpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/adapters/mcpserver"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/test/rig"
)

// served is a rig behind a real HTTP server, with run r1 open and granted everything.
type served struct {
	*rig.Rig
	Server *mcpserver.Server
	t      *testing.T
	url    string
	token  string
}

func serve(t *testing.T, opt mcpserver.Options) *served {
	t.Helper()
	s := &served{Rig: rig.New(t, application.Options{}), t: t}
	var err error
	s.Server, err = mcpserver.New(s.Service, s.Log, opt)
	require.NoError(t, err)
	s.token = s.open("r1", s.Catalogue.All())
	srv := httptest.NewServer(s.Server.Handler())
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// in returns the same server for a subtest: what its methods require is required of t.
func (s *served) in(t *testing.T) *served {
	sub := *s
	sub.t = t
	return &sub
}

// open opens a run with the grants and returns its agent token.
func (s *served) open(id run.ID, grants run.Grants) string {
	s.t.Helper()
	_, token, err := s.Service.Open(s.t.Context(), rig.Harness, application.OpenRequest{RunID: id, Grants: grants})
	require.NoError(s.t, err)
	return token
}

// request returns a POST of a 2025-11-25 client; edit changes it.
func (s *served) request(ctx context.Context, body string, edit ...func(*http.Request)) *http.Request {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(body))
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	for _, f := range edit {
		f(req)
	}
	return req
}

func (s *served) post(body string, edit ...func(*http.Request)) (*http.Response, reply) {
	s.t.Helper()
	res, err := http.DefaultClient.Do(s.request(s.t.Context(), body, edit...))
	require.NoError(s.t, err)
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	var r reply
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		require.NoError(s.t, json.Unmarshal(data, &r), string(data))
	}
	r.text = string(data)
	return res, r
}

// call calls probe under the id in the header.
func (s *served) call(id, arguments string, edit ...func(*http.Request)) reply {
	s.t.Helper()
	res, r := s.post(callOf("probe", arguments, ``),
		append([]func(*http.Request){header("Tool-Call-Id", id)}, edit...)...)
	require.Equal(s.t, http.StatusOK, res.StatusCode, r.text)
	return r
}

func (s *served) record(id run.ID, toolCallID string) invocation.Record {
	s.t.Helper()
	rec, ok := s.Record(s.t, id, toolCallID)
	require.True(s.t, ok, "there is no record of %s in %s", toolCallID, id)
	return rec
}

func (s *served) run(id run.ID) run.Run { return s.Find(s.t, id) }

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func callOf(name, arguments, meta string) string {
	params := `"name":"` + name + `","arguments":` + arguments
	if meta != "" {
		params += `,"_meta":` + meta
	}
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + params + `}}`
}

// reply is a JSON-RPC response, as far as the tests look at it.
type reply struct {
	text   string
	ID     json.RawMessage `json:"id"`
	Result *result         `json:"result"`
	Error  *struct {
		Code    int64
		Message string
		Data    body
	} `json:"error"`
}

// result is that of tools/call or of tools/list.
type result struct {
	IsError           bool `json:"isError"`
	Content           []struct{ Type, Text string }
	StructuredContent body `json:"structuredContent"`
	Tools             []struct {
		Name, Title, Description  string
		InputSchema, OutputSchema json.RawMessage
		Annotations               map[string]bool
	}
	CacheScope string
}

type body struct {
	RunID          string          `json:"run_id"`
	ToolCallID     string          `json:"tool_call_id"`
	Status         string          `json:"status"`
	EvidenceStatus string          `json:"evidence_status"`
	AgentResult    json.RawMessage `json:"agent_result"`
	Error          *failure
}

// failure is what is said of a call that failed or was refused.
type failure struct{ Code, Message, Reason, Detail string }

// requireResult requires a result, whether it is an error or not, and returns it.
func (r reply) requireResult(t *testing.T) result {
	t.Helper()
	require.NotNil(t, r.Result, "there is no result in %s", r.text)
	return *r.Result
}

// answered requires a result that is not an error, and returns it.
func (r reply) answered(t *testing.T) result {
	t.Helper()
	res := r.requireResult(t)
	require.False(t, res.IsError, "the result should not be an error: %s", r.text)
	return res
}

// failed requires a result that is an error with the code, which the model reads, and returns
// what it says.
func (r reply) failed(t *testing.T, code fault.Code, why ...string) failure {
	t.Helper()
	res := r.requireResult(t)
	require.True(t, res.IsError, "the result should be an error: %s", r.text)
	require.NotNil(t, res.StructuredContent.Error, r.text)
	require.Equal(t, string(code), res.StructuredContent.Error.Code, strings.Join(append(why, r.text), ": "))
	return *res.StructuredContent.Error
}

// protocolError requires a JSON-RPC error with the number.
func (r reply) protocolError(t *testing.T, number int64, why ...string) {
	t.Helper()
	require.NotNil(t, r.Error, "there is no error in %s", r.text)
	require.Equal(t, number, r.Error.Code, strings.Join(append(why, r.text), ": "))
}

// code returns the stable code of a result or of a protocol error's data, "" for success.
func (r reply) code() string {
	switch {
	case r.Error != nil && r.Error.Data.Error != nil:
		return r.Error.Data.Error.Code
	case r.Result != nil && r.Result.StructuredContent.Error != nil:
		return r.Result.StructuredContent.Error.Code
	}
	return ""
}

func running(n int) func(*fake.Executor) bool {
	return func(t *fake.Executor) bool { return t.Running() == n }
}

// soon returns a context for waiting on something that must happen.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/httpapi"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/test/contract/inboundtest"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/rig"
)

// site is the API on a real listener before a rig.
type site struct {
	*rig.Rig
	url    string
	client *http.Client
	seen   *described
}

func newSite(t kit.T, opt httpapi.Options, service application.Options) *site {
	t.Helper()
	g := rig.New(t, service)
	handler, err := httpapi.New(g.Service, g.Log, opt)
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(nil)
	server.Config = httpapi.NewServer(handler, g.Log)
	server.Start()
	t.Cleanup(server.Close)
	s := &site{Rig: g, url: server.URL, client: server.Client()}
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.seen = describe(t, s)
	return s
}

// reply is an answer read whole.
type reply struct {
	status int
	header http.Header
	body   string
}

// do makes a request and checks its answer against the OpenAPI document.
func (s *site) do(t kit.T, method, path, token, body string, headers ...string) reply {
	t.Helper()
	r, err := s.send(t.Context(), method, path, token, []byte(body), headers...)
	require.NoError(t, err)
	s.seen.check(t, method, path, r)
	return r
}

// send is do without the check.
func (s *site) send(
	ctx context.Context, method, path, token string, body []byte, headers ...string,
) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := s.client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	read, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, string(read)}, err
}

// said is what every body of a tool call may hold.
type said struct {
	RunID          string            `json:"run_id"`
	ToolCallID     string            `json:"tool_call_id"`
	Status         invocation.Status `json:"status"`
	EvidenceStatus evidence.Status   `json:"evidence_status"`
	AgentResult    json.RawMessage   `json:"agent_result"`
	Error          struct {
		Code    fault.Code `json:"code"`
		Message string     `json:"message"`
		Reason  string     `json:"reason"`
		Detail  string     `json:"detail"`
	} `json:"error"`
}

func (r reply) said(t kit.T) said {
	t.Helper()
	var out said
	require.NoError(t, json.Unmarshal([]byte(r.body), &out), r.body)
	return out
}

// call makes a tool call whose request is spliced in byte for byte.
func (s *site) call(t kit.T, ctx context.Context, c inboundtest.Call) (inboundtest.Outcome, error) {
	body := append([]byte(`{"tool_call_id":`), quote(c.ToolCallID)...)
	body = append(append(body, `,"tool_name":`...), quote(c.Tool)...)
	body = append(append(append(body, `,"request":`...), c.Request...), '}')
	path := "/v1/runs/" + url.PathEscape(string(c.RunID)) + "/tool-calls"
	r, err := s.send(ctx, http.MethodPost, path, c.Token, body)
	if err != nil {
		return inboundtest.Outcome{}, err
	}
	s.seen.check(t, http.MethodPost, path, r)
	out := r.said(t)
	// The suite waits for some calls in another goroutine, which this must not end.
	assert.Equal(t, s.recorded(t, c, out), r.status == http.StatusOK,
		"200 if and only if there is a record: %d %s", r.status, r.body)
	header, err := json.Marshal(r.header)
	require.NoError(t, err)
	return inboundtest.Outcome{
		Status: out.Status, EvidenceStatus: out.EvidenceStatus, AgentResult: out.AgentResult,
		Code: out.Error.Code, Reason: out.Error.Reason, Detail: out.Error.Detail,
		Said: string(header) + r.body,
	}, nil
}

// recorded reports whether the outcome is that of a canonical record of this very call.
func (s *site) recorded(t kit.T, c inboundtest.Call, out said) bool {
	if out.Error.Code == fault.StoreUnavailable || out.Error.Code == fault.DuplicateToolCall {
		return false // the record, if any, is not this answer's
	}
	rec, ok := s.Record(t, c.RunID, c.ToolCallID)
	return ok && rec.Status == out.Status && rec.ErrorCode == out.Error.Code
}

// quote writes a JSON string and leaves bytes that are not UTF-8 as they are.
func quote(text string) []byte {
	b := []byte{'"'}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			b = append(b, []byte("\\u00"+string("0123456789abcdef"[c>>4])+string("0123456789abcdef"[c&15]))...)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

func TestInboundContract(t *testing.T) {
	inboundtest.Test(t, inboundtest.Subject{New: func(t kit.T) (inboundtest.Service, inboundtest.Caller) {
		s := newSite(t, httpapi.Options{}, application.Options{})
		return s, func(ctx context.Context, c inboundtest.Call) (inboundtest.Outcome, error) {
			return s.call(t, ctx, c)
		}
	}})
}

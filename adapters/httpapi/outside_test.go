package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/httpapi"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/test/contract/inboundtest"
	"github.com/toolboundary/toolboundary/test/rig"
)

func TestUnknownPathsAndMethods(t *testing.T) {
	s := plain(t)
	for _, path := range []string{
		"/", "/v1", "/v2/runs", "/v1/runs/", "/v1//runs", "/v1/runs/r1/", "/v1/./runs", "/v1/x/../runs", "/v1%2Fruns",
		"/V1/runs", "/v1/runs/r1/tool-calls/a/b", "/docs", "/schemas/Run", "/openapi.yaml", "/favicon.ico",
		"/debug/pprof/",
	} {
		for _, method := range []string{"GET", "POST", "OPTIONS"} {
			t.Run(method+" "+path, func(t *testing.T) {
				r := s.do(t, method, path, key, "")
				r.fails(t, 404, fault.RouteNotFound)
				require.Empty(t, r.header.Get("Location"))
			})
		}
	}
	for path, allow := range map[string]string{
		"/v1/runs":               "POST, OPTIONS",
		"/v1/runs/r1":            "GET, HEAD, OPTIONS",
		"/healthz":               "GET, HEAD, OPTIONS",
		"/v1/runs/r1/tool-calls": "POST, OPTIONS",
	} {
		for _, method := range []string{"DELETE", "PUT", "PATCH", "TRACE", "BREW"} {
			t.Run(method+" "+path, func(t *testing.T) {
				r := s.do(t, method, path, key, "")
				r.fails(t, 405, fault.MethodNotAllowed)
				require.Equal(t, allow, r.header.Get("Allow"))
			})
		}
		t.Run("OPTIONS "+path, func(t *testing.T) {
			r := s.do(t, "OPTIONS", path, "", "")
			require.Equal(t, 204, r.status, r.body)
			require.Equal(t, allow, r.header.Get("Allow"))
		})
	}
}

func TestHead(t *testing.T) {
	s := plain(t)
	s.Open(t, inboundtest.RunRequest{ID: "r1"})
	require.Equal(t, 200, s.do(t, "HEAD", "/v1/runs/r1", key, "").status)
	require.Equal(t, 401, s.do(t, "HEAD", "/v1/runs/r1", "", "").status)
	require.Equal(t, 404, s.do(t, "HEAD", "/nowhere", "", "").status)
	require.Equal(t, 405, s.do(t, "HEAD", "/v1/runs", "", "").status)
}

func TestPanicsAreAnswered(t *testing.T) {
	opt := httpapi.Options{Ready: func(context.Context) httpapi.Readiness { panic("CANARY") }}
	s := newSite(t, opt, application.Options{Observe: func(application.Outcome) { panic("CANARY") }})
	token := s.Open(t, inboundtest.RunRequest{ID: "r1"})
	r := s.do(t, "GET", "/readyz", "", "")
	r.fails(t, 500, fault.Internal)
	call := s.do(t, "POST", calls, token, body("c", `{"answer":[1]}`))
	out := call.fails(t, 500, fault.Internal)
	require.Equal(t, "r1", out.RunID)
	require.Equal(t, "c", out.ToolCallID)
	require.NotContains(t, r.body+call.body+s.Logs(), "CANARY")
	require.Contains(t, s.Logs(), "panic in a handler")
	require.NotContains(t, s.Logs(), "outside_test.go", "S23: no stack at info level")
}

func TestOperator(t *testing.T) {
	state := httpapi.Readiness{}
	ready := func(context.Context) httpapi.Readiness { return state }
	s := newSite(t, httpapi.Options{Ready: ready}, application.Options{})
	require.Equal(t, `{"status":"ok"}`, s.do(t, "GET", "/healthz", "", "").body)
	for _, c := range []struct {
		state  httpapi.Readiness
		status int
		body   string
	}{
		{httpapi.Readiness{}, 200, `{"status":"ready","data_sources_down":0}`},
		{httpapi.Readiness{DataSourcesDown: 2}, 200, `{"status":"degraded","data_sources_down":2}`},
		{httpapi.Readiness{StoreDown: true}, 503, `{"status":"not_ready","data_sources_down":0}`},
		{httpapi.Readiness{Stopping: true}, 503, `{"status":"stopping","data_sources_down":0}`},
	} {
		t.Run(c.body, func(t *testing.T) {
			state = c.state
			r := s.do(t, "GET", "/readyz", "", "")
			require.Equal(t, c.status, r.status)
			require.Equal(t, c.body, r.body)
		})
	}
	s.do(t, "GET", "/metrics", "", "").fails(t, 404, fault.RouteNotFound)
}

func TestMetrics(t *testing.T) {
	metrics := httpapi.NewMetrics()
	s := newSite(t, httpapi.Options{Metrics: metrics}, application.Options{Observe: metrics.Observe})
	token := s.Open(t, inboundtest.RunRequest{ID: "run-CANARY"})
	path := "/v1/runs/run-CANARY/tool-calls"
	s.do(t, "POST", path, token, body("call-CANARY", `{"answer":[1]}`))
	s.do(t, "POST", path, token, body("call-CANARY", `{"answer":[1]}`))
	s.do(t, "POST", path, token, `{"tool_call_id":"x","tool_name":"CANARY","request":{}}`)
	s.do(t, "POST", path, token, body("y", `{"refuse":{"code":"QUERY_REJECTED","reason":"CANARY"}}`))
	s.do(t, "GET", "/CANARY", token, "")
	s.do(t, "CANARY", "/healthz", token, "")
	page := s.do(t, "GET", "/metrics", "", "").body
	const invocations = `toolboundary_invocations_total`
	for _, line := range []string{
		invocations + `{code="",evidence_status="EVIDENCE_FOUND",recorded="true",status="READY",tool_name="probe"} 1`,
		invocations + `{code="DUPLICATE_TOOL_CALL",evidence_status="ERROR",recorded="false",` +
			`status="ERROR",tool_name="probe"} 1`,
		invocations + `{code="TOOL_UNKNOWN",evidence_status="ERROR",recorded="false",status="ERROR",tool_name=""} 1`,
		`toolboundary_invocation_bytes_total{body="request",tool_name="probe"} 14`,
		`toolboundary_http_requests_total{method="POST",route="/v1/runs/{run}/tool-calls",status="200"} 1`,
		`toolboundary_http_requests_total{method="GET",route="",status="404"} 1`,
		`toolboundary_http_requests_total{method="other",route="",status="405"} 1`,
	} {
		require.Contains(t, page, line+"\n")
	}
	require.NotContains(t, page, "CANARY")
}

func TestAdminListener(t *testing.T) {
	opt := httpapi.Options{Metrics: httpapi.NewMetrics(), SeparateAdmin: true}
	s := newSite(t, opt, application.Options{})
	for _, path := range []string{"/metrics", "/readyz"} {
		s.do(t, "GET", path, "", "").fails(t, 404, fault.RouteNotFound)
	}
	require.Equal(t, 200, s.do(t, "GET", "/healthz", "", "").status)

	admin, err := httpapi.Admin(zap.NewNop(), opt)
	require.NoError(t, err)
	for path, status := range map[string]int{
		"/metrics": 200, "/readyz": 200, "/healthz": 200, "/v1/tools": 404, "/openapi.json": 404,
	} {
		w := httptest.NewRecorder()
		admin.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		require.Equal(t, status, w.Code, path)
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	g := rig.New(t, application.Options{})
	_, err := httpapi.New(g.Service, g.Log, httpapi.Options{RequestLimit: -1})
	require.Error(t, err)
}

func TestTraceID(t *testing.T) {
	s := plain(t)
	token := s.Open(t, inboundtest.RunRequest{ID: "r1"})
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for name, c := range map[string]struct{ header, logged string }{
		"valid":         {"00-" + id + "-00f067aa0ba902b7-01", id},
		"later_version": {"01-" + id + "-00f067aa0ba902b7-01-later", id},
		"none":          {"", ""},
		"more_in_00":    {"00-" + id + "-00f067aa0ba902b7-01-more", ""},
		"version_ff":    {"ff-" + id + "-00f067aa0ba902b7-01", ""},
		"zero":          {"00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01", ""},
		"upper_case":    {"00-" + strings.ToUpper(id) + "-00f067aa0ba902b7-01", ""},
		"quote":         {`00-` + id + `"-x-01`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s.do(t, "POST", calls, token, body(name, `{"answer":[1]}`), "traceparent", c.header)
			var logged struct {
				TraceID string `json:"trace_id"`
			}
			line := lineOf(t, s.Logs(), `"tool_call_id":"`+name+`"`)
			require.NoError(t, json.Unmarshal([]byte(line), &logged), line)
			require.Equal(t, c.logged, logged.TraceID)
		})
	}
}

// lineOf returns the only line of the text that contains the part.
func lineOf(t *testing.T, text, part string) string {
	t.Helper()
	var found []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			found = append(found, line)
		}
	}
	require.Len(t, found, 1, "lines with %s in\n%s", part, text)
	return found[0]
}

func TestStoppingServiceSaysSo(t *testing.T) {
	s := plain(t)
	token := s.Open(t, inboundtest.RunRequest{ID: "r1"})
	s.Stop(t.Context())
	r := s.do(t, "POST", calls, token, body("c", `{"answer":[1]}`))
	r.fails(t, 503, fault.ServerStopping)
	require.Equal(t, "1", r.header.Get("Retry-After"))
}

// raw sends bytes as they are and returns the status line of the answer.
func raw(t *testing.T, address, text string) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	_, err = conn.Write([]byte(text))
	require.NoError(t, err)
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return ""
	}
	return strings.TrimSpace(line)
}

// impatient serves a rig with a short read timeout: with what the product's server has, a test
// would take as long.
func impatient(t *testing.T, timeout time.Duration) (g *rig.Rig, server *httptest.Server, token string) {
	t.Helper()
	g = rig.New(t, application.Options{})
	handler, err := httpapi.New(g.Service, g.Log, httpapi.Options{})
	require.NoError(t, err)
	server = httptest.NewUnstartedServer(nil)
	server.Config = httpapi.NewServer(handler, g.Log)
	require.Positive(t, server.Config.ReadTimeout)
	require.Positive(t, server.Config.ReadHeaderTimeout)
	require.Positive(t, server.Config.IdleTimeout)
	server.Config.ReadTimeout = timeout
	server.Start()
	t.Cleanup(server.Close)
	return g, server, g.Open(t, inboundtest.RunRequest{ID: "r1"})
}

func TestSlowBodyIsGivenUpAndCountsNothing(t *testing.T) {
	g, server, token := impatient(t, 200*time.Millisecond)
	address := server.Listener.Addr().String()
	const tools = "GET /v1/tools HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
	require.Equal(t, "HTTP/1.1 400 Bad Request", raw(t, address,
		"POST /v1/runs/r1/tool-calls HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+token+
			"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"tool_call_id\":"))
	require.Zero(t, g.Find(t, "r1").Usage.Refusals)
	require.Equal(t, "HTTP/1.1 401 Unauthorized", raw(t, address, tools+strings.Repeat("x", 60000)+"\r\n\r\n"))
	require.Equal(t, "HTTP/1.1 431 Request Header Fields Too Large",
		raw(t, address, tools+strings.Repeat("x", 80000)+"\r\n\r\n"))
	require.Equal(t, "HTTP/1.1 404 Not Found", raw(t, address, "GET //v1/tools HTTP/1.1\r\nHost: x\r\n\r\n"))
}

// A call may take longer than the server gives a client to send its body.
func TestLongCallsOutliveTheReadTimeout(t *testing.T) {
	const timeout = 100 * time.Millisecond
	g, server, token := impatient(t, timeout)
	go func() {
		if g.AwaitRunning(t.Context(), 1) == nil {
			time.AfterFunc(2*timeout, g.Release) // the body was read, and the timeout then passes
		}
	}()
	req, err := http.NewRequestWithContext(t.Context(), "POST", server.URL+calls,
		strings.NewReader(body("c", `{"do":"hold","answer":[1]}`)))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := server.Client().Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, 200, res.StatusCode)
	rec, ok := g.Record(t, "r1", "c")
	require.True(t, ok, "there is no record")
	require.Equal(t, "READY", string(rec.Status))
}

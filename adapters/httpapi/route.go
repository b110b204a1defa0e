package httpapi

import (
	"errors"
	"net/http"
	"path"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
)

// access says who may use a route.
type access int

const (
	anyone access = iota
	agentOrHarness
	harness
)

// route is one call of the API: how it is matched, who may make it, what it does, and how it
// is described.
type route struct {
	method, path string
	who          access
	// call marks the routes about one tool call, whose errors name the call.
	call bool
	do   func(*exchange) (answer, error)
	docs docs
}

// answer is a whole response; content defaults to JSON.
type answer struct {
	status  int
	content string
	body    []byte
}

// exchange is one request with its response.
type exchange struct {
	w      http.ResponseWriter
	r      *http.Request
	route  route
	caller application.Caller
	// runID and toolCallID are what the request names, safe or not.
	runID      run.ID
	toolCallID string
}

// handler returns the routes as one handler that answers everything in the API's own shape.
func (a *api) handler(routes []route) http.Handler {
	mux := http.NewServeMux()
	for _, rt := range routes {
		mux.HandleFunc(rt.method+" "+rt.path, func(w http.ResponseWriter, r *http.Request) {
			a.serve(&exchange{w: w, r: traced(r), route: rt, runID: run.ID(r.PathValue("run")),
				toolCallID: r.PathValue("id")})
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, pattern := mux.Handler(r)
		if pattern == "" || !clean(r.URL.EscapedPath()) {
			a.unrouted(&exchange{w: w, r: r}, h, pattern == "")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// clean reports whether a path is one that the mux would match rather than redirect.
func clean(escaped string) bool {
	return escaped == path.Clean(escaped)
}

// unrouted answers a request that matches no route. unmatched reports whether h is the mux's own
// handler for that case, which knows the methods that the path accepts.
func (a *api) unrouted(x *exchange, h http.Handler, unmatched bool) {
	allow := ""
	if unmatched {
		asked := headerOnly{}
		h.ServeHTTP(asked, x.r)
		allow = http.Header(asked).Get("Allow")
	}
	switch {
	case allow == "":
		a.write(x, a.failure(x, fault.New(fault.RouteNotFound)))
	case x.r.Method == http.MethodOptions:
		x.w.Header().Set("Allow", allow+", OPTIONS")
		a.write(x, answer{status: http.StatusNoContent})
	default:
		x.w.Header().Set("Allow", allow+", OPTIONS")
		a.write(x, a.failure(x, fault.New(fault.MethodNotAllowed)))
	}
}

// headerOnly is a ResponseWriter that keeps the header.
type headerOnly http.Header

func (h headerOnly) Header() http.Header         { return http.Header(h) }
func (h headerOnly) Write(b []byte) (int, error) { return len(b), nil }
func (h headerOnly) WriteHeader(int)             {}

// serve authenticates, runs the route and writes its answer. Nothing is written before the
// answer is whole, so a panic can still be answered.
func (a *api) serve(x *exchange) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p == http.ErrAbortHandler {
			panic(p)
		}
		// The panic's value may hold anything; the stack holds only code.
		a.log.Error("panic in a handler", zap.String("route", x.route.path))
		a.log.Debug("panic in a handler", zap.ByteString("stack", debug.Stack()))
		a.write(x, a.failure(x, fault.New(fault.Internal)))
	}()
	err := a.admit(x)
	var ans answer
	if err == nil {
		ans, err = x.route.do(x)
	}
	if err != nil {
		ans = a.failure(x, err)
	}
	a.write(x, ans)
}

// admit checks the credentials against the route, before any body is read. The service checks again
// what the caller may do.
func (a *api) admit(x *exchange) error {
	if x.route.who == anyone {
		return nil
	}
	var err error
	if x.caller, err = a.svc.Authenticate(bearer(x.r)); err != nil {
		return err
	}
	if x.route.who == harness {
		return x.caller.RequireHarness()
	}
	return nil
}

// bearer returns the one bearer token of a request, or "".
func bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimLeft(token, " ")
}

// failure returns the answer of an error.
func (a *api) failure(x *exchange, err error) answer {
	f := fault.Of(err)
	if f.Code == fault.Internal {
		a.log.Error("request failed", zap.String("route", x.route.path), zap.String("code", string(f.Code)),
			zap.String("reason", f.Reason))
	}
	if cause := errors.Unwrap(f); cause != nil {
		a.log.Debug("cause of a refusal", zap.String("route", x.route.path), zap.String("code", string(f.Code)),
			zap.Error(cause))
	}
	switch {
	case f.Code == fault.Unauthenticated:
		x.w.Header().Set("WWW-Authenticate", `Bearer realm="toolboundary"`)
	case retryAfter(f.Code):
		x.w.Header().Set("Retry-After", "1")
	}
	var body any = errorBody{errorOf(f)}
	if x.route.call {
		body = callError{x.shownRun(), x.shownCall(), invocation.Error, evidence.Error, errorOf(f)}
	}
	encoded, err := encode(body)
	if err != nil {
		// Only text that is not UTF-8 cannot be encoded, and only the detail can hold such text.
		encoded, _ = encode(errorBody{errorOf(fault.New(f.Code))})
	}
	return answer{status: statusOf(f.Code), body: encoded}
}

// shownRun returns the run id of a call's path when it is safe to repeat.
func (x *exchange) shownRun() run.ID {
	if x.runID.Check() != nil {
		return ""
	}
	return x.runID
}

// shownCall returns the tool_call_id when it is safe to repeat.
func (x *exchange) shownCall() string {
	if invocation.CheckToolCallID(x.toolCallID) != nil {
		return ""
	}
	return x.toolCallID
}

// writeTimeout is how long the client may take to read an answer.
const writeTimeout = 30 * time.Second

// write sends the answer whole.
func (a *api) write(x *exchange, ans answer) {
	h := x.w.Header()
	if ans.content == "" {
		ans.content = "application/json"
	}
	if ans.status != http.StatusNoContent {
		h.Set("Content-Type", ans.content)
	}
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	// A writer that knows no deadlines, such as a test's recorder, needs none.
	_ = http.NewResponseController(x.w).SetWriteDeadline(time.Now().Add(writeTimeout))
	x.w.WriteHeader(ans.status)
	_, _ = x.w.Write(ans.body) // a client that is gone misses its answer; the record is kept (S25)
	a.opt.Metrics.answered(x.r.Method, x.route.path, ans.status)
}

var traceparent = regexp.MustCompile(`^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$`)

// traced returns the request with the trace id of its W3C traceparent header; an invalid
// header is ignored.
func traced(r *http.Request) *http.Request {
	header := r.Header.Get("traceparent")
	m := traceparent.FindStringSubmatch(header)
	if m == nil || strings.HasPrefix(header, "ff") || strings.Trim(m[1], "0") == "" ||
		strings.HasPrefix(header, "00") && m[2] != "" {
		return r
	}
	return r.WithContext(application.WithTraceID(r.Context(), m[1]))
}

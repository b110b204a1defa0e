package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/fault"
)

// Handler returns the Streamable HTTP endpoint, to be mounted at /mcp. Each request carries
// the run's agent token as its bearer token; the handler keeps nothing between requests.
//
// Closing the response stream of a 2026-07-28 request cancels its call. Older revisions say
// that a dropped connection is no cancellation, and a stateless server cannot be told otherwise.
func (s *Server) Handler() http.Handler {
	inner := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return s.mcp },
		&mcp.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true, PropagateRequestCancellation: true,
			MaxRequestBodyBytes:        int64(s.opt.MaxMessage),
			DisableLocalhostProtection: true, // hostAllowed does it, before anything is read
		})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.hostAllowed(r) || s.origin.Check(r) != nil {
			answerError(w, http.StatusForbidden, nil, errOrigin,
				fault.Because(fault.Forbidden, "ORIGIN", errOrigin.Message))
			return
		}
		caller, ok := s.authenticate(w, r)
		if !ok {
			return
		}
		if r.Method == http.MethodPost {
			if r, ok = s.receive(w, r, caller); !ok {
				return
			}
		}
		inner.ServeHTTP(w, r)
	})
}

// hostAllowed keeps a page that had its own name resolve to this server (DNS rebinding) out.
func (s *Server) hostAllowed(r *http.Request) bool {
	host := hostname(r.Host)
	if len(s.opt.AllowedHosts) > 0 {
		return slices.ContainsFunc(s.opt.AllowedHosts,
			func(allowed string) bool { return strings.EqualFold(hostname(allowed), host) })
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return !ok || !isLoopback(hostname(local.String())) || isLoopback(host)
}

// hostname returns the host of host[:port], without the brackets of an IPv6 address.
func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// authenticate answers 401 unless the request carries the agent token of a run, and 403 for a
// harness key: a harness calls for any run, and here no message names one.
func (s *Server) authenticate(w http.ResponseWriter, r *http.Request) (application.Caller, bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		token = ""
	}
	caller, err := s.svc.Authenticate(strings.TrimSpace(token))
	if err != nil {
		challenge := `Bearer realm="toolboundary"`
		if token != "" {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		answerError(w, http.StatusUnauthorized, nil, errNoToken, fault.Of(err))
		return application.Caller{}, false
	}
	if caller.Agent == nil {
		w.Header().Set("WWW-Authenticate", `Bearer realm="toolboundary", error="insufficient_scope"`)
		answerError(w, http.StatusForbidden, nil, errHarness,
			fault.Because(fault.Forbidden, "AGENT_TOKEN_NEEDED", errHarness.Message))
		return application.Caller{}, false
	}
	return caller, true
}

// Errors that are this server's own; their codes lie outside JSON-RPC's reserved range.
var (
	errNoToken = &jsonrpc.Error{Code: http.StatusUnauthorized, Message: "send the run's agent token as a bearer token"}
	errHarness = &jsonrpc.Error{Code: http.StatusForbidden, Message: "send the run's agent token, not a harness key"}
	errOrigin  = &jsonrpc.Error{Code: http.StatusForbidden, Message: "this Host or Origin may not call the server"}
)

// statusOf is the HTTP status of a message that is refused before it is dispatched. Since
// 2026-07-28 an unknown method is 404; before, it is an answer like any other.
func statusOf(protocol *jsonrpc.Error, r *http.Request) int {
	if protocol.Code != jsonrpc.CodeMethodNotFound {
		return http.StatusBadRequest
	}
	if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" {
		return http.StatusNotFound
	}
	return http.StatusOK
}

// receive reads and parses the message. An invalid message is counted as a refusal of the run.
func (s *Server) receive(w http.ResponseWriter, r *http.Request, caller application.Caller) (*http.Request, bool) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(s.opt.MaxMessage)))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		protocol, f := s.refuse(r.Context(), caller, errTooLarge)
		answerError(w, http.StatusRequestEntityTooLarge, nil, protocol, f)
		return nil, false
	case err != nil:
		answerError(w, http.StatusBadRequest, nil, errNotMessage, fault.New(fault.RequestInvalid))
		return nil, false
	}
	m, err := parse(data)
	if err != nil {
		protocol, f := s.refuse(r.Context(), caller, err)
		answerError(w, statusOf(protocol, r), m.id, protocol, f)
		return nil, false
	}
	ctx := context.WithValue(r.Context(), inboundKey{}, inbound{message: m, caller: caller, header: r.Header})
	r = r.WithContext(ctx)
	r.Body = io.NopCloser(bytes.NewReader(data))
	return r, true
}

// answerError answers with a JSON-RPC error that carries the safe error body.
func answerError(w http.ResponseWriter, status int, id json.RawMessage, protocol *jsonrpc.Error, f *fault.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(protocolError(id, protocol, f)) // a client that is gone needs no answer
}

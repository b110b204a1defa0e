package mcpserver_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mcpserver"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
)

// modern turns a request into one of 2026-07-28.
func modern(tool string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", "tools/call")
		r.Header.Set("Mcp-Name", tool)
	}
}

const modernMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientCapabilities":{},"toolboundary/toolCallId":"call_1"}`

// leave sends the request, and closes the connection when probe executes it.
func (s *served) leave(body string, edit ...func(*http.Request)) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() {
		res, err := http.DefaultClient.Do(s.request(ctx, body, edit...))
		if err == nil {
			_ = res.Body.Close()
		}
		ended <- err
	}()
	require.NoError(s.t, s.Probe.Await(soon(s.t), running(1)))
	cancel()
	require.ErrorIs(s.t, <-ended, context.Canceled)
}

// settled waits until the record of call_1 is settled, and returns it.
func (s *served) settled() (rec invocation.Record) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		rec = s.record("r1", "call_1")
		return rec.Status != invocation.Projecting
	}, 20*time.Second, 5*time.Millisecond, "the record of call_1 should be settled")
	return rec
}

func TestS36_ClosingTheResponseCancelsTheCall(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	s.leave(callOf("probe", `{"do":"block"}`, modernMeta), modern("probe"))
	require.NoError(t, s.Probe.Await(soon(t), running(0)))
	require.Equal(t, fault.ExecutionCancelled, s.settled().ErrorCode, "S25: settled all the same")
}

func TestADroppedConnectionOfAnOlderRevisionDoesNotCancel(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	s.leave(callOf("probe", `{"do":"hold","answer":[1]}`, ``), header("Tool-Call-Id", "call_1"))
	s.Probe.Release()
	require.Equal(t, invocation.Ready, s.settled().Status)
}

func TestS06_TheRunsEndReachesTheCall(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	s.call("call_1", `{"answer":[1]}`).answered(t)
	s.Clock.Advance(61 * time.Minute)
	r := s.call("call_2", `{"answer":[1]}`)
	r.failed(t, fault.RunDeadlineExceeded)
	require.NotContains(t, r.text, "restart", "that is for stdio")
}

func TestTheTraceReachesTheLog(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	_, r := s.post(callOf("probe", `{"answer":[1]}`,
		`{"toolboundary/toolCallId":"call_1","traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}`))
	r.answered(t)
	require.Contains(t, s.Logs(), `"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"`)
}

func TestS23_NothingOfAFailureLeaks(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	for _, c := range []struct {
		id, arguments string
		code          fault.Code
	}{
		{"executor_leaks", `{"do":"leak","text":"CANARY"}`, fault.Internal},
		{"executor_panics", `{"do":"panic","text":"CANARY"}`, fault.ExecutionFailed},
		{"projector_panics", `{"answer":{"project":"panic","text":"CANARY"}}`, fault.ProjectionFailed},
		{"prepare_panics", `{"prepare_panic":"CANARY"}`, fault.Internal},
	} {
		t.Run(c.id, func(t *testing.T) {
			r := s.in(t).call(c.id, c.arguments)
			r.failed(t, c.code)
			require.NotContains(t, r.text, "CANARY")
		})
	}
	require.NotContains(t, s.Logs(), "CANARY")
}

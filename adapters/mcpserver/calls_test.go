package mcpserver_test

import (
	"context"
	"net/http"
	"sync"
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

const modernMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"toolboundary/toolCallId":"call_1"}`

func TestS36_ClosingTheResponseCancelsTheCall(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		_, err := http.DefaultClient.Do(s.request(ctx, callOf("probe", `{"do":"block"}`, modernMeta), modern("probe"))) //nolint:bodyclose // there is none
		require.ErrorIs(t, err, context.Canceled)
	})
	require.NoError(t, s.Probe.Await(soon(t), running(1)))
	cancel()
	done.Wait()
	require.NoError(t, s.Probe.Await(soon(t), running(0)))
	require.Eventually(t, func() bool { return s.record("r1", "call_1").Status == invocation.Error }, 20*time.Second, 5*time.Millisecond)
	require.Equal(t, fault.ExecutionCancelled, s.record("r1", "call_1").ErrorCode, "S25: settled all the same")
}

func TestADroppedConnectionOfAnOlderRevisionIsNoCancellation(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		_, err := http.DefaultClient.Do(s.request(ctx, callOf("probe", `{"do":"hold","answer":[1]}`, ``), header("Tool-Call-Id", "call_1"))) //nolint:bodyclose // there is none
		require.ErrorIs(t, err, context.Canceled)
	})
	require.NoError(t, s.Probe.Await(soon(t), running(1)))
	cancel()
	done.Wait()
	s.Probe.Release()
	require.Eventually(t, func() bool { return s.record("r1", "call_1").Status == invocation.Ready }, 20*time.Second, 5*time.Millisecond)
}

func TestS06_TheRunsEndReachesTheCall(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	require.Empty(t, s.call("call_1", `{"answer":[1]}`).code())
	s.Clock.Advance(61 * time.Minute)
	r := s.call("call_2", `{"answer":[1]}`)
	require.True(t, r.Result.IsError)
	require.Equal(t, "RUN_DEADLINE_EXCEEDED", r.code())
	require.NotContains(t, r.text, "restart", "that is for stdio")
}

func TestTheTraceReachesTheLog(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	_, r := s.post(callOf("probe", `{"answer":[1]}`,
		`{"toolboundary/toolCallId":"call_1","traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}`))
	require.Empty(t, r.code())
	require.Contains(t, s.Logs(), `"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"`)
}

func TestS23_NothingOfAFailureLeaks(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	for id, arguments := range map[string]string{
		"call_1": `{"do":"leak","text":"CANARY"}`, "call_2": `{"do":"panic","text":"CANARY"}`,
		"call_3": `{"answer":{"project":"panic","text":"CANARY"}}`, "call_4": `{"prepare_panic":"CANARY"}`,
	} {
		r := s.call(id, arguments)
		require.True(t, r.Result.IsError)
		require.NotContains(t, r.text, "CANARY")
		require.NotEmpty(t, r.code())
	}
	require.NotContains(t, s.Logs(), "CANARY")
}

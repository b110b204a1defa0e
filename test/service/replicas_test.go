package service_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
	"github.com/toolboundary/toolboundary/test/service"
)

// TestReplicas runs two processes of the service on one Redis.
func TestReplicas(t *testing.T) {
	db := database(t)
	redis := servers.Redis(t)
	configuration := "store: {kind: redis, redis: {addrs: [\"" + redis.Addr + "\"]}}\n" +
		shop(db, "5s", "max_connections: 64")
	binary := service.Build(t)
	a, b := service.StartBinary(t, binary, configuration), service.StartBinary(t, binary, configuration)
	// both makes the i-th call of a run on one of the two processes.
	both := func(i int, token, run, id string) (service.Call, error) {
		s := []*service.Service{a, b}[i%2]
		return s.Invoke(t.Context(), token, run, id, "mysql_query", cheapQuery)
	}

	t.Run("S08 budget", func(t *testing.T) {
		token := a.In(t).Open("budget", tenCalls)
		require.Equal(t, map[string]int{"": 10, "RUN_BUDGET_EXHAUSTED": 54},
			outcomes(64, func(i int) (service.Call, error) { return both(i, token, "budget", fmt.Sprint("call_", i)) }))
	})
	t.Run("S07 one id", func(t *testing.T) {
		token := b.In(t).Open("one", "")
		require.Equal(t, map[string]int{"": 1, "DUPLICATE_TOOL_CALL": 31},
			outcomes(32, func(i int) (service.Call, error) { return both(i, token, "one", "call_1") }))
	})
	t.Run("S36 cancel on the other", func(t *testing.T) {
		a, b := a.In(t), b.In(t)
		token := a.Open("cancel", "")
		wait := a.Send(t.Context(), token, "cancel", "call_1", "mysql_query", slowQuery)
		running(t, db, true)
		since := time.Now()
		b.Must(200, "POST", "/v1/runs/cancel/cancel", "")
		c, err := wait()
		require.NoError(t, err)
		require.Equal(t, "EXECUTION_CANCELLED", c.Error.Code, "%v", c)
		t.Logf("cancelled on the other process after %v", time.Since(since))
		running(t, db, false)
		t.Logf("and gone from the process list after %v", time.Since(since))
	})
	t.Run("S16 kill -9", func(t *testing.T) {
		a, b := a.In(t), b.In(t)
		token := a.Open("killed", "")
		wait := a.Send(t.Context(), token, "killed", "call_1", "mysql_query", slowQuery)
		running(t, db, true)
		a.Kill()
		_, err := wait()
		require.Error(t, err, "nobody answers a call of a process that was killed")
		c, err := b.Invoke(t.Context(), token, "killed", "call_1", "mysql_query", cheapQuery)
		require.NoError(t, err)
		require.Equal(t, "DUPLICATE_TOOL_CALL", c.Error.Code, "the id stays used")
		require.Equal(t, "PROJECTING", c.Error.Reason)
		c = b.Query(token, "killed", "call_2", "SELECT id FROM customers LIMIT 1")
		require.Equal(t, "READY", c.Status, "the rest of the run works: %v", c)
		// The query's timeout, the store's and the slack: some 20 s.
		require.Equal(t, "EXECUTION_LOST", awaitError(t, b, "killed", "call_1"))
		answer := b.Must(200, "POST", "/v1/runs/killed/references", `{"references":[{"tool_call_id":"call_1"}]}`)
		require.Contains(t, string(answer), `"reason":"ERROR"`)
	})
}

func TestS24_TheStoreIsDown(t *testing.T) {
	db := database(t)
	redis := servers.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
	s := service.Start(t, "store: {kind: redis, redis: {addrs: [\""+redis.Addr+"\"]}}\n"+shop(db, "5s"))
	token := s.Open("r1", "")
	c := s.Query(token, "r1", "call_1", "SELECT id FROM customers LIMIT 1")
	require.Equal(t, "READY", c.Status, "%v", c)
	redis.Kill(t)
	c = s.Query(token, "r1", "call_2", "SELECT id FROM customers LIMIT 1")
	require.Equal(t, "STORE_UNAVAILABLE", c.Error.Code, "%v", c)
	require.Equal(t, 503, c.HTTP)
	a, err := s.Do(t.Context(), "", "GET", "/readyz", "")
	require.NoError(t, err)
	require.Equal(t, 503, a.Status)
	redis.Start(t)
	require.Eventually(t, func() bool {
		id := fmt.Sprint("call_", time.Now().UnixNano())
		return s.Query(token, "r1", id, "SELECT id FROM customers LIMIT 1").Status == "READY"
	}, 20*time.Second, 50*time.Millisecond, "the service recovers by itself")
	kept := s.Must(200, "GET", "/v1/runs/r1/tool-calls/call_1", "")
	require.Contains(t, string(kept), "READY", "the record is still there")
}

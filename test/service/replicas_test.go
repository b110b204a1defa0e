package service_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
	"github.com/toolboundary/toolboundary/test/service"
)

const cheapQuery = `{"data_source":"shop","sql":"SELECT id FROM customers LIMIT 1"}`

// TestReplicas runs two processes of the service on one Redis.
func TestReplicas(t *testing.T) {
	db := database(t)
	redis := servers.Redis(t)
	configuration := "store: {kind: redis, redis: {addrs: [\"" + redis.Addr + "\"]}}\n" +
		strings.Replace(shop(db, "5s"), "default_schema", "max_connections: 64\n    default_schema", 1)
	a, b := service.StartProcess(t, configuration), service.StartProcess(t, configuration)
	spread := func(token, run string, n int, id func(i int) string) map[string]int {
		var mu sync.Mutex
		var all sync.WaitGroup
		codes := map[string]int{}
		for i := range n {
			s := []*service.Service{a, b}[i%2]
			all.Go(func() {
				c, err := s.Invoke(t.Context(), token, run, id(i), "mysql_query", cheapQuery)
				if err != nil {
					c.Error.Code = err.Error()
				}
				mu.Lock()
				defer mu.Unlock()
				codes[c.Error.Code]++
			})
		}
		all.Wait()
		return codes
	}

	t.Run("S08 budget", func(t *testing.T) {
		token := a.Open("budget", `"tools":["mysql_query"],"data_sources":["shop"],"budget":{"max_calls":10}`)
		require.Equal(t, map[string]int{"": 10, "RUN_BUDGET_EXHAUSTED": 54}, spread(token, "budget", 64, func(i int) string { return fmt.Sprint("call_", i) }))
	})
	t.Run("S07 one id", func(t *testing.T) {
		token := b.Open("one", "")
		require.Equal(t, map[string]int{"": 1, "DUPLICATE_TOOL_CALL": 31}, spread(token, "one", 32, func(int) string { return "call_1" }))
	})
	t.Run("S36 cancel on the other", func(t *testing.T) {
		token := a.Open("cancel", "")
		ended := make(chan service.Call, 1)
		go func() {
			c, _ := a.Invoke(context.Background(), token, "cancel", "call_1", "mysql_query", slowQuery)
			ended <- c
		}()
		running(t, db, true)
		since := time.Now()
		b.Must(200, "POST", "/v1/runs/cancel/cancel", "")
		require.Equal(t, "EXECUTION_CANCELLED", (<-ended).Error.Code)
		t.Logf("cancelled on the other process after %v", time.Since(since))
		running(t, db, false)
		t.Logf("and gone from the process list after %v", time.Since(since))
	})
	t.Run("S16 kill -9", func(t *testing.T) {
		token := a.Open("killed", "")
		go func() { _, _ = a.Invoke(context.Background(), token, "killed", "call_1", "mysql_query", slowQuery) }()
		running(t, db, true)
		a.Kill()
		c, err := b.Invoke(t.Context(), token, "killed", "call_1", "mysql_query", cheapQuery)
		require.NoError(t, err)
		require.Equal(t, "DUPLICATE_TOOL_CALL", c.Error.Code, "the id stays used")
		require.Equal(t, "PROJECTING", c.Error.Reason)
		require.Equal(t, "READY", b.Query(token, "killed", "call_2", "SELECT id FROM customers LIMIT 1").Status, "the rest of the run works")
		require.Eventually(t, func() bool { // the query's timeout, the store's and the slack: some 20 s
			record, found := b.Record("killed", "call_1")
			return found && string(record["error_code"]) == `"EXECUTION_LOST"`
		}, 90*time.Second, 250*time.Millisecond)
		answer := b.Must(200, "POST", "/v1/runs/killed/references", `{"references":[{"tool_call_id":"call_1"}]}`)
		require.Contains(t, string(answer), `"reason":"ERROR"`)
	})
}

func TestS24_TheStoreIsDown(t *testing.T) {
	db := database(t)
	redis := servers.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
	s := service.Start(t, "store: {kind: redis, redis: {addrs: [\""+redis.Addr+"\"]}}\n"+shop(db, "5s"))
	token := s.Open("r1", "")
	require.Equal(t, "READY", s.Query(token, "r1", "call_1", "SELECT id FROM customers LIMIT 1").Status)
	redis.Kill(t)
	c := s.Query(token, "r1", "call_2", "SELECT id FROM customers LIMIT 1")
	require.Equal(t, "STORE_UNAVAILABLE", c.Error.Code)
	require.Equal(t, 503, c.HTTP)
	a, err := s.Do(t.Context(), "", "GET", "/readyz", "")
	require.NoError(t, err)
	require.Equal(t, 503, a.Status)
	redis.Start(t)
	require.Eventually(t, func() bool {
		c := s.Query(token, "r1", fmt.Sprint("call_", time.Now().UnixNano()), "SELECT id FROM customers LIMIT 1")
		return c.Status == "READY"
	}, 20*time.Second, 50*time.Millisecond, "the service recovers by itself")
	require.Contains(t, string(s.Must(200, "GET", "/v1/runs/r1/tool-calls/call_1", "")), "READY", "the record is still there")
}

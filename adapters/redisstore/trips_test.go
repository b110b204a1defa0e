package redisstore_test

import (
	"bufio"
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/servers"
)

// counter counts round trips: one command or one pipeline each.
type counter struct{ trips atomic.Int64 }

func (c *counter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.trips.Add(1)
		return next(ctx, cmd)
	}
}

func (c *counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.trips.Add(1)
		return next(ctx, cmds)
	}
}

func TestS07_S08_RoundTrips(t *testing.T) {
	r := servers.Redis(t)
	s := open(t, patient(r.Addr))
	on := openRun(t, s, "r1")
	broke := openRun(t, s, "broke", func(r *run.Run) { r.Budget.MaxCalls = 0 })
	warm(t, s)
	_, err := begin(t.Context(), s, on, call(on, "first"))
	require.NoError(t, err)

	var c counter
	s.Client().AddHook(&c)
	const n = 1000
	for what, do := range map[string]struct {
		trips int64
		do    func(i int) error
	}{
		"successful calls": {2, func(i int) error {
			raw := 100
			if i%100 == 0 {
				raw = 1 << 20 // a large record is staged within the same round trip
			}
			rec, err := begin(t.Context(), s, on, callOf(on, fresh(), 20+i%2*(20<<10)))
			if err == nil {
				_, err = s.Settle(t.Context(), answered(t, rec, raw))
			}
			return err
		}},
		"duplicates": {1, func(int) error {
			_, err := begin(t.Context(), s, on, call(on, "first"))
			return want(fault.DuplicateToolCall, err)
		}},
		"spent budgets": {1, func(int) error {
			_, err := begin(t.Context(), s, broke, call(broke, fresh()))
			return want(fault.RunBudgetExhausted, err)
		}},
		"refusals": {1, func(int) error {
			return s.Refuse(t.Context(), on.ID, on.Incarnation, run.Refusal{Code: fault.QueryRejected}, true)
		}},
		"loads": {1, func(int) error {
			_, err := s.Load(t.Context(), on.ID, ports.Whole, "first")
			return err
		}},
		"look-ups of runs in flight": {1, func(int) error {
			_, err := s.Ended(t.Context(), "r1", "broke", "ghost")
			return err
		}},
	} {
		before := c.trips.Load()
		for i := range n {
			require.NoError(t, do.do(i), what)
		}
		trips := c.trips.Load() - before
		require.Equal(t, do.trips*n, trips, what)
		t.Logf("%d %s: %d round trips", n, what, trips)
	}
}

// want returns nil for an error with this code.
func want(code fault.Code, err error) error {
	if fault.CodeOf(err) == code {
		return nil
	}
	return err
}

func TestS18_ReadsIssueNoExpiryCommand(t *testing.T) {
	r := servers.Redis(t, "--appendonly", "no")
	s := open(t, patient(r.Addr))
	on := openRun(t, s, "r1")
	projecting, err := begin(t.Context(), s, on, call(on, "call_1"))
	require.NoError(t, err)
	rec, err := begin(t.Context(), s, on, call(on, "call_2"))
	require.NoError(t, err)
	_, err = s.Settle(t.Context(), answered(t, rec, 100<<10))
	require.NoError(t, err)

	lines := monitor(t, r.Addr)
	for _, view := range []ports.View{ports.Whole, ports.Head} {
		_, err = s.Load(t.Context(), "r1", view, projecting.ToolCallID, rec.ToolCallID, "nope")
		require.NoError(t, err)
	}
	_, err = s.Find(t.Context(), "r1")
	require.NoError(t, err)
	_, err = s.Ended(t.Context(), "r1")
	require.NoError(t, err)
	require.NoError(t, s.Client().Echo(t.Context(), "the end").Err())

	seen := map[string]bool{}
	for line := range lines {
		line = strings.ToLower(line)
		if strings.Contains(line, "the end") {
			break
		}
		for _, word := range []string{`"get"`, `"getrange"`, `"hgetall"`, `"time"`, `"hmget"`} {
			seen[word] = seen[word] || strings.Contains(line, word)
		}
		for _, word := range []string{"expire", "getex", "persist", "set", "rename", "del", "unlink", "keepttl"} {
			require.NotContains(t, commandOf(line), word)
		}
	}
	require.Len(t, seen, 5, "the monitor shows the reads: %v", seen)
}

// commandOf returns the name of the command in a line of MONITOR.
func commandOf(line string) string {
	_, rest, _ := strings.Cut(line, `] "`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}

// monitor returns what a server executes from now on.
func monitor(t testing.TB, addr string) <-chan string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	_, err = conn.Write([]byte("MONITOR\r\n"))
	require.NoError(t, err)
	in := bufio.NewScanner(conn)
	in.Buffer(nil, 8<<20)
	require.True(t, in.Scan())
	require.Equal(t, "+OK", in.Text())
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		for in.Scan() {
			lines <- in.Text()
		}
	}()
	return lines
}

func TestS22_LargeRecordsAreNotCopiedThroughScripts(t *testing.T) {
	r := servers.Redis(t, "--appendonly", "no")
	s := open(t, patient(r.Addr))
	on := openRun(t, s, "r1")
	rec, err := begin(t.Context(), s, on, call(on, "call_1"))
	require.NoError(t, err)
	lines := monitor(t, r.Addr)
	next := answered(t, rec, 4<<20)
	_, err = s.Settle(t.Context(), next)
	require.NoError(t, err)
	require.NoError(t, s.Client().Echo(t.Context(), "the end").Err())
	for line := range lines {
		if strings.Contains(line, "the end") {
			break
		}
		if name := commandOf(strings.ToLower(line)); name != "set" || strings.Contains(line, "lua]") {
			require.Less(t, len(line), 16<<10, "%s carries the record", name)
		}
	}
	got := load(t, s, rec)
	require.Equal(t, invocation.Ready, got.Status)
	require.Len(t, got.RawResponse, 4<<20)
	keys, err := s.Client().Keys(t.Context(), "*}s:*").Result()
	require.NoError(t, err)
	require.Empty(t, keys, "nothing stays staged")
}

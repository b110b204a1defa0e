package mysql_test

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/test/servers"
)

// patience is how long an event may take on a busy machine.
const patience = 20 * time.Second

// running counts the account's statements that contain the text.
func (r *rig) running(t testing.TB, m *servers.MySQL, text string) int {
	n := 0
	for _, s := range m.Processlist(t) {
		if s.User == r.user && strings.Contains(s.Info, text) {
			n++
		}
	}
	return n
}

func (r *rig) await(t testing.TB, m *servers.MySQL, text string, want int) {
	t.Helper()
	require.Eventually(t, func() bool { return r.running(t, m, text) == want }, patience, 10*time.Millisecond,
		"statements with %s: want %d", text, want)
}

func connections(s *mysql.Source, n int) { s.MaxConnections = n }

func TestS36_TheQueryTimeoutStopsTheStatement(t *testing.T) {
	m := shop(t)
	r := newRig(t, m, func(s *mysql.Source, _ *mysql.Options) { s.QueryTimeout = time.Second; connections(s, 1) })
	plan := r.plan(t, "SELECT nap FROM v_slow")
	require.Greater(t, plan.Timeout, time.Second)
	for range 3 {
		began := time.Now()
		raw, err := r.Execute(t.Context(), plan, 1<<20)
		require.Equal(t, fault.ExecutionTimeout, fault.CodeOf(err))
		require.Nil(t, raw)
		require.Greater(t, time.Since(began), 900*time.Millisecond)
		r.await(t, m, "v_slow", 0)
	}
	require.Len(t, r.ask(t, "SELECT id FROM customers WHERE id = ?", 1), 1)
	require.Zero(t, r.logs.FilterLevelExact(2).Len(), "%v", r.logs.All())
}

// The statement is gone from the server about when the call returns: it would go on for longer
// than a test waits.
func TestS36_ACancelledCallStopsItsStatement(t *testing.T) {
	m := shop(t)
	r := newRig(t, m, func(s *mysql.Source, _ *mysql.Options) { s.QueryTimeout = 10 * time.Minute; connections(s, 1) })
	plan := r.plan(t, "SELECT nap FROM v_busy")
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { _, err := r.Execute(ctx, plan, 1<<20); ended <- err }()
		r.await(t, m, "v_busy", 1)
		cancel()
		require.Equal(t, fault.ExecutionCancelled, fault.CodeOf(<-ended))
		began := time.Now()
		r.await(t, m, "v_busy", 0)
		t.Logf("gone from the process list %v after the call returned", time.Since(began).Round(time.Millisecond))
		require.Len(t, r.ask(t, simple), 1, "the pool of one works")
	}
}

// A second KILL would meet the statement while it leaves its wait, and then take the server two
// seconds; the one ends statement and connection.
func TestS36_AStopIsOneKill(t *testing.T) {
	m := shop(t)
	user, password := m.Account(t, grants...)
	through := newRelay(t, m.Addr)
	r := rigFor(t, through.addr, user, password)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	slow := r.plan(t, "SELECT nap FROM v_slow")
	go func() { _, err := r.Execute(ctx, slow, 1<<20); ended <- err }()
	r.await(t, m, "v_slow", 1)
	list := m.Processlist(t)
	at := slices.IndexFunc(list, func(s servers.Statement) bool { return strings.Contains(s.Info, "v_slow") })
	require.GreaterOrEqual(t, at, 0)
	id := list[at].ID
	cancel()
	require.Equal(t, fault.ExecutionCancelled, fault.CodeOf(<-ended))
	require.Equal(t, []string{strconv.FormatUint(id, 10)}, through.killed())
	require.Eventually(t, func() bool {
		return !slices.ContainsFunc(m.Processlist(t), func(s servers.Statement) bool { return s.ID == id })
	}, patience, 10*time.Millisecond, "the connection ends with its statement")
}

// The server's own limit holds where the client cannot stop a statement.
func TestS35_TheServerHasTheLimitToo(t *testing.T) {
	r := newRig(t, shop(t), func(s *mysql.Source, _ *mysql.Options) { s.QueryTimeout = 10 * time.Second })
	source := r.operator()
	limit := func(ctx context.Context) (got string) {
		keep := func(row []string) error { got = row[0]; return nil }
		require.NoError(t, source.Query(ctx, "SELECT @@max_statement_time + 0", keep))
		return got
	}
	require.Equal(t, "10", limit(t.Context()))
	err := source.Query(t.Context(), "SET STATEMENT max_statement_time = 0.1 FOR SELECT SLEEP(30)", nil)
	require.Equal(t, fault.ExecutionTimeout, fault.CodeOf(err), "the server's own words are understood: %v", err)

	// A deadline that leaves less than the query timeout becomes the server's limit, and goes again.
	short, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err = r.Execute(short, r.plan(t, "SELECT id FROM customers WHERE id = 1"), 1<<20)
	require.NoError(t, err)
	shorter, err := strconv.ParseFloat(limit(t.Context()), 64)
	require.NoError(t, err)
	require.LessOrEqual(t, shorter, 5.0)
	r.ask(t, "SELECT id FROM customers WHERE id = 1")
	require.Equal(t, "10", limit(t.Context()))
}

func TestS36_ManyStopsAtOnce(t *testing.T) {
	m := shop(t)
	r := newRig(t, m, func(s *mysql.Source, _ *mysql.Options) { connections(s, 8) })
	ctx, cancel := context.WithCancel(t.Context())
	plan := r.plan(t, "SELECT nap FROM v_slow")
	var wg sync.WaitGroup
	codes := make([]fault.Code, 24)
	for i := range codes {
		wg.Go(func() {
			_, err := r.Execute(ctx, plan, 1<<20)
			codes[i] = fault.CodeOf(err)
		})
	}
	r.await(t, m, "v_slow", 8)
	cancel()
	wg.Wait()
	for _, c := range codes {
		require.Equal(t, fault.ExecutionCancelled, c)
	}
	r.await(t, m, "v_slow", 0)
	for range 10 {
		r.ask(t, "SELECT id FROM customers WHERE id = 1")
	}
	require.Eventually(t, func() bool {
		list := m.Processlist(t)
		own := slices.DeleteFunc(list, func(s servers.Statement) bool { return s.User != r.user })
		return len(own) <= 8+2
	}, patience, 10*time.Millisecond, "no more connections than the pools may have")
}

// Calls that end at any moment, also between two packets, must not harm those that follow.
func TestS36_StopsAtAnyMoment(t *testing.T) {
	m := shop(t)
	r := newRig(t, m, func(s *mysql.Source, _ *mysql.Options) { connections(s, 4) })
	plans := []string{"SELECT name FROM customers WHERE id = 7", "SELECT nap FROM v_slow", "SELECT id, body FROM v_large"}
	var wg sync.WaitGroup
	for i := range 120 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond/2)
			defer cancel()
			_, err := r.Execute(ctx, r.plan(t, plans[i%3]), 1<<20)
			if err != nil {
				expected := []fault.Code{
					fault.ExecutionTimeout, fault.ResultTooLarge, fault.DataSourceBusy, fault.DataSourceUnavailable,
				}
				if !slices.Contains(expected, fault.CodeOf(err)) {
					t.Errorf("%d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	r.await(t, m, "v_", 0)
	for range 20 {
		require.Equal(t, `"Søren Å"`, string(r.ask(t, "SELECT name FROM customers WHERE id = 7")[0][0]))
	}
}

func TestS20_AHundredThousandRowsOfTenKilobytes(t *testing.T) {
	m := shop(t)
	through := newRelay(t, m.Addr)
	r := newRig(t, m, func(s *mysql.Source, _ *mysql.Options) { s.Address = through.addr })
	r.ask(t, "SELECT id FROM customers WHERE id = 1")
	const limit = 4 << 20
	grown := growth(t, func() {
		_, err := r.Execute(t.Context(), r.plan(t, "SELECT id, body FROM v_large"), limit)
		require.Equal(t, fault.ResultTooLarge, fault.CodeOf(err))
	})
	t.Logf("100,000 rows of 10 KiB against a limit of 4 MiB: the heap grew by %d KiB", grown>>10)
	require.Less(t, grown, int64(4*limit))
	r.await(t, m, "v_large", 0) // the server is not left sending
	require.Less(t, through.answered.Load(), int64(64<<20), "what is left of the gigabyte is not drained")
	require.Len(t, r.ask(t, "SELECT id FROM customers WHERE id = 1"), 1)
}

// A single row is bounded too: the driver reads a row whole, so the wire is what stops it.
func TestS20_OneHugeRow(t *testing.T) {
	m := servers.MariaDB(t, "--max-allowed-packet=256M")
	load(t, m)
	r := newRig(t, m)
	grown := growth(t, func() {
		_, err := r.Execute(t.Context(), r.plan(t, "SELECT body FROM v_giant"), 1<<20)
		require.Equal(t, fault.ResultTooLarge, fault.CodeOf(err))
	})
	t.Logf("one row of 100 MiB against a limit of 1 MiB: the heap grew by %d KiB", grown>>10)
	require.Less(t, grown, int64(24<<20), "the driver makes room for one packet, 16 MiB at most, before it reads it")
	r.await(t, m, "v_giant", 0)
	require.Len(t, r.ask(t, "SELECT id FROM customers WHERE id = 1"), 1)
}

// growth returns how much the heap grew at most while f ran.
func growth(t *testing.T, f func()) int64 {
	t.Helper()
	runtime.GC()
	var before, m runtime.MemStats
	runtime.ReadMemStats(&before)
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		highest := uint64(0)
		for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
			runtime.ReadMemStats(&m)
			highest = max(highest, m.HeapAlloc)
			select {
			case <-done:
				peak <- highest
				return
			default:
			}
		}
	}()
	f()
	close(done)
	return int64(<-peak) - int64(before.HeapAlloc)
}

// Where a kill reaches nobody, the server's own limit ends the statement.
func TestS36_WithoutAKillTheServersLimitHolds(t *testing.T) {
	m := shop(t)
	user, password := m.Account(t, grants...)
	// The statement must be seen running before its limit ends it.
	r := rigFor(t, servers.Rewriting(t, m.Addr, "KILL ", "DO 1+"), user, password,
		func(s *mysql.Source, _ *mysql.Options) { s.QueryTimeout = 5 * time.Second })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	slow := r.plan(t, "SELECT nap FROM v_slow")
	go func() { _, err := r.Execute(ctx, slow, 1<<20); ended <- err }()
	r.await(t, m, "v_slow", 1)
	cancel()
	require.Equal(t, fault.ExecutionCancelled, fault.CodeOf(<-ended))
	r.await(t, m, "v_slow", 0)
	require.Len(t, r.ask(t, simple), 1)
}

func TestCloseWaitsForRunningStatements(t *testing.T) {
	m := shop(t)
	r := newRig(t, m)
	plan, quick := r.plan(t, "SELECT nap FROM v_slow"), r.plan(t, simple)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { _, err := r.Execute(ctx, plan, 1<<20); ended <- err }()
	r.await(t, m, "v_slow", 1)
	closed := make(chan error, 1)
	go func() { closed <- r.Close(t.Context()) }()
	require.Eventually(t, func() bool {
		_, err := r.Execute(t.Context(), quick, 1<<20)
		return fault.CodeOf(err) == fault.DataSourceUnavailable
	}, patience, time.Millisecond)
	select {
	case <-closed:
		require.Fail(t, "it did not wait")
	default:
	}
	cancel()
	require.Equal(t, fault.ExecutionCancelled, fault.CodeOf(<-ended))
	require.NoError(t, <-closed)
	require.Equal(t, map[string]fault.Code{"shop": fault.DataSourceUnavailable}, r.Ready(t.Context()))
}

package redisstore_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/servers"
)

// behind returns a server, a store that reaches it through a proxy, and one beside that.
func behind(
	t *testing.T, args ...string,
) (r *servers.RedisServer, p *servers.FaultProxy, s, beside *redisstore.Store) {
	t.Helper()
	r = servers.Redis(t, append([]string{"--appendonly", "no"}, args...)...)
	p = servers.Proxy(t, r.Addr)
	opt := quick(p.Addr)
	opt.Patience = 20 * time.Second // an operation that can go through does, however busy the machine is
	opt.PoolSize = 1                // so that the connection that is open is the one that is used
	s = open(t, opt)
	opt.Addrs = []string{r.Addr}
	beside = open(t, opt)
	warm(t, beside)
	return r, p, s, beside
}

// brief returns a context for an operation that nothing answers.
func brief(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// during calls op on an open connection while the proxy is in trouble, and ends the trouble once the
// server has executed it.
func during[A any](
	t *testing.T, s *redisstore.Store, trouble func(), executed func() bool, after func(), op func() A,
) A {
	t.Helper()
	require.NoError(t, s.Client().Ping(t.Context()).Err())
	trouble()
	var result A
	var done sync.WaitGroup
	done.Go(func() { result = op() })
	eventually(t, "the server executed it", executed)
	after()
	done.Wait()
	return result
}

func TestS24_LostReplies(t *testing.T) {
	for name, lose := range map[string]func(p *servers.FaultProxy){
		"dropped": func(p *servers.FaultProxy) { p.DropReplies() },
		"cut":     func(p *servers.FaultProxy) { p.CutReplies(0) },
	} {
		t.Run(name, func(t *testing.T) {
			_, p, s, beside := behind(t)
			on := openRun(t, s, "r1", func(r *run.Run) { r.Budget.MaxCalls, r.Budget.MaxRefusals = 1, 1 })
			rec := call(on, "call_1")
			trouble := func() { lose(p) }
			heal := func() {
				p.Pass(t)
				p.KillConnections()
				eventually(t, "the store is back", func() bool { return s.Client().Ping(t.Context()).Err() == nil })
			}

			err := during(t, s, trouble, func() bool { return load(t, beside, rec) != nil }, heal, func() error {
				_, err := begin(t.Context(), s, on, rec)
				return err
			})
			require.NoError(t, err, "its own Begin is no duplicate")
			got, err := beside.Find(t.Context(), "r1")
			require.NoError(t, err)
			require.EqualValues(t, 1, got.Usage.Calls)

			next := answered(t, *load(t, beside, rec), 100<<10)
			isReady := func() bool { return load(t, beside, rec).Status == invocation.Ready }
			err = during(t, s, trouble, isReady, heal, func() error {
				_, err := s.Settle(t.Context(), next)
				return err
			})
			require.NoError(t, err, "its own settlement is not lost")
			got, err = beside.Find(t.Context(), "r1")
			require.NoError(t, err)
			require.EqualValues(t, next.Sizes.Request+int(next.Bytes()), got.Usage.Bytes, "charged once")

			refusals := func() int64 {
				got, err := beside.Find(t.Context(), "r1")
				require.NoError(t, err)
				return got.Usage.Refusals
			}
			err = during(t, s, trouble, func() bool { return refusals() == 1 }, heal, func() error {
				return s.Refuse(t.Context(), "r1", on.Incarnation, run.Refusal{Code: fault.QueryRejected}, true)
			})
			require.NoError(t, err, "its own refusal does not reach the limit")
			require.EqualValues(t, 1, refusals(), "counted once")

			err = during(t, s, trouble, func() bool {
				got, err := beside.Find(t.Context(), "r1")
				return err == nil && got.State == run.Cancelled
			}, heal, func() error {
				_, err := s.End(t.Context(), "r1", run.Cancelled)
				return err
			})
			require.NoError(t, err)
		})
	}
}

func TestS24_UnknownBeginIsFencedOnceTheServerIsBack(t *testing.T) {
	_, p, s, beside := behind(t)
	on := openRun(t, s, "r1")
	executed, unsent := call(on, "executed"), call(on, "unsent")

	p.DropReplies()
	_, err := begin(brief(t), s, on, executed)
	requireFault(t, fault.StoreUnavailable, err)
	p.KillConnections()
	p.Blackhole()
	_, err = begin(brief(t), s, on, unsent)
	requireFault(t, fault.StoreUnavailable, err)
	p.Pass(t)
	p.KillConnections()

	eventually(t, "the executed Begin becomes an error", func() bool {
		got := load(t, beside, executed)
		return got != nil && got.Status == invocation.Error
	})
	require.Equal(t, fault.StoreUnavailable, load(t, beside, executed).ErrorCode)
	eventually(t, "the Begin that was not executed never will be", func() bool {
		n, err := beside.Client().HExists(t.Context(), beside.RunKey("r1"), "z:"+unsent.Owner).Result()
		require.NoError(t, err)
		return n
	})
	_, err = begin(t.Context(), beside, on, unsent)
	requireFault(t, fault.StoreUnavailable, err)
	require.Nil(t, load(t, beside, unsent))
	_, err = begin(t.Context(), beside, on, call(on, "unsent"))
	require.NoError(t, err, "another execution may use the id: nothing was recorded")
	_, err = begin(t.Context(), beside, on, call(on, "executed"))
	requireFault(t, fault.DuplicateToolCall, err)
	got, err := beside.Find(t.Context(), "r1")
	require.NoError(t, err)
	require.EqualValues(t, 2, got.Usage.Calls)
}

func TestS24_PausedServer(t *testing.T) {
	r := servers.Redis(t, "--appendonly", "no")
	opt := quick(r.Addr)
	s := open(t, opt)
	opt.Patience = 20 * time.Second
	afterwards := open(t, opt)
	on := openRun(t, s, "r1")
	settling, err := begin(t.Context(), s, on, call(on, "settling"))
	require.NoError(t, err)
	r.Pause(t)
	late := call(on, "late")
	_, err = begin(t.Context(), s, on, late)
	requireFault(t, fault.StoreUnavailable, err)
	next := answered(t, settling, 100)
	_, err = s.Settle(t.Context(), next)
	requireFault(t, fault.StoreUnavailable, err)
	for _, op := range []func() error{
		func() error { _, err := s.Load(t.Context(), "r1", ports.Whole, "late"); return err },
		func() error { _, err := s.Ended(t.Context(), "r1"); return err },
		func() error { _, err := s.End(t.Context(), "r1", run.Completed); return err },
	} {
		since := time.Now()
		requireFault(t, fault.StoreUnavailable, op())
		require.Less(t, time.Since(since), 10*time.Second, "an operation has its own bound")
	}
	r.Resume(t)
	// The server may now execute what was sent while it stood still.
	eventually(t, "the late Begin did not stay an execution", func() bool {
		got := load(t, afterwards, late)
		fenced, err := afterwards.Client().HExists(t.Context(), s.RunKey("r1"), "z:"+late.Owner).Result()
		require.NoError(t, err)
		return got == nil && fenced || got != nil && got.Status == invocation.Error
	})
	got, err := afterwards.Settle(t.Context(), next)
	if err != nil { // its run was completed meanwhile, so it may have become an error before
		requireFault(t, fault.ExecutionLost, err)
	} else {
		require.Equal(t, next.Owner, got.Owner)
	}
}

func TestS24_ServerIsDown(t *testing.T) {
	_, p, s, _ := behind(t)
	on := openRun(t, s, "r1")
	rec, err := begin(t.Context(), s, on, call(on, "call_1"))
	require.NoError(t, err)
	p.Refuse()
	_, err = begin(brief(t), s, on, call(on, "call_2"))
	requireFault(t, fault.StoreUnavailable, err)
	_, err = s.Settle(brief(t), answered(t, rec, 100))
	requireFault(t, fault.StoreUnavailable, err)
	_, err = s.Open(brief(t), run.Run{ID: "r2", TTL: time.Hour, RecordTTL: time.Hour})
	requireFault(t, fault.StoreUnavailable, err)
	p.Pass(t)
	_, err = s.Settle(t.Context(), answered(t, rec, 100))
	require.NoError(t, err)
	require.Nil(t, load(t, s, call(on, "call_2")))
}

func TestS25_EndedCallersAreAnsweredAtOnce(t *testing.T) {
	_, _, s, beside := behind(t)
	on := openRun(t, s, "r1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := begin(ctx, s, on, call(on, "call_1"))
	requireFault(t, fault.StoreUnavailable, err)
	require.Nil(t, load(t, beside, call(on, "call_1")))
}

func TestS24_ScriptsAreFlushed(t *testing.T) {
	r, _, s, _ := behind(t)
	on := openRun(t, s, "r1")
	flush := func() { require.NoError(t, r.Client(t).ScriptFlush(t.Context()).Err()) }
	for _, n := range []int{100, 100 << 10} {
		flush()
		rec, err := begin(t.Context(), s, on, callOf(on, fresh(), n))
		require.NoError(t, err)
		flush()
		next := answered(t, rec, n)
		_, err = s.Settle(t.Context(), next)
		require.NoError(t, err)
		require.Equal(t, invocation.Ready, load(t, s, rec).Status)
	}
	flush()
	require.NoError(t, s.Refuse(t.Context(), "r1", on.Incarnation, run.Refusal{}, true))
	flush()
	_, err := s.Ended(t.Context(), "r1")
	require.NoError(t, err)
	flush()
	_, err = s.End(t.Context(), "r1", run.Completed)
	require.NoError(t, err)
}

func TestCloseLeavesNothingRunning(t *testing.T) {
	r := servers.Redis(t, "--appendonly", "no")
	s, err := redisstore.New(quick(r.Addr))
	require.NoError(t, err)
	on := openRun(t, s, "r1")
	require.NoError(t, s.Close())
	_, err = begin(t.Context(), s, on, call(on, "call_1"))
	requireFault(t, fault.StoreUnavailable, err)
	c := r.Client(t)
	eventually(t, "its connections are closed", func() bool {
		clients, err := c.ClientList(t.Context()).Result()
		require.NoError(t, err)
		n := 0
		for _, b := range clients {
			if b == '\n' {
				n++
			}
		}
		return n == 1
	})
}

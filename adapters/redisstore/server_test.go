package redisstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/servers"
)

func TestS24_OutOfMemory(t *testing.T) {
	r, _, s, _ := behind(t, "--maxmemory-policy", "noeviction")
	on := openRun(t, s, "r1", func(r *run.Run) { r.Budget.MaxRefusals = 5 })
	c := r.Client(t)
	settling, err := begin(t.Context(), s, on, call(on, "settling"))
	require.NoError(t, err)
	short, err := s.Begin(t.Context(), call(on, "lost"), on.Incarnation, time.Millisecond)
	require.NoError(t, err)
	before, err := s.Find(t.Context(), "r1")
	require.NoError(t, err)
	require.NoError(t, c.ConfigSet(t.Context(), "maxmemory", "1").Err())

	for _, n := range []int{100, 100 << 10} {
		refused := callOf(on, fresh(), n)
		_, err = begin(t.Context(), s, on, refused)
		requireFault(t, fault.StoreUnavailable, err)
		require.Nil(t, load(t, s, refused), "nothing half-written")
		_, err = s.Settle(t.Context(), answered(t, settling, n))
		requireFault(t, fault.StoreUnavailable, err)
		require.Equal(t, invocation.Projecting, load(t, s, settling).Status)
	}
	_, err = s.Open(t.Context(), run.Run{ID: "r2", TTL: time.Hour, RecordTTL: time.Hour})
	requireFault(t, fault.StoreUnavailable, err)
	requireFault(t, fault.StoreUnavailable, s.Refuse(t.Context(), "r1", on.Incarnation, run.Refusal{}, true))
	after, err := s.Find(t.Context(), "r1")
	require.NoError(t, err)
	require.Equal(t, before, after, "nothing was charged")

	// What ends things works although memory is full.
	eventually(t, "lost executions are settled", func() bool {
		return load(t, s, short.Record).ErrorCode == fault.ExecutionLost
	})
	_, err = s.End(t.Context(), "r1", run.Cancelled)
	require.NoError(t, err)

	require.NoError(t, c.ConfigSet(t.Context(), "maxmemory", "0").Err())
	got, err := s.Settle(t.Context(), answered(t, settling, 100<<10))
	require.NoError(t, err)
	require.Equal(t, fault.ExecutionCancelled, got.ErrorCode)
	require.Len(t, got.RawResponse, 100<<10)
}

func TestS24_ServersThatMayNotWrite(t *testing.T) {
	r := servers.Redis(t, "--appendonly", "no")
	s := open(t, quick(r.Addr))
	on := openRun(t, s, "r1")
	rec, err := begin(t.Context(), s, on, call(on, "call_1"))
	require.NoError(t, err)
	c := r.Client(t)
	killer := c.Conn() // while a server is busy, it takes no new connections
	defer killer.Close()
	require.NoError(t, killer.Ping(t.Context()).Err())
	for name, change := range map[string][2]func() error{
		"NOREPLICAS": {
			func() error { return c.ConfigSet(t.Context(), "min-replicas-to-write", "1").Err() },
			func() error { return c.ConfigSet(t.Context(), "min-replicas-to-write", "0").Err() },
		},
		"BUSY": {
			func() error {
				if err := c.ConfigSet(t.Context(), "busy-reply-threshold", "1").Err(); err != nil {
					return err
				}
				go func() { _ = c.Eval(context.WithoutCancel(t.Context()), "while true do end", nil).Err() }()
				return nil
			},
			func() error {
				if err := killer.ScriptKill(t.Context()).Err(); err != nil {
					return err
				}
				return c.ConfigSet(t.Context(), "busy-reply-threshold", "5000").Err()
			},
		},
		"NOPERM": {
			func() error { return c.Do(t.Context(), "ACL", "SETUSER", "default", "-hset", "-set").Err() },
			func() error { return c.Do(t.Context(), "ACL", "SETUSER", "default", "+hset", "+set").Err() },
		},
	} {
		require.NoError(t, change[0](), name)
		id := fresh()
		eventually(t, name, func() bool {
			_, err := begin(t.Context(), s, on, call(on, id))
			if err == nil { // the change takes a moment
				id = fresh()
				return false
			}
			if name == "NOPERM" {
				return true
			}
			requireFault(t, fault.StoreUnavailable, err)
			return true
		})
		require.NoError(t, change[1](), name)
		_, err = begin(t.Context(), s, on, call(on, id))
		require.NoError(t, err, name)
	}
	_, err = s.Settle(t.Context(), answered(t, rec, 100))
	require.NoError(t, err)
}

func TestS23_ForeignValues(t *testing.T) {
	r := servers.Redis(t, "--appendonly", "no")
	s := open(t, quick(r.Addr))
	on := openRun(t, s, "r1")
	c := r.Client(t)

	// A record of another type.
	rec, err := begin(t.Context(), s, on, call(on, "call_1"))
	require.NoError(t, err)
	key := s.RecordKey(rec.Key())
	require.NoError(t, c.Del(t.Context(), key).Err())
	require.NoError(t, c.HSet(t.Context(), key, "f", "v").Err())
	_, err = s.Settle(t.Context(), answered(t, rec, 100))
	requireFault(t, fault.Internal, err)
	_, err = s.Settle(t.Context(), answered(t, rec, 100<<10))
	requireFault(t, fault.Internal, err)
	for _, view := range []ports.View{ports.Whole, ports.Head} {
		good, err := begin(t.Context(), s, on, call(on, fresh()))
		require.NoError(t, err)
		found, err := s.Load(t.Context(), "r1", view, "call_1", good.ToolCallID)
		require.NoError(t, err)
		requireFault(t, fault.Internal, found["call_1"].Fault)
		require.Equal(t, invocation.Projecting, found[good.ToolCallID].Record.Status)
	}
	require.Equal(t, "v", c.HGet(t.Context(), key, "f").Val())

	// A value where no call began.
	squatted := call(on, "squatted")
	require.NoError(t, c.Set(t.Context(), s.RecordKey(squatted.Key()), "mine", 0).Err())
	before, err := s.Find(t.Context(), "r1")
	require.NoError(t, err)
	for _, n := range []int{20, 20 << 10} {
		squatted = callOf(on, "squatted", n)
		_, err = begin(t.Context(), s, on, squatted)
		requireFault(t, fault.Internal, err)
	}
	require.Equal(t, "mine", c.Get(t.Context(), s.RecordKey(squatted.Key())).Val())
	after, err := s.Find(t.Context(), "r1")
	require.NoError(t, err)
	require.Equal(t, before, after)

	// Values that are not ledgers.
	for i, spoil := range []func(key string) error{
		func(key string) error { return c.Set(t.Context(), key, "text", 0).Err() },
		func(key string) error { return c.HSet(t.Context(), key, "j", "{").Err() },
		func(key string) error { return c.HSet(t.Context(), key, "j", `{"id":"another"}`).Err() },
		func(key string) error { return c.HSet(t.Context(), key, "n", "many").Err() },
		func(key string) error { return c.HSet(t.Context(), key, "l:0", "a:b").Err() },
	} {
		r := openRun(t, s, run.ID(fresh()))
		if i == 0 {
			require.NoError(t, c.Del(t.Context(), s.RunKey(r.ID)).Err())
		}
		require.NoError(t, spoil(s.RunKey(r.ID)))
		_, err := s.Find(t.Context(), r.ID)
		requireFault(t, fault.Internal, err)
	}
}

package redisstore_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/servers"
)

// recovers begins and settles calls until one succeeds, and returns how long that took.
func recovers(t *testing.T, s *redisstore.Store, on run.Run) time.Duration {
	t.Helper()
	since := time.Now()
	eventually(t, "the store works again", func() bool {
		rec, err := begin(t.Context(), s, on, call(on, fresh()))
		if err != nil {
			requireFault(t, fault.StoreUnavailable, err)
			return false
		}
		_, err = s.Settle(t.Context(), answered(t, rec, 30<<10))
		return err == nil
	})
	return time.Since(since)
}

func TestS24_SentinelFailover(t *testing.T) {
	group := servers.Sentinel(t)
	opt := quick(group.Addrs...)
	opt.MasterName = group.MasterName
	s := open(t, opt)
	on := openRun(t, s, "r1")
	rec, err := begin(t.Context(), s, on, call(on, "call_1"))
	require.NoError(t, err)
	ended := make(chan run.ID, 100)
	ctx, cancel := context.WithCancel(t.Context())
	watched := make(chan error, 1)
	subscribed := make(chan struct{}, 100)
	go func() {
		watched <- s.Watch(ctx, func(id run.ID) { ended <- id }, func() { subscribed <- struct{}{} })
	}()
	<-subscribed
	replicas := s.Client().(*redis.Client).Wait(t.Context(), 1, 5*time.Second).Val()
	require.EqualValues(t, 1, replicas, "the replica has it all")

	old := group.Master(t)
	old.Kill(t)
	group.AwaitPromotion(t, old)
	t.Logf("worked %s after the promotion", recovers(t, s, on))
	_, err = s.Settle(t.Context(), answered(t, rec, 100))
	require.NoError(t, err)
	<-subscribed // the watcher was interrupted and says so
	_, err = s.End(t.Context(), "r1", run.Cancelled)
	require.NoError(t, err)
	require.Equal(t, run.ID("r1"), <-ended)
	cancel()
	require.NoError(t, <-watched)
}

func TestS24_ReplicasAreNotWrittenTo(t *testing.T) {
	master := servers.Redis(t, "--appendonly", "no")
	host, port, _ := strings.Cut(master.Addr, ":")
	replica := servers.Redis(t, "--replicaof", host, port)
	s := open(t, quick(replica.Addr))
	_, err := s.Open(t.Context(), run.Run{ID: "r1", TTL: time.Hour, RecordTTL: time.Hour})
	requireFault(t, fault.StoreUnavailable, err)
	_, err = s.Check(t.Context())
	require.ErrorContains(t, err, "replica")
	require.NotContains(t, err.Error(), replica.Addr)
}

func TestS24_ClusterSlotsMove(t *testing.T) {
	group := servers.RedisCluster(t)
	opt := quick(group.Addrs...)
	opt.Patience, opt.Try = 10*time.Second, 2*time.Second
	s := open(t, opt)
	on := openRun(t, s, "r1")
	small, err := begin(t.Context(), s, on, call(on, "small"))
	require.NoError(t, err)
	large, err := begin(t.Context(), s, on, call(on, "large"))
	require.NoError(t, err)
	for range 200 { // so that the slot takes a while
		_, err := begin(t.Context(), s, on, callOf(on, fresh(), 4<<10))
		require.NoError(t, err)
	}
	c := s.Client().(*redis.ClusterClient)
	slot := int(c.ClusterKeySlot(t.Context(), s.RunKey("r1")).Val())
	owner, err := group.Owner(t.Context(), t, slot)
	require.NoError(t, err)
	var to *servers.RedisServer
	for _, node := range group.Nodes {
		if node != owner {
			to = node
		}
	}

	moved := make(chan struct{})
	results := make(chan error)
	began := 0
	go func() {
		for {
			select {
			case <-moved:
				close(results)
				return
			default:
				_, err := begin(t.Context(), s, on, call(on, fresh()))
				results <- err
			}
		}
	}()
	go func() {
		defer close(moved)
		group.MoveSlot(t, slot, to, func() {
			_, err := s.Load(t.Context(), "r1", ports.Whole, "small")
			require.NoError(t, err)
		})
	}()
	for err := range results {
		if err == nil {
			began++
			continue
		}
		requireFault(t, fault.StoreUnavailable, err)
	}
	require.Positive(t, began)
	_, err = s.Settle(t.Context(), answered(t, small, 100))
	require.NoError(t, err)
	_, err = s.Settle(t.Context(), answered(t, large, 1<<20))
	require.NoError(t, err)
	require.Len(t, load(t, s, large).RawResponse, 1<<20)
	got, err := s.Find(t.Context(), "r1")
	require.NoError(t, err)
	require.EqualValues(t, 202+began, got.Usage.Calls, "every call that was told it began, and no other")
}

func TestS24_ClusterMasterIsReplaced(t *testing.T) {
	group := servers.RedisCluster(t)
	s := open(t, quick(group.Addrs...))
	on := openRun(t, s, "r1")
	rec, err := begin(t.Context(), s, on, call(on, "call_1"))
	require.NoError(t, err)
	c := s.Client().(*redis.ClusterClient)
	owner, err := group.Owner(t.Context(), t, int(c.ClusterKeySlot(t.Context(), s.RunKey("r1")).Val()))
	require.NoError(t, err)
	replica := clusterReplica(t, owner)

	owner.Kill(t)
	require.NoError(t, replica.Do(t.Context(), "CLUSTER", "FAILOVER", "TAKEOVER").Err())
	t.Logf("worked %s after the promotion", recovers(t, s, on))
	_, err = s.Settle(t.Context(), answered(t, rec, 100))
	require.NoError(t, err)
}

// clusterReplica adds a replica to a master of a Cluster and waits until it is in step.
func clusterReplica(t *testing.T, master *servers.RedisServer) *redis.Client {
	t.Helper()
	busPort := strconv.Itoa(servers.FreePort(t))
	replica := servers.Redis(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "5000", "--cluster-port", busPort)
	c, m := replica.Client(t), master.Client(t)
	id := m.Do(t.Context(), "CLUSTER", "MYID").Val()
	host, port, _ := strings.Cut(master.Addr, ":")
	bus := m.ConfigGet(t.Context(), "cluster-port").Val()["cluster-port"]
	require.NoError(t, c.Do(t.Context(), "CLUSTER", "MEET", host, port, bus).Err())
	eventually(t, "the replica knows its master", func() bool {
		return c.Do(t.Context(), "CLUSTER", "REPLICATE", id).Err() == nil
	})
	eventually(t, "the replica is in step", func() bool {
		info := c.Info(t.Context(), "replication").Val()
		return strings.Contains(info, "master_link_status:up") && m.Wait(t.Context(), 1, time.Second).Val() == 1
	})
	return c
}

func TestS16_LargeRequestsAreLostToo(t *testing.T) {
	s := open(t, patient(servers.Redis(t).Addr))
	on := openRun(t, s, "r1")
	begun, err := s.Begin(t.Context(), callOf(on, "call_1", 200<<10), on.Incarnation, time.Millisecond)
	require.NoError(t, err)
	eventually(t, "it is lost", func() bool { return load(t, s, begun.Record).Status == invocation.Error })
	require.Equal(t, begun.Record.Request, load(t, s, begun.Record).Request)
}

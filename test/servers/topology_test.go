package servers_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
)

func TestRedisClusterSpreadsKeysOverThreeMasters(t *testing.T) {
	c := servers.RedisCluster(t)
	require.Len(t, c.Addrs, 3)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs[:1]})
	defer client.Close()
	for i := range 100 {
		require.NoError(t, client.Set(t.Context(), "k"+strconv.Itoa(i), i, 0).Err())
	}
	total := int64(0)
	for _, node := range c.Nodes {
		size, err := node.Client(t).DBSize(t.Context()).Result()
		require.NoError(t, err)
		require.Positive(t, size, "%s holds nothing", node.Addr)
		total += size
	}
	require.EqualValues(t, 100, total)
}

func TestRedisClusterMovesASlotUnderAClient(t *testing.T) {
	c := servers.RedisCluster(t)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs})
	defer client.Close()
	require.NoError(t, client.Set(t.Context(), "{tag}a", "1", 0).Err())
	slot := int(client.ClusterKeySlot(t.Context(), "{tag}a").Val())
	owner, err := c.Owner(t.Context(), t, slot)
	require.NoError(t, err)
	to := c.Nodes[0]
	if to == owner {
		to = c.Nodes[1]
	}
	asked := false
	c.MoveSlot(t, slot, to, func() {
		err := owner.Client(t).Get(t.Context(), "{tag}missing").Err()
		require.ErrorContains(t, err, "ASK")
		require.NoError(t, client.Set(t.Context(), "{tag}b", "2", 0).Err())
		asked = true
	})
	require.True(t, asked)
	require.ErrorContains(t, owner.Client(t).Get(t.Context(), "{tag}a").Err(), "MOVED")
	require.Equal(t, "1", client.Get(t.Context(), "{tag}a").Val())
	require.Equal(t, "2", client.Get(t.Context(), "{tag}b").Val())
}

func TestSentinelSwitchesOverAndReplacesAKilledMaster(t *testing.T) {
	s := servers.Sentinel(t)
	require.Len(t, s.Addrs, 3)
	first := s.Master(t)
	require.Same(t, s.Data[0], first)
	client := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: s.MasterName, SentinelAddrs: s.Addrs})
	defer client.Close()
	require.NoError(t, client.Set(t.Context(), "k", "1", 0).Err())
	acknowledged, err := client.Wait(t.Context(), 1, 10*time.Second).Result()
	require.NoError(t, err)
	require.EqualValues(t, 1, acknowledged)

	second := s.Failover(t)
	require.NotSame(t, first, second)
	require.Eventually(t, func() bool { return client.Set(t.Context(), "k", "2", 0).Err() == nil },
		30*time.Second, 20*time.Millisecond, "the new master should take writes")
	require.Equal(t, "2", second.Client(t).Get(t.Context(), "k").Val())
	require.Eventually(t, func() bool { return first.Client(t).Get(t.Context(), "k").Val() == "2" },
		30*time.Second, 20*time.Millisecond, "the old master should follow the new one")

	second.Kill(t)
	require.Same(t, first, s.AwaitPromotion(t, second))
	require.Eventually(t, func() bool { return client.Set(t.Context(), "k", "3", 0).Err() == nil },
		30*time.Second, 20*time.Millisecond, "the promoted master should take writes")
	require.Equal(t, "3", first.Client(t).Get(t.Context(), "k").Val())
}

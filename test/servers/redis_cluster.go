package servers

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	slots        = 16384
	clusterNodes = 3
	topologyWait = 60 * time.Second // for three processes on a busy machine to agree
)

// Cluster is a Redis Cluster of three masters without replicas.
type Cluster struct {
	Nodes   []*RedisServer
	Addrs   []string
	Version string
}

// RedisCluster starts three masters that share all slots and returns when each of them says so.
// They end with the test; args are added to every node's command line.
func RedisCluster(t testing.TB, args ...string) *Cluster {
	t.Helper()
	c := &Cluster{}
	for range clusterNodes {
		// The bus port's default, 10000 above the client port, may be among the kernel's ports for outgoing
		// connections.
		bus := strconv.Itoa(FreePort(t))
		options := []string{"--cluster-enabled", "yes", "--cluster-node-timeout", "5000", "--cluster-port", bus}
		node := startRedis(t, append(options, args...)...)
		c.Nodes, c.Addrs, c.Version = append(c.Nodes, node), append(c.Addrs, node.Addr), node.Version
	}
	ctx, cancel := context.WithTimeout(t.Context(), topologyWait)
	defer cancel()
	if err := c.assemble(ctx, t); err != nil {
		t.Fatalf("Redis Cluster: %v", err)
	}
	report(t, c.Nodes[0].Product+" Cluster", c.Version, strings.Join(c.Addrs, " "))
	return c
}

func (c *Cluster) assemble(ctx context.Context, t testing.TB) error {
	first, share := c.Nodes[0].Client(t), slots/clusterNodes+1
	for i, node := range c.Nodes {
		client := node.Client(t)
		// Epochs that differ from the start spare the nodes a round of collisions.
		if err := client.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
			return err
		}
		if err := client.ClusterAddSlotsRange(ctx, i*share, min((i+1)*share, slots)-1).Err(); err != nil {
			return err
		}
		if i == 0 {
			continue
		}
		bus, err := client.ConfigGet(ctx, "cluster-port").Result()
		if err != nil {
			return err
		}
		host, port, _ := strings.Cut(node.Addr, ":")
		if err := first.Do(ctx, "CLUSTER", "MEET", host, port, bus["cluster-port"]).Err(); err != nil {
			return err
		}
	}
	for _, node := range c.Nodes {
		if err := poll(ctx, func() bool { return clusterAgrees(ctx, node.Client(t)) }); err != nil {
			return fmt.Errorf("the nodes did not agree on the slots: %w", err)
		}
	}
	return nil
}

func clusterAgrees(ctx context.Context, client *redis.Client) bool {
	info, err := client.ClusterInfo(ctx).Result()
	return err == nil && strings.Contains(info, "cluster_state:ok") &&
		strings.Contains(info, "cluster_known_nodes:"+strconv.Itoa(clusterNodes)) &&
		strings.Contains(info, "cluster_slots_ok:"+strconv.Itoa(slots))
}

// MoveSlot hands a slot and its keys to another node, in the steps a resharding takes; clients meet
// ASK on the way and MOVED afterwards. between, which may be nil, runs when the slot is half way:
// marked as migrating, its keys still where they were.
func (c *Cluster) MoveSlot(t testing.TB, slot int, to *RedisServer, between func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), topologyWait)
	defer cancel()
	if err := c.moveSlot(ctx, t, slot, to, between); err != nil {
		t.Fatalf("move slot %d: %v", slot, err)
	}
}

func (c *Cluster) moveSlot(ctx context.Context, t testing.TB, slot int, to *RedisServer, between func()) error {
	from, err := c.Owner(ctx, t, slot)
	if err != nil {
		return err
	}
	source, target := from.Client(t), to.Client(t)
	sourceID, targetID := source.Do(ctx, "CLUSTER", "MYID").Val(), target.Do(ctx, "CLUSTER", "MYID").Val()
	if err := target.Do(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", sourceID).Err(); err != nil {
		return err
	}
	if err := source.Do(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", targetID).Err(); err != nil {
		return err
	}
	if between != nil {
		between()
	}
	host, port, _ := strings.Cut(to.Addr, ":")
	for {
		keys, err := source.ClusterGetKeysInSlot(ctx, slot, 100).Result()
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			break
		}
		for _, key := range keys {
			if err := source.Migrate(ctx, host, port, key, 0, 10*time.Second).Err(); err != nil {
				return err
			}
		}
	}
	for _, node := range []*redis.Client{target, source} { // the new owner first, or the slot has none for a moment
		if err := node.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", targetID).Err(); err != nil {
			return err
		}
	}
	return nil
}

// Owner returns the node that holds a slot now.
func (c *Cluster) Owner(ctx context.Context, t testing.TB, slot int) (*RedisServer, error) {
	t.Helper()
	//lint:ignore SA1019 the answer is the same on every version from 7.0 on, and Valkey knows it too
	ranges, err := c.Nodes[0].Client(t).ClusterSlots(ctx).Result()
	if err != nil {
		return nil, err
	}
	for _, r := range ranges {
		for _, node := range c.Nodes {
			if r.Start <= slot && slot <= r.End && len(r.Nodes) > 0 && r.Nodes[0].Addr == node.Addr {
				return node, nil
			}
		}
	}
	return nil, fmt.Errorf("slot %d has no owner", slot)
}

// poll calls done until it is true or ctx ends.
func poll(ctx context.Context, done func() bool) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

const (
	sentinels = 3
	quorum    = 2
)

// Sentinels watch one master and one replica; they promote the replica within a few seconds of the master's end.
type Sentinels struct {
	MasterName string
	Addrs      []string       // of the sentinels
	Data       []*RedisServer // the first master, then its first replica
	Watchers   []*Process     // the sentinels themselves
	Version    string
}

// Sentinel starts a master, its replica and three sentinels, and returns when the replica is in
// step and the sentinels know it and each other, so that a failover can succeed. args are added
// to the command lines of master and replica.
func Sentinel(t testing.TB, args ...string) *Sentinels {
	t.Helper()
	master := startRedis(t, append([]string{"--repl-diskless-sync-delay", "0"}, args...)...)
	host, port, _ := net.SplitHostPort(master.Addr)
	replica := startRedis(t, append([]string{"--repl-diskless-sync-delay", "0", "--replicaof", host, port}, args...)...)
	s := &Sentinels{MasterName: "main", Data: []*RedisServer{master, replica}, Version: master.Version}
	for range sentinels {
		process, addr, err := startSentinel(s.MasterName, host, port)
		if err != nil {
			t.Fatalf("Redis Sentinel: %v", err)
		}
		t.Cleanup(func() {
			if err := process.discard(); err != nil {
				t.Errorf("stop Redis Sentinel: %v", err)
			}
		})
		s.Watchers, s.Addrs = append(s.Watchers, process), append(s.Addrs, addr)
	}
	ctx, cancel := context.WithTimeout(t.Context(), topologyWait)
	defer cancel()
	if err := s.awaitQuorum(ctx, t); err != nil {
		t.Fatalf("Redis Sentinel: %v", err)
	}
	report(t, master.Product+" Sentinel", s.Version, strings.Join(s.Addrs, " ")+" over "+master.Addr+" "+replica.Addr)
	return s
}

func startSentinel(name, host, port string) (*Process, string, error) {
	binary, _, _, err := redisBinary()
	if err != nil {
		return nil, "", err
	}
	process, own, err := startOnFreePort("sentinel", func(own int, dir string) (*Process, error) {
		conf := filepath.Join(dir, "sentinel.conf") // sentinels rewrite it
		text := fmt.Sprintf("port %d\nbind 127.0.0.1\ndir %q\nsentinel monitor %[3]s %[4]s %[5]s %[6]d\n"+
			"sentinel down-after-milliseconds %[3]s 1500\nsentinel failover-timeout %[3]s 5000\n",
			own, dir, name, host, port, quorum)
		if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
			return nil, err
		}
		argv := []string{binary, conf, "--sentinel"}
		return &Process{name: "Redis Sentinel", argv: argv, dir: dir, ready: "+monitor master"}, nil
	})
	return process, loopback(own), err
}

func (s *Sentinels) awaitQuorum(ctx context.Context, t testing.TB) error {
	s.tune(ctx, 100, 200)
	// A sentinel that hears nothing of a promotion for four PUBLISH-PERIODs undoes it, and the
	// leader may need a second to notice its own: the discovery's pace would make failovers undo
	// themselves.
	defer s.tune(ctx, 1000, 1000)
	for _, addr := range s.Addrs {
		client := sentinelClient(t, addr)
		if err := poll(ctx, func() bool {
			state, err := client.Master(ctx, s.MasterName).Result()
			return err == nil && state["num-slaves"] == "1" && state["num-other-sentinels"] == strconv.Itoa(sentinels-1)
		}); err != nil {
			return fmt.Errorf("the sentinels did not find each other: %w", err)
		}
	}
	return s.awaitReplica(ctx, t)
}

// tune sets how often the sentinels greet each other and ask the servers, in milliseconds (by
// default every 2 and 10 s). Before Redis 7 there is no such command, and everything only takes
// longer.
func (s *Sentinels) tune(ctx context.Context, publish, info int) {
	for _, addr := range s.Addrs {
		client := redis.NewClient(&redis.Options{Addr: addr})
		_ = client.Do(ctx, "SENTINEL", "DEBUG", "PUBLISH-PERIOD", publish, "INFO-PERIOD", info).Err()
		client.Close()
	}
}

// awaitReplica waits until the master's replica is in step and every sentinel sees it so: before
// that it would not be promoted.
func (s *Sentinels) awaitReplica(ctx context.Context, t testing.TB) error {
	for _, addr := range s.Addrs {
		client := sentinelClient(t, addr)
		if err := poll(ctx, func() bool {
			replicas, err := client.Replicas(ctx, s.MasterName).Result()
			return err == nil && len(replicas) == 1 &&
				replicas[0]["master-link-status"] == "ok" && replicas[0]["flags"] == "slave"
		}); err != nil {
			return fmt.Errorf("the replica did not get in step: %w", err)
		}
	}
	return nil
}

// Master returns the server that a majority of the sentinels names as master.
func (s *Sentinels) Master(t testing.TB) *RedisServer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), topologyWait)
	defer cancel()
	master, err := s.master(ctx, t)
	if err != nil {
		t.Fatalf("Redis Sentinel: %v", err)
	}
	return master
}

func (s *Sentinels) master(ctx context.Context, t testing.TB) (*RedisServer, error) {
	votes := map[string]int{}
	for _, addr := range s.Addrs {
		named, err := sentinelClient(t, addr).GetMasterAddrByName(ctx, s.MasterName).Result()
		if err != nil || len(named) != 2 {
			continue
		}
		votes[net.JoinHostPort(named[0], named[1])]++
	}
	for _, server := range s.Data {
		if votes[server.Addr] >= quorum {
			return server, nil
		}
	}
	return nil, errors.New("the sentinels name no common master")
}

// Failover promotes the replica while the master is alive (a switchover) and returns the new master
// when it takes writes and the old one follows it.
func (s *Sentinels) Failover(t testing.TB) *RedisServer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), topologyWait)
	defer cancel()
	old, err := s.master(ctx, t)
	if err != nil {
		t.Fatalf("Redis Sentinel: %v", err)
	}
	// A sentinel refuses while the failover before this one is not quite over.
	begin := func() bool { return sentinelClient(t, s.Addrs[0]).Failover(ctx, s.MasterName).Err() == nil }
	if err := poll(ctx, begin); err != nil {
		t.Fatalf("Redis Sentinel: it does not start a failover: %v", err)
	}
	promoted := s.AwaitPromotion(t, old)
	if err := s.awaitReplica(ctx, t); err != nil {
		t.Fatalf("Redis Sentinel: %v", err)
	}
	return promoted
}

// AwaitPromotion waits until another server than old is master and takes writes: after old was killed or paused.
func (s *Sentinels) AwaitPromotion(t testing.TB, old *RedisServer) *RedisServer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), topologyWait)
	defer cancel()
	var promoted *RedisServer
	if err := poll(ctx, func() bool {
		master, err := s.master(ctx, t)
		if err != nil || master == old {
			return false
		}
		role, err := master.Client(t).Do(ctx, "ROLE").Slice()
		promoted = master
		return err == nil && len(role) > 0 && role[0] == "master"
	}); err != nil {
		t.Fatalf("Redis Sentinel: nobody was promoted within %s", topologyWait)
	}
	return promoted
}

func sentinelClient(t testing.TB, addr string) *redis.SentinelClient {
	client := redis.NewSentinelClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { client.Close() })
	return client
}

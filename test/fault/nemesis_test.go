package fault

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/toolboundary/toolboundary/test/servers"
)

// world is what a nemesis may break.
type world struct {
	server *servers.RedisServer
	proxy  *servers.FaultProxy
	admin  *redis.Client // past the proxy
}

// nemesis is one kind of fault.
type nemesis struct {
	name string
	// args are the server's options.
	args []string
	// calm is how long it waits at most before it strikes again, and trouble how long that
	// lasts, in milliseconds.
	calm, trouble int
	// least is how long the trouble lasts at least.
	least int
	// strike starts the trouble and relieve ends it; strike may do both.
	strike, relieve func(t *testing.T, w *world)
}

// pace stretches the calm in a full run, which would otherwise mostly wait.
func pace() int {
	if operations() == full {
		return 4
	}
	return 1
}

func nothing(*testing.T, *world) {}

func pass(t *testing.T, w *world) {
	w.proxy.Pass(t)
	w.proxy.KillConnections() // replies were lost, so these connections are of no use
}

// config sets an option of the server. It fails only when the server is gone, and then the
// trouble is there already.
func config(name, value string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = w.admin.ConfigSet(ctx, name, value).Err()
	}
}

var durable = []string{"--appendonly", "yes", "--appendfsync", "always"}

var nemeses = []nemesis{
	{"no fault", nil, 40, 250, 0, nothing, nothing},
	{"replies dropped", nil, 40, 700, 0, func(_ *testing.T, w *world) { w.proxy.DropReplies() }, pass},
	// Longer than any operation waits: everything under way stays unanswered.
	{"replies dropped for long", nil, 40, 200, 700, func(_ *testing.T, w *world) { w.proxy.DropReplies() }, pass},
	{"connections cut", nil, 40, 700, 0, func(_ *testing.T, w *world) { w.proxy.CutReplies(200) }, pass},
	{"connections killed", nil, 20, 1, 0, func(_ *testing.T, w *world) { w.proxy.KillConnections() }, nothing},
	{"blackhole", nil, 40, 700, 0, func(_ *testing.T, w *world) { w.proxy.Blackhole() }, pass},
	{"server killed", durable, 150, 200, 0,
		func(t *testing.T, w *world) { w.server.Kill(t) }, func(t *testing.T, w *world) { w.server.Start(t) }},
	{"server paused", nil, 40, 700, 0,
		func(t *testing.T, w *world) { w.server.Pause(t) }, func(t *testing.T, w *world) { w.server.Resume(t) }},
	{"out of memory", nil, 40, 250, 0, config("maxmemory", "1"), config("maxmemory", "0")},
	{"scripts flushed", nil, 10, 1, 0,
		func(t *testing.T, w *world) { _ = w.admin.ScriptFlush(t.Context()).Err() }, nothing},
	{"read only", nil, 40, 250, 0, config("min-replicas-to-write", "1"), config("min-replicas-to-write", "0")},
}

// haunt strikes and relieves until ctx is done, leaves everything in order, and counts how often it
// struck.
func (n nemesis) haunt(ctx context.Context, t *testing.T, w *world, rng *rand.Rand, strikes *atomic.Int64) {
	for ; ctx.Err() == nil; strikes.Add(1) {
		sleep(ctx, time.Duration(5+rng.IntN(n.calm*pace()))*time.Millisecond)
		n.strike(t, w)
		sleep(ctx, time.Duration(max(5, n.least)+rng.IntN(n.trouble))*time.Millisecond)
		n.relieve(t, w)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

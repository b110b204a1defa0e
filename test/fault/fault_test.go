package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/test/servers"
)

const (
	slice = 600
	full  = 50_000
	// checkLimit bounds the check of one run's history; none comes near it.
	checkLimit = time.Minute
)

func operations() int {
	if os.Getenv("TOOLBOUNDARY_FAULT") == "full" {
		return full
	}
	return slice
}

func TestS07_S08_S14_S24_LinearizableUnderFaults(t *testing.T) {
	for seed, n := range nemeses {
		t.Run(n.name, func(t *testing.T) {
			t.Parallel()
			r := play(t, n, uint64(seed), operations(), nil, nil)
			for _, v := range r.violations {
				t.Error(v)
			}
			t.Logf("%s: %d operations in %d runs, struck %d times, %d unanswered, %d violations",
				n.name, r.operations, r.runs, r.strikes, r.unanswered, len(r.violations))
		})
	}
}

// result is what a play showed.
type result struct {
	operations, runs, unanswered, strikes int
	violations                            []string
}

// newWorld starts a server behind a proxy and a store behind that.
func newWorld(t *testing.T, args []string, instrument func(redis.UniversalClient)) (*world, *redisstore.Store) {
	t.Helper()
	if args == nil {
		args = []string{"--appendonly", "no"}
	}
	w := &world{server: servers.Redis(t, args...)}
	w.proxy = servers.Proxy(t, w.server.Addr)
	w.admin = w.server.Client(t)
	s, err := redisstore.New(redisstore.Options{
		Addrs: []string{w.proxy.Addr}, Patience: 500 * time.Millisecond, Try: 120 * time.Millisecond,
		Instrument: instrument,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return w, s
}

// leastStrikes is how often a nemesis strikes in a play, however few operations that takes.
const leastStrikes = 3

// play lets clients loose on a few runs at a time while the nemesis strikes, until there are
// enough operations and strikes, and checks each run. With wrap and instrument the store is a mutant; then
// the play ends at the first violation.
func play(
	t *testing.T, n nemesis, seed uint64, operations int, instrument func(redis.UniversalClient),
	wrap func(store) store,
) result {
	t.Helper()
	w, real := newWorld(t, n.args, instrument)
	var st store = real
	if wrap != nil {
		st = wrap(st)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var haunting sync.WaitGroup
	var res result
	var strikes atomic.Int64
	haunting.Go(func() { n.haunt(ctx, t, w, rand.New(rand.NewPCG(seed, 1)), &strikes) })
	var subjects []*subject
	for round := 0; res.operations < operations || strikes.Load() < leastStrikes; round++ {
		batch := playRound(t, st, seed, round)
		for _, s := range batch {
			res.operations += len(s.history)
			res.unanswered += s.open + s.skipped
			res.runs++
		}
		subjects = append(subjects, batch...)
		if mutant := instrument != nil || wrap != nil; mutant {
			for _, s := range batch {
				res.violations = append(res.violations, s.violations()...)
			}
			if len(res.violations) > 0 {
				break
			}
		}
	}
	cancel()
	haunting.Wait()
	res.strikes = int(strikes.Load())
	if len(res.violations) > 0 {
		return res
	}
	limit := time.Now().Add(10 * time.Second)
	for _, s := range subjects {
		res.violations = append(res.violations, s.lastLook(t, real, limit)...)
	}
	return res
}

// playRound does opsPerRun operations on each of a few runs.
func playRound(t *testing.T, st store, seed uint64, round int) []*subject {
	t.Helper()
	batch := make([]*subject, runsAtOnce)
	for i := range batch {
		var err error
		batch[i], err = newSubject(t.Context(), st, run.ID(fmt.Sprintf("r%d.%d", round, i)))
		require.NoError(t, err)
	}
	var working sync.WaitGroup
	for c := range clients {
		working.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(round*clients+c+2)))
			for {
				s := batch[rng.IntN(len(batch))]
				if s.done() {
					if !slices.ContainsFunc(batch, func(s *subject) bool { return !s.done() }) {
						return
					}
					continue
				}
				s.do(t.Context(), st, c, rng)
			}
		})
	}
	working.Wait()
	return batch
}

func (s *subject) done() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left <= 0 || len(s.owners) >= maxOwners
}

var model = porcupine.Model{
	Init: func() any { return state{state: run.Active} },
	Step: func(s, in, out any) (bool, any) {
		ok, next := step(s.(state), in.(input), out.(output))
		return ok, next
	},
	DescribeOperation: func(in, out any) string {
		return describe(in.(input), out.(output))
	},
}

// violations says why the run's history is not linearizable, if it is not.
func (s *subject) violations() []string {
	switch porcupine.CheckOperationsTimeout(model, s.history, checkLimit) {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return []string{"the check of run " + string(s.run.ID) + " took too long"}
	}
	text := "run " + string(s.run.ID) + " is not linearizable:"
	for _, op := range s.history {
		said := describe(op.Input.(input), op.Output.(output))
		text += fmt.Sprintf("\n  client %d %d..%d %s", op.ClientId, op.Call, op.Return, said)
	}
	return []string{text}
}

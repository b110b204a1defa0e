// Package rig composes a service in this process, for tests and benchmarks of a part of it.
// Compose puts any tools on any store; New adds the scripted tools, the memory store and a clock
// that the test moves: what the tests of inbound adapters put behind the adapter.
package rig

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/adapters/memory"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/toolset"
	"github.com/toolboundary/toolboundary/test/contract/inboundtest"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/service/process"
)

// Rig is the service and what a test moves it with. It implements inboundtest.Service.
type Rig struct {
	*Composed
	Clock *fake.Clock
	// Probe is the tool probe; Other is the tool other.
	Probe, Other *fake.Executor
	Store        *Store
	Log          *zap.Logger

	logs          *process.Output
	maxConcurrent int
}

var _ inboundtest.Service = (*Rig)(nil)

// New returns a service with the tools and data sources that inboundtest names. Its clock starts
// at 2026-11-30T12:00:00Z. The watch for ended runs ends with the test.
func New(t kit.T, opt application.Options) *Rig {
	t.Helper()
	g := &Rig{
		Clock: fake.NewClock(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)),
		logs:  process.NewOutput(nil),
	}
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	g.Log = zap.New(zapcore.NewCore(encoder, zapcore.AddSync(g.logs), zap.InfoLevel))
	g.Store = &Store{Store: memory.New(g.Clock)}
	plan := tool.Plan{Timeout: 20 * time.Second}
	g.Probe = fake.NewExecutor(describe(inboundtest.Probe, "s1", "s2"), plan)
	g.Other = fake.NewExecutor(describe(inboundtest.Other, "s1"), plan)

	opt.MaxConcurrent = cmp.Or(opt.MaxConcurrent, 80)
	g.maxConcurrent = opt.MaxConcurrent
	opt.Ceilings = application.Ceilings{
		MaxTTL: time.Hour, RecordTTL: 24 * time.Hour,
		Budget: run.Budget{MaxCalls: 1000, MaxBytes: 32 << 20, MaxRefusals: 1000},
	}
	g.Composed = Compose(t, g.Store, g.Clock, g.Log, opt,
		toolset.Entry{Executor: g.Probe, Projector: fake.Projector{}},
		toolset.Entry{Executor: g.Other, Projector: fake.Projector{}})
	ctx, stop := context.WithCancel(context.Background())
	var watch sync.WaitGroup
	watch.Go(func() { g.Watch(ctx) })
	t.Cleanup(func() { g.Release(); stop(); watch.Wait() })
	return g
}

func describe(name string, sources ...string) tool.Description {
	return tool.Description{
		Name: name, Title: strings.ToUpper(name), Text: "Does what its request says.",
		ReadOnly: true, DataSources: sources,
		InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(`{"type":"object"}`),
	}
}

// Open opens a run and returns its agent's token.
func (g *Rig) Open(t kit.T, r inboundtest.RunRequest) string {
	t.Helper()
	req := application.OpenRequest{
		RunID: r.ID, Grants: run.Grants{Tools: []string{inboundtest.Probe}, DataSources: []string{"s1"}},
		MaxCalls: r.MaxCalls, MaxBytes: r.MaxBytes, MaxRefusals: r.MaxRefusals,
	}
	if r.TTL > 0 {
		req.TTL = &r.TTL
	}
	if r.MaxProbes != nil {
		req.MaxCallsPerTool = map[string]int64{inboundtest.Probe: *r.MaxProbes}
	}
	_, token, err := g.Service.Open(context.Background(), Harness, req)
	require.NoError(t, err)
	return token
}

// Cancel ends a run.
func (g *Rig) Cancel(t kit.T, id run.ID) {
	t.Helper()
	_, err := g.End(context.Background(), Harness, id, run.Cancelled)
	require.NoError(t, err)
}

// Find returns the run as the store keeps it, also while the store is down.
func (g *Rig) Find(t kit.T, id run.ID) run.Run {
	t.Helper()
	r, err := g.Store.Store.Find(context.Background(), id)
	require.NoError(t, err)
	return r
}

// Record returns the canonical record as the store keeps it, also while the store is down, and
// whether there is one.
func (g *Rig) Record(t kit.T, id run.ID, toolCallID string) (invocation.Record, bool) {
	t.Helper()
	found, err := g.Store.Store.Load(context.Background(), id, ports.Whole, toolCallID)
	require.NoError(t, err)
	f, ok := found[toolCallID]
	require.Nil(t, f.Fault, "the record of %s in %s is not readable", toolCallID, id)
	return f.Record, ok
}

// Advance moves the clock of store and service.
func (g *Rig) Advance(d time.Duration) { g.Clock.Advance(d) }

// StoreDown makes the store fail, or work again.
func (g *Rig) StoreDown(down bool) { g.Store.down.Store(down) }

// Executions returns how many calls of both tools began.
func (g *Rig) Executions() int { return g.Probe.Executions() + g.Other.Executions() }

// AwaitRunning returns nil once n calls of probe are under way.
func (g *Rig) AwaitRunning(ctx context.Context, n int) error {
	return g.Probe.Await(ctx, func(f *fake.Executor) bool { return f.Running() == n })
}

// Release lets the calls go on that hold.
func (g *Rig) Release() { g.Probe.Release(); g.Other.Release() }

// RequestLimit returns the limit of a request.
func (g *Rig) RequestLimit() int { return int(limits.Default().Request) }

// MaxConcurrent returns how many calls the service executes at once.
func (g *Rig) MaxConcurrent() int { return g.maxConcurrent }

// Logs returns everything that was logged at info level and above.
func (g *Rig) Logs() string { return g.logs.String() }

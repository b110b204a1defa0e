package application_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/adapters/memory"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/toolset"
)

// wall is the process's clock; inside a synctest bubble it is the bubble's.
type wall struct{}

func (wall) Now() time.Time { return time.Now() }

// tokens stands for the signed tokens: its token is the run id.
type tokens struct{}

func (tokens) Issue(r run.Run) (string, error) { return "token-of-" + string(r.ID), nil }
func (tokens) Verify(token string) (application.RunContext, error) {
	return application.RunContext{}, fault.New(fault.Unauthenticated)
}

// store counts what the boundary asks of a store and can fail it. Like a store behind a network it
// does nothing for a context that has ended.
type store struct {
	*memory.Store
	mu                                sync.Mutex
	begins, settles, refusals         int
	failBegin, failSettle, failRefuse error
}

func (s *store) count(ctx context.Context, n *int, err *error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	*n++
	if *err == nil {
		return ctx.Err()
	}
	return *err
}

func (s *store) Begin(
	ctx context.Context, rec invocation.Record, incarnation string, lease time.Duration,
) (ports.Begun, error) {
	if err := s.count(ctx, &s.begins, &s.failBegin); err != nil {
		return ports.Begun{}, err
	}
	return s.Store.Begin(ctx, rec, incarnation, lease)
}

func (s *store) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	if err := s.count(ctx, &s.settles, &s.failSettle); err != nil {
		return invocation.Record{}, err
	}
	return s.Store.Settle(ctx, next)
}

func (s *store) Refuse(ctx context.Context, id run.ID, incarnation string, entry run.Refusal, counts bool) error {
	if err := s.count(ctx, &s.refusals, &s.failRefuse); err != nil {
		return err
	}
	return s.Store.Refuse(ctx, id, incarnation, entry, counts)
}

// fixture is a service over the scripted tool and the memory store. It is not one of test/rig,
// because the tests here count and fail each step of the store, stub the tokens, and use the real
// clock, which is synctest's inside a bubble.
type fixture struct {
	t     *testing.T
	store *store
	tool  *fake.Executor
	svc   *application.Service
	logs  *observer.ObservedLogs
}

var testLimits = limits.Limits{Request: 4 << 10, Raw: 16 << 10, Record: 32 << 10, AgentResult: 8 << 10}

func newFixture(t *testing.T, options ...func(*application.Options)) *fixture {
	t.Helper()
	return newFixtureOn(t, func(s *store) ports.Store { return s }, options...)
}

// newFixtureOn is newFixture with the store wrapped.
func newFixtureOn(t *testing.T, wrap func(*store) ports.Store, options ...func(*application.Options)) *fixture {
	t.Helper()
	f := &fixture{t: t, store: &store{Store: memory.New(wall{})}}
	describe := func(name string) tool.Description {
		return tool.Description{Name: name, ReadOnly: true, DataSources: []string{"shop"},
			InputSchema: json.RawMessage(`{}`), OutputSchema: json.RawMessage(`{}`)}
	}
	f.tool = fake.NewExecutor(describe("fake"), tool.Plan{Timeout: 10 * time.Second})
	other := fake.NewExecutor(describe("other"), tool.Plan{})
	catalogue, err := application.NewCatalogue(toolset.Entry{Executor: f.tool, Projector: fake.Projector{}},
		toolset.Entry{Executor: other, Projector: fake.Projector{}})
	require.NoError(t, err)
	opt := application.Options{
		Limits: testLimits, HarnessKeys: []application.HarnessKey{{Name: "h", Key: "harness-key"}},
		Ceilings: application.Ceilings{
			MaxTTL: time.Hour, RecordTTL: 24 * time.Hour,
			Budget: run.Budget{MaxCalls: 50, MaxBytes: 1 << 20, MaxRefusals: 25},
		},
	}
	for _, o := range options {
		o(&opt)
	}
	core, logs := observer.New(zapcore.DebugLevel)
	f.logs = logs
	f.svc = application.New(catalogue, wrap(f.store), tokens{}, wall{}, zap.New(core), opt)
	return f
}

// harness is the trusted caller.
var harness = application.Caller{Harness: "h"}

func (f *fixture) open(id run.ID, change ...func(*application.OpenRequest)) application.RunContext {
	f.t.Helper()
	req := application.OpenRequest{
		RunID: id, Grants: run.Grants{Tools: []string{"fake"}, DataSources: []string{"shop"}},
	}
	for _, c := range change {
		c(&req)
	}
	r, token, err := f.svc.Open(f.t.Context(), harness, req)
	require.NoError(f.t, err)
	require.NotEmpty(f.t, token)
	return application.ContextOf(r)
}

// call calls the tool fake as the run's agent.
func (f *fixture) call(rc application.RunContext, id string, request json.RawMessage) application.Result {
	return f.callCtx(f.t.Context(), rc, id, request)
}

func (f *fixture) callCtx(
	ctx context.Context, rc application.RunContext, id string, request json.RawMessage,
) application.Result {
	call := application.Call{RunID: rc.RunID, ToolCallID: id, ToolName: "fake", Request: request}
	return f.svc.Invoke(ctx, application.Caller{Agent: &rc}, call)
}

// code calls the tool fake and returns the code of the result's fault, "" for an answer.
func (f *fixture) code(rc application.RunContext, id string, request json.RawMessage) fault.Code {
	return codeOf(f.call(rc, id, request))
}

func codeOf(r application.Result) fault.Code {
	if r.Fault == nil {
		return ""
	}
	return r.Fault.Code
}

// requireFault fails unless the result has a fault with the code, which it returns.
func requireFault(t *testing.T, code fault.Code, r application.Result, about ...any) *fault.Error {
	t.Helper()
	require.NotNil(t, r.Fault, about...)
	require.Equal(t, code, r.Fault.Code, about...)
	return r.Fault
}

func (f *fixture) end(id run.ID, to run.State) {
	f.t.Helper()
	_, err := f.svc.End(f.t.Context(), harness, id, to)
	require.NoError(f.t, err)
}

func (f *fixture) record(id run.ID, toolCallID string) invocation.Record {
	f.t.Helper()
	r, err := f.svc.Record(f.t.Context(), harness, id, toolCallID)
	require.NoError(f.t, err)
	return r
}

func (f *fixture) requireNoRecord(id run.ID, toolCallID string) {
	f.t.Helper()
	_, err := f.svc.Record(f.t.Context(), harness, id, toolCallID)
	require.Equal(f.t, fault.InvocationNotFound, fault.CodeOf(err))
}

func answer(raw string) json.RawMessage { return fake.Script{Answer: json.RawMessage(raw)}.JSON() }

func ptr[T any](v T) *T { return &v }

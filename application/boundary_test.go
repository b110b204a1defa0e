package application_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"

	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
)

func TestS10_S11_S15_S41_OneRecordHoldsTheWholeCall(t *testing.T) {
	f := newFixture(t)
	rc := f.open("r1")
	request := json.RawMessage(` {"answer" : [1, 20000000000000000001, "<é>"]} `)
	res := f.call(rc, "call_1", request)
	require.Nil(t, res.Fault)
	require.Equal(t, invocation.Ready, res.Status)
	require.Equal(t, evidence.Found, res.EvidenceStatus)
	require.JSONEq(t, `{"items":[1,20000000000000000001,"<é>"],"truncated":false}`, string(res.AgentResult))
	require.True(t, res.Recorded)

	rec := f.record("r1", "call_1")
	require.Equal(t, string(request), string(rec.Request), "byte for byte")
	require.Equal(t, `[1, 20000000000000000001, "<é>"]`, string(rec.RawResponse))
	require.Equal(t, string(res.AgentResult), string(rec.AgentResult))
	require.Equal(t, invocation.Ready, rec.Status)
	require.Equal(t, "call_1", rec.ToolCallID)
	require.False(t, rec.CompletedAt.Before(rec.StartedAt))

	again, err := f.svc.Result(t.Context(), harness, "r1", "call_1")
	require.NoError(t, err)
	require.Equal(t, string(res.AgentResult), string(again.AgentResult))
	require.Equal(t, 1, f.tool.Executions(), "reading is not running")
}

func TestS10_TheRecordIsThereBeforeTheToolRuns(t *testing.T) {
	f := newFixture(t)
	rc := f.open("r1")
	var done sync.WaitGroup
	done.Go(func() { f.call(rc, "call_1", fake.Script{Do: fake.Hold, Answer: json.RawMessage(`[1]`)}.JSON()) })
	require.NoError(t, f.tool.Await(t.Context(), func(t *fake.Executor) bool { return t.Running() == 1 }))
	rec := f.record("r1", "call_1")
	require.Equal(t, invocation.Projecting, rec.Status)
	require.Equal(t, evidence.Error, rec.EvidenceStatus, "a placeholder, never evidence")
	require.Nil(t, rec.AgentResult)
	require.NotEmpty(t, rec.Request)
	f.tool.Release()
	done.Wait()
	require.Equal(t, invocation.Ready, f.record("r1", "call_1").Status)
}

func TestS12_NothingFoundIsReadyAndNotRetried(t *testing.T) {
	f := newFixture(t)
	rc := f.open("r1")
	res := f.call(rc, "call_1", answer(`[]`))
	require.Equal(t, evidence.None, res.EvidenceStatus)
	require.Equal(t, invocation.Ready, res.Status)
	require.Equal(t, 1, f.tool.Executions())
}

func TestS13_ProjectorsThatMisbehave(t *testing.T) {
	f := newFixture(t)
	rc := f.open("r1")
	for name, c := range map[string]struct {
		raw  string
		code fault.Code
	}{
		"panic":    {`{"project":"panic","text":"canary"}`, fault.ProjectionFailed},
		"error":    {`{"project":"error","text":"canary"}`, fault.ProjectionFailed},
		"garbage":  {`{"project":"garbage","text":"{canary"}`, fault.ProjectionFailed},
		"status":   {`{"project":"status","text":"EVIDENCE"}`, fault.ProjectionFailed},
		"as error": {`{"project":"status","text":"ERROR"}`, fault.ProjectionFailed},
		"oversize": {`{"project":"oversize"}`, fault.ResultTooLarge}, // S21
	} {
		t.Run(name, func(t *testing.T) {
			id := "call_" + strings.ReplaceAll(name, " ", "_")
			res := f.call(rc, id, answer(c.raw))
			requireFault(t, c.code, res)
			require.Nil(t, res.AgentResult)
			require.True(t, res.Recorded)
			rec := f.record("r1", id)
			require.Equal(t, invocation.Error, rec.Status)
			require.Equal(t, c.raw, string(rec.RawResponse), "the raw response is kept, for the harness only")
			require.Nil(t, rec.AgentResult)
		})
	}
	f.requireNoCanary()
}

func TestS23_ToolsThatMisbehave(t *testing.T) {
	f := newFixture(t)
	rc := f.open("r1")
	for name, c := range map[string]struct {
		script fake.Script
		code   fault.Code
	}{
		"fault":    {fake.Script{Do: fake.Fail, Code: fault.DataSourceUnavailable}, fault.DataSourceUnavailable},
		"leak":     {fake.Script{Do: fake.Leak, Text: "canary: access denied for user root@10.0.0.1"}, fault.Internal},
		"panic":    {fake.Script{Do: fake.Panic, Text: "canary"}, fault.ExecutionFailed},
		"garbage":  {fake.Script{Do: fake.Garbage, Text: "{canary"}, fault.ExecutionFailed},
		"flood":    {fake.Script{Do: fake.Flood, Bytes: int(testLimits.Raw) + 1}, fault.ResultTooLarge},    // S20
		"oversize": {fake.Script{Do: fake.Oversize, Bytes: int(testLimits.Raw) + 1}, fault.ResultTooLarge}, // S20
	} {
		t.Run(name, func(t *testing.T) {
			res := f.call(rc, "call_"+name, c.script.JSON())
			got := requireFault(t, c.code, res)
			require.Nil(t, res.AgentResult)
			rec := f.record("r1", "call_"+name)
			require.Equal(t, invocation.Error, rec.Status)
			require.Equal(t, evidence.Error, rec.EvidenceStatus)
			require.Nil(t, rec.RawResponse)
			require.NotContains(t, rec.ErrorReason+rec.ErrorDetail, "canary")
			require.NotContains(t, got.Error()+got.Reason+got.Detail, "canary")
		})
	}
	f.requireNoCanary()
}

// requireNoCanary looks for planted markers in every log line at info level and above.
func (f *fixture) requireNoCanary() {
	f.t.Helper()
	require.NotZero(f.t, f.logs.Len())
	for _, e := range f.logs.All() {
		if e.Level < zapcore.InfoLevel {
			continue // causes, for the operator who asks for them
		}
		line, err := json.Marshal(e.ContextMap())
		require.NoError(f.t, err)
		require.NotContains(f.t, e.Message+string(line), "canary")
	}
}

func TestS07_DuplicateRunsNothingAndSpendsNothing(t *testing.T) {
	f := newFixture(t)
	rc := f.open("r1", func(r *application.OpenRequest) { r.MaxCalls = ptr[int64](2) })
	f.call(rc, "call_1", answer(`[1]`))
	first := f.record("r1", "call_1")
	for range 3 {
		res := f.call(rc, "call_1", answer(`[2]`))
		require.Equal(t, "READY", requireFault(t, fault.DuplicateToolCall, res).Reason)
		require.False(t, res.Recorded)
	}
	require.Equal(t, 1, f.tool.Executions())
	require.Equal(t, first, f.record("r1", "call_1"))
	require.Nil(t, f.call(rc, "call_2", answer(`[1]`)).Fault, "the budget has one call left")
	require.Equal(t, fault.RunBudgetExhausted, f.code(rc, "call_3", answer(`[1]`)))
}

func TestS07_S08_ExactUnderConcurrency(t *testing.T) {
	f := newFixture(t)
	rc := f.open("r1", func(r *application.OpenRequest) { r.MaxCalls = ptr[int64](10) })
	codes := make(chan fault.Code, 64)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() { codes <- codeOf(f.call(rc, "call_"+string(rune('A'+i)), answer(`[1]`))) })
	}
	all.Wait()
	close(codes)
	count := map[fault.Code]int{}
	for c := range codes {
		count[c]++
	}
	require.Equal(t, 10, f.tool.Executions())
	require.Equal(t, 10, count[""])

	g := newFixture(t)
	rc = g.open("r1")
	for range 32 {
		all.Go(func() { g.call(rc, "call_1", answer(`[1]`)) })
	}
	all.Wait()
	require.Equal(t, 1, g.tool.Executions())
}

func TestS08_S09_Budgets(t *testing.T) {
	f := newFixture(t)
	rc := f.open("tool", func(r *application.OpenRequest) { r.MaxCallsPerTool = map[string]int64{"fake": 1} })
	require.Nil(t, f.call(rc, "call_1", answer(`[1]`)).Fault)
	require.Equal(t, fault.ToolBudgetExhausted, f.code(rc, "call_2", answer(`[1]`)))
	f.requireNoRecord("tool", "call_2")

	rc = f.open("bytes", func(r *application.OpenRequest) { r.MaxBytes = ptr[int64](200) })
	res := f.call(rc, "call_1", answer(`["`+strings.Repeat("x", 100)+`"]`))
	requireFault(t, fault.RunBytesExhausted, res, "raw and agent bytes no longer fit")
	require.True(t, res.Recorded)
	require.Nil(t, f.record("bytes", "call_1").RawResponse)
	require.Equal(t, fault.RunBytesExhausted, f.code(rc, "call_2", answer(`["`+strings.Repeat("x", 100)+`"]`)))
	f.requireNoRecord("bytes", "call_2")
}

func TestS24_StoreDown(t *testing.T) {
	f := newFixture(t)
	rc := f.open("r1")
	down := fault.Wrap(fault.StoreUnavailable, errors.New("dial tcp canary:6379"))
	f.store.failBegin = down
	res := f.call(rc, "call_1", answer(`[1]`))
	requireFault(t, fault.StoreUnavailable, res)
	require.Zero(t, f.tool.Executions(), "the tool is not run")

	f.store.failBegin, f.store.failSettle = nil, down
	res = f.call(rc, "call_2", answer(`[1]`))
	requireFault(t, fault.StoreUnavailable, res)
	require.Nil(t, res.AgentResult, "what is not recorded is not returned")
	require.False(t, res.Recorded)

	f.store.failSettle, f.store.failRefuse = nil, down
	res = f.call(rc, "call 3", answer(`[1]`))
	requireFault(t, fault.StoreUnavailable, res, "nothing of a refusal leaves before it is counted")
	f.requireNoCanary()
}

func TestS36_S06_EndsOfAnExecution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		ctx, stop := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer stop()
		go f.svc.Watch(ctx)
		synctest.Wait()

		since := time.Now()
		rc := f.open("timeout")
		res := f.call(rc, "call_1", fake.Script{Do: fake.Block}.JSON())
		requireFault(t, fault.ExecutionTimeout, res)
		require.Equal(t, 10*time.Second, time.Since(since))

		rc = f.open("deadline", func(r *application.OpenRequest) { r.TTL = ptr(3 * time.Second) })
		res = f.call(rc, "call_1", fake.Script{Do: fake.Block}.JSON())
		requireFault(t, fault.RunDeadlineExceeded, res)
		require.True(t, res.Recorded)

		rc = f.open("cancelled")
		time.AfterFunc(time.Second, func() { f.end("cancelled", run.Cancelled) })
		since = time.Now()
		res = f.call(rc, "call_1", fake.Script{Do: fake.Block}.JSON())
		requireFault(t, fault.ExecutionCancelled, res)
		require.Equal(t, time.Second, time.Since(since))
		require.Equal(t, invocation.Error, f.record("cancelled", "call_1").Status)

		rc = f.open("gone")
		gone, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		res = f.callCtx(gone, rc, "call_1", fake.Script{Do: fake.Block}.JSON())
		requireFault(t, fault.ExecutionCancelled, res)
		require.True(t, res.Recorded)
		require.Equal(t, invocation.Error, f.record("gone", "call_1").Status, "S25: the record is settled all the same")
	})
}

func TestS14_ARunThatEndedTurnsReadyIntoError(t *testing.T) {
	f := newFixture(t)
	rc := f.open("r1")
	var res application.Result
	var done sync.WaitGroup
	done.Go(func() { res = f.call(rc, "call_1", fake.Script{Do: fake.Deaf, Answer: json.RawMessage(`[7]`)}.JSON()) })
	require.NoError(t, f.tool.Await(t.Context(), func(t *fake.Executor) bool { return t.Running() == 1 }))
	f.end("r1", run.Cancelled)
	f.tool.Release()
	done.Wait()
	requireFault(t, fault.ExecutionCancelled, res)
	require.Nil(t, res.AgentResult)
	rec := f.record("r1", "call_1")
	require.Equal(t, invocation.Error, rec.Status)
	require.Equal(t, `[7]`, string(rec.RawResponse), "raw is kept")
}

func TestS16_ALostExecutionStaysLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		rc := f.open("r1")
		var res application.Result
		var done sync.WaitGroup
		done.Go(func() {
			res = f.call(rc, "call_1",
				fake.Script{Do: fake.Deaf, Answer: json.RawMessage(`[7]`)}.JSON())
		})
		synctest.Wait()
		time.Sleep(time.Minute) // past timeout, settle and slack
		require.Equal(t, fault.ExecutionLost, f.record("r1", "call_1").ErrorCode)
		f.tool.Release()
		done.Wait()
		requireFault(t, fault.ExecutionLost, res)
		require.Nil(t, res.AgentResult)
		require.Equal(t, fault.ExecutionLost, f.record("r1", "call_1").ErrorCode, "never overwritten")
	})
}

func TestStopRefusesNewCallsAndSettlesThoseInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		rc := f.open("r1")
		var res application.Result
		var done sync.WaitGroup
		done.Go(func() { res = f.call(rc, "call_1", fake.Script{Do: fake.Block}.JSON()) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		done.Go(func() {
			time.Sleep(time.Millisecond)
			require.Equal(t, fault.ServerStopping, f.code(rc, "call_2", answer(`[1]`)))
		})
		require.Equal(t, 1, f.svc.Stop(ctx))
		done.Wait()
		requireFault(t, fault.ExecutionCancelled, res)
		require.Equal(t, invocation.Error, f.record("r1", "call_1").Status)
		f.requireNoRecord("r1", "call_2")
	})
}

func TestStopLetsCallsInFlightEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		rc := f.open("r1")
		var res application.Result
		var done sync.WaitGroup
		done.Go(func() {
			res = f.call(rc, "call_1",
				fake.Script{Do: fake.Hold, Answer: json.RawMessage(`[1]`)}.JSON())
		})
		synctest.Wait()
		require.False(t, f.svc.Stopping())
		time.AfterFunc(time.Second, f.tool.Release)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		since := time.Now()
		require.Zero(t, f.svc.Stop(ctx), "nothing had to be cancelled")
		require.Equal(t, time.Second, time.Since(since), "and nothing was waited for in vain")
		done.Wait()
		require.Equal(t, invocation.Ready, res.Status)
		require.True(t, f.svc.Stopping())
	})
}

func TestOneLogLinePerInvocation(t *testing.T) {
	f := newFixture(t)
	rc := f.open("r1")
	f.callCtx(application.WithTraceID(t.Context(), "4bf92f3577b34da6a3ce929d0e0e4736"), rc, "call_1",
		answer(`["canary"]`))
	f.call(rc, "bad id canary", answer(`[1]`))
	lines := f.logs.FilterMessage("invocation").All()
	require.Len(t, lines, 2)
	require.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", lines[0].ContextMap()["trace_id"])
	require.Equal(t, "READY", lines[0].ContextMap()["status"])
	require.Empty(t, lines[1].ContextMap()["tool_call_id"], "an unsafe id is not logged")
	f.requireNoCanary()
}

// TestS16_TheLeaseOutlastsTheCall pins the lease: the tool's timeout, the settlement's and a margin.
func TestS16_TheLeaseOutlastsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *application.Options) {
			o.StoreTimeout, o.LeaseSlack = 7*time.Second,
				11*time.Second
		})
		rc := f.open("r1")
		begun := time.Now()
		require.Nil(t, f.call(rc, "call_1", answer(`[1]`)).Fault)
		require.Equal(t, begun.Add((10+7+11)*time.Second).UTC(), f.record("r1", "call_1").LeaseUntil.UTC())
	})
}

// TestS06_AToolsTimeoutAtTheDeadline lets the source report the timeout before the context ends.
func TestS06_AToolsTimeoutAtTheDeadline(t *testing.T) {
	f := newFixture(t)
	timeout := fake.Script{Do: fake.Fail, Code: fault.ExecutionTimeout}.JSON()
	rc := f.open("r1", func(r *application.OpenRequest) { r.TTL = ptr(9 * time.Second) }) // the tool has ten
	require.Equal(t, fault.RunDeadlineExceeded, f.code(rc, "call_1", timeout))
	rc = f.open("r2")
	require.Equal(t, fault.ExecutionTimeout, f.code(rc, "call_1", timeout))
}

// deafStore hears of no end while it is cut off, and then tells that it was.
type deafStore struct {
	*store
	heal chan struct{}
}

func (s deafStore) Watch(ctx context.Context, _ func(run.ID), subscribed func()) error {
	subscribed()
	select {
	case <-s.heal:
		subscribed()
	case <-ctx.Done():
	}
	<-ctx.Done()
	return nil
}

// TestRunsAreLookedUpAfterAnInterruption has no tick that could hide it: only what follows an
// interruption of the subscription tells that the run has ended.
func TestRunsAreLookedUpAfterAnInterruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heal := make(chan struct{})
		f := newFixtureOn(t, func(s *store) ports.Store { return deafStore{s, heal} },
			func(o *application.Options) { o.PollInterval = time.Hour })
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { f.svc.Watch(ctx) })
		rc := f.open("r1")
		var res application.Result
		done := make(chan struct{})
		go func() { defer close(done); res = f.call(rc, "call_1", fake.Script{Do: fake.Block}.JSON()) }()
		synctest.Wait()
		f.end("r1", run.Cancelled)
		close(heal)
		<-done
		requireFault(t, fault.ExecutionCancelled, res)
		stop()
		all.Wait()
	})
}

// TestAFullServiceRefusesAndSaysSo fills the slots: the next call is RATE_LIMITED whoever makes
// it, tells its run nothing, and is reported once. Reading again has slots apart.
func TestAFullServiceRefusesAndSaysSo(t *testing.T) {
	var outcomes []application.Outcome
	f := newFixture(t, func(o *application.Options) {
		o.MaxConcurrent = 1
		o.Observe = func(o application.Outcome) { outcomes = append(outcomes, o) }
	})
	rc := f.open("r1")
	var done sync.WaitGroup
	done.Go(func() { f.call(rc, "call_1", fake.Script{Do: fake.Hold, Answer: json.RawMessage(`[1]`)}.JSON()) })
	require.NoError(t, f.tool.Await(t.Context(), func(t *fake.Executor) bool { return t.Running() == 1 }))
	require.Equal(t, 1, f.svc.InFlight())

	res := f.call(rc, "call_2", answer(`[1]`))
	requireFault(t, fault.RateLimited, res)
	require.False(t, res.Recorded)
	require.Zero(t, f.store.refusals, "its run is not told")
	require.Equal(t, []fault.Code{fault.RateLimited}, []fault.Code{outcomes[0].Code})
	require.Len(t, f.logs.FilterMessage("invocation").All(), 1)
	again, err := f.svc.Result(t.Context(), harness, "r1", "call_1")
	require.NoError(t, err)
	require.Equal(t, invocation.Projecting, again.Status)

	f.tool.Release()
	done.Wait()
	require.Zero(t, f.svc.InFlight())
	require.Empty(t, f.code(rc, "call_2", answer(`[1]`)), "the same id runs once there is room")
	require.Len(t, outcomes, 3)
}

// TestReadingAgainHasSlots holds one read open in the store.
func TestReadingAgainHasSlots(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	f := newFixtureOn(t, func(s *store) ports.Store { return slowStore{s, entered, leave} },
		func(o *application.Options) { o.MaxConcurrent = 1 })
	rc := f.open("r1")
	require.Nil(t, f.call(rc, "call_1", answer(`[1]`)).Fault)
	var done sync.WaitGroup
	done.Go(func() { _, _ = f.svc.Result(t.Context(), harness, "r1", "call_1") })
	<-entered
	_, err := f.svc.Result(t.Context(), harness, "r1", "call_1")
	require.Equal(t, fault.RateLimited, fault.CodeOf(err))
	require.Nil(t, f.call(rc, "call_2", answer(`[1]`)).Fault, "calls have slots apart")
	close(leave)
	done.Wait()
	again, err := f.svc.Result(t.Context(), harness, "r1", "call_1")
	require.NoError(t, err, "the slot is free again")
	require.Equal(t, invocation.Ready, again.Status)
}

// slowStore holds each Load until leave is closed.
type slowStore struct {
	*store
	entered, leave chan struct{}
}

func (s slowStore) Load(
	ctx context.Context, id run.ID, view ports.View, ids ...string,
) (map[string]ports.Found, error) {
	select {
	case s.entered <- struct{}{}:
	case <-s.leave:
	}
	<-s.leave
	return s.store.Load(ctx, id, view, ids...)
}

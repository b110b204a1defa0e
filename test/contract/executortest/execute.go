package executortest

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// enough is a raw limit that the small answers never reach.
const enough limits.RawBytes = 1 << 20

var executeCases = []kit.Case[Subject]{
	{Name: "Execute/AnswersInJSON", Scenarios: []string{"S26", "S30"},
		Rule:     "A plan's answer is one JSON value, the same each time, and the caller may change its bytes.",
		Promises: []string{"Executor.Execute#1"}, Body: answersInJSON},
	{Name: "Execute/DoesNotMixCalls",
		Rule:     "Concurrent executions get their own answers.",
		Promises: []string{"Executor.Execute#2"}, Body: doesNotMix},
	{Name: "Execute/StopsPastTheLimit", Scenarios: []string{"S20", "S22"},
		Rule: "An answer of exactly the limit passes; with one byte less it is RESULT_TOO_LARGE and there " +
			"is no answer.",
		Promises: []string{"Executor.Execute#1", "Executor.Execute#3"}, Body: stopsPastLimit},
	{Name: "Execute/BoundsItsMemory", Scenarios: []string{"S20"},
		Rule: "An endless answer is RESULT_TOO_LARGE; memory grows by less than four times the limit, " +
			"and the source is not left sending.",
		Promises: []string{"Executor.Execute#3"}, Body: boundsMemory},
	{Name: "Execute/StopsWhenCancelled", Scenarios: []string{"S23", "S36"},
		Rule: "When the context is cancelled the execution is EXECUTION_CANCELLED and the work at the " +
			"source ends.",
		Promises: []string{"Executor.Execute#4"}, Body: stopsWhenCancelled},
	{Name: "Execute/StopsAtTheDeadline", Scenarios: []string{"S23", "S36"},
		Rule:     "At the context's deadline the execution is EXECUTION_TIMEOUT and the work at the source ends.",
		Promises: []string{"Executor.Execute#4"}, Body: stopsAtDeadline},
	{Name: "Execute/WorksAfterStops", Scenarios: []string{"S36"},
		Rule:     "However many executions were stopped, the next one answers.",
		Promises: []string{"Executor.Execute#7"}, Body: worksAfterStops},
	{Name: "Execute/DoesNotStartWhenEnded", Scenarios: []string{"S36"},
		Rule:     "A context that has ended already starts nothing at the source.",
		Promises: []string{"Executor.Execute#5"}, Body: doesNotStart},
	{Name: "Execute/FailsSafely", Scenarios: []string{"S23"},
		Rule: "What fails at the source is a fault with a known code and not a word of the source's own; " +
			"the next execution answers.",
		Promises: []string{"Executor.Execute#6", "Executor.Execute#7"}, Body: failsSafely},
	{Name: "Execute/SourceIsUnreachable", Scenarios: []string{"S23"},
		Rule: "While its source cannot be reached an execution is DATA_SOURCE_UNAVAILABLE, without a word of where " +
			"it is; afterwards the next one answers.",
		Promises: []string{"Executor.Execute#6", "Executor.Execute#7"}, Body: unreachable},
	{Name: "Execute/RefusesForeignPlans",
		Rule:     "A plan that is not the executor's own is a fault, not a panic.",
		Promises: []string{"Executor.Execute#6"}, Body: refusesForeign},
}

func prepared(t kit.T, subject Subject, executor ports.Executor, request json.RawMessage) tool.Plan {
	t.Helper()
	plan, err := executor.Prepare(slices.Clone(request), subject.Scope)
	require.NoError(t, err)
	return plan
}

func answersInJSON(t kit.T, subject Subject) {
	executor := subject.New(t)
	plan := prepared(t, subject, executor, subject.Echo("once"))
	first, err := executor.Execute(t.Context(), plan, enough)
	require.NoError(t, err)
	require.True(t, json.Valid(first), "%s", first)
	require.Contains(t, string(first), "once")
	want := string(first)
	for i := range first {
		first[i] = '!'
	}
	again, err := executor.Execute(t.Context(), plan, enough)
	require.NoError(t, err)
	require.Equal(t, want, string(again))
}

func doesNotMix(t kit.T, subject Subject) {
	executor := subject.New(t)
	var wg sync.WaitGroup
	failed := make([]error, 24)
	for i := range failed {
		wg.Go(func() {
			text := fmt.Sprintf("caller%dx", i)
			failed[i] = kit.Catch(func() error {
				plan, err := executor.Prepare(subject.Echo(text), subject.Scope)
				if err != nil {
					return err
				}
				return answers(t, executor, plan, text)
			})
		})
	}
	wg.Wait()
	for _, err := range failed {
		require.NoError(t, err)
	}
}

func stopsPastLimit(t kit.T, subject Subject) {
	executor := subject.New(t)
	plan := prepared(t, subject, executor, subject.Echo("limit"))
	whole, err := executor.Execute(t.Context(), plan, enough)
	require.NoError(t, err)
	same, err := executor.Execute(t.Context(), plan, limits.RawBytes(len(whole)))
	require.NoError(t, err)
	require.Equal(t, string(whole), string(same))
	for _, less := range []int{len(whole) - 1, len(whole) / 2, 1, 0} {
		raw, err := executor.Execute(t.Context(), plan, limits.RawBytes(less))
		requireCode(t, fault.ResultTooLarge, err, "limit %d", less)
		require.Nil(t, raw)
	}
	require.NoError(t, answers(t, executor, plan, "limit"))
}

func boundsMemory(t kit.T, subject Subject) {
	executor := subject.New(t)
	plan := prepared(t, subject, executor, subject.Large)
	const limit = 4 << 20
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	done, peak := make(chan struct{}), make(chan uint64, 1)
	go func() { peak <- watchHeap(done) }()
	raw, err := executor.Execute(t.Context(), plan, limit)
	close(done)
	highest := <-peak
	requireCode(t, fault.ResultTooLarge, err)
	require.Nil(t, raw)
	grown := int64(highest) - int64(before.HeapAlloc)
	t.Logf("heap grew by %d KiB for a limit of %d KiB", grown>>10, limit>>10)
	require.Less(t, grown, int64(4*limit))
	awaitRunning(t, subject, 0)
}

// watchHeap returns the highest heap size that it saw until done.
func watchHeap(done <-chan struct{}) uint64 {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	var m runtime.MemStats
	for highest := uint64(0); ; {
		runtime.ReadMemStats(&m)
		highest = max(highest, m.HeapAlloc)
		select {
		case <-done:
			return highest
		case <-tick.C:
		}
	}
}

func awaitRunning(t kit.T, subject Subject, want int) {
	t.Helper()
	require.Eventually(t, func() bool { return subject.Running(t) == want }, subject.patience(), 20*time.Millisecond,
		"executions at the source: want %d", want)
}

// interrupt starts Slow, waits until the source works on it and then calls end, which ends the
// context. It returns the execution's error, and whether the source was seen at work before.
func interrupt(
	t kit.T, subject Subject, executor ports.Executor, ctx context.Context, end func(),
) (seen bool, err error) {
	t.Helper()
	plan := prepared(t, subject, executor, subject.Slow)
	ended := make(chan error, 1)
	go func() {
		ended <- kit.Catch(func() error {
			_, err := executor.Execute(ctx, plan, enough)
			return err
		})
	}()
	limit := time.After(subject.patience())
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		if !seen && subject.Running(t) == 1 {
			seen = true
			end()
		}
		select {
		case err := <-ended:
			tick.Stop()
			awaitRunning(t, subject, 0)
			return seen, err
		case <-tick.C:
		case <-limit:
			require.Fail(t, "Execute did not return", "the source was seen at work: %t", seen)
		}
	}
}

func stopsWhenCancelled(t kit.T, subject Subject) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen, err := interrupt(t, subject, subject.New(t), ctx, cancel)
	require.True(t, seen, "the source works on Slow; Execute returned %v", err)
	requireCode(t, fault.ExecutionCancelled, err)
	speaksSafely(t, subject, err)
}

// The deadline must come while the source is at work. On a busy machine it may come before that, and
// then the case tries again with a later one.
func stopsAtDeadline(t kit.T, subject Subject) {
	executor := subject.New(t)
	for wait := subject.patience() / 10; ; wait *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		seen, err := interrupt(t, subject, executor, ctx, func() {})
		cancel()
		requireCode(t, fault.ExecutionTimeout, err)
		speaksSafely(t, subject, err)
		if seen {
			return
		}
		require.Less(t, wait, subject.patience(), "the source works on Slow")
	}
}

func worksAfterStops(t kit.T, subject Subject) {
	executor := subject.New(t)
	for range 12 {
		ctx, cancel := context.WithCancel(t.Context())
		seen, err := interrupt(t, subject, executor, ctx, cancel)
		require.True(t, seen, "the source works on Slow; Execute returned %v", err)
		requireCode(t, fault.ExecutionCancelled, err)
	}
	require.NoError(t, answers(t, executor, prepared(t, subject, executor, subject.Echo("after")), "after"))
}

func doesNotStart(t kit.T, subject Subject) {
	executor := subject.New(t)
	plan := prepared(t, subject, executor, subject.Slow)
	require.NoError(t, answers(t, executor, prepared(t, subject, executor, subject.Echo("warm")), "warm"))
	before := subject.Calls(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	raw, err := executor.Execute(ctx, plan, enough)
	requireCode(t, fault.ExecutionCancelled, err)
	require.Nil(t, raw)
	require.Equal(t, before, subject.Calls(t))
}

func failsSafely(t kit.T, subject Subject) {
	executor := subject.New(t)
	raw, err := executor.Execute(t.Context(), prepared(t, subject, executor, subject.Failing), enough)
	requireCode(t, subject.FailsWith, err)
	require.Nil(t, raw)
	speaksSafely(t, subject, err)
	require.NoError(t, answers(t, executor, prepared(t, subject, executor, subject.Echo("after")), "after"))
}

func unreachable(t kit.T, subject Subject) {
	require.NotNil(t, subject.Break, "without Break this case is an exception: give the reason")
	executor := subject.New(t)
	plan := prepared(t, subject, executor, subject.Echo("down"))
	require.NoError(t, answers(t, executor, plan, "down"))
	heal := sync.OnceFunc(subject.Break(t))
	t.Cleanup(heal)
	raw, err := executor.Execute(t.Context(), plan, enough)
	requireCode(t, fault.DataSourceUnavailable, err)
	require.Nil(t, raw)
	speaksSafely(t, subject, err)
	heal()
	require.Eventually(t, func() bool { return answers(t, executor, plan, "down") == nil }, subject.patience(),
		20*time.Millisecond, "it answers again")
}

func refusesForeign(t kit.T, subject Subject) {
	executor := subject.New(t)
	for _, plan := range []tool.Plan{{}, {Body: 1}, {DataSource: "no_such_source", Body: "x"}} {
		raw, err := executor.Execute(t.Context(), plan, enough)
		requireFault(t, err)
		require.Nil(t, raw)
	}
}

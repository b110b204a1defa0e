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

func executeCases() []kit.Case[Subject] {
	return []kit.Case[Subject]{
		{Name: "Execute/AnswersInJSON", Scenarios: []string{"S26", "S30"},
			Rule: "A plan's answer is one JSON value, the same each time, and the caller may change its bytes.", Body: answersInJSON},
		{Name: "Execute/DoesNotMixCalls",
			Rule: "Concurrent executions get their own answers.", Body: doesNotMix},
		{Name: "Execute/StopsPastTheLimit", Scenarios: []string{"S20", "S22"},
			Rule: "Exactly at the limit passes; with one byte less it is RESULT_TOO_LARGE and no answer.", Body: stopsPastLimit},
		{Name: "Execute/BoundsItsMemory", Scenarios: []string{"S20"},
			Rule: "An endless answer is RESULT_TOO_LARGE; memory grows by less than four times the limit, and the source is not left sending.", Body: boundsMemory},
		{Name: "Execute/StopsWhenCancelled", Scenarios: []string{"S23", "S36"},
			Rule: "When the context is cancelled, the execution returns EXECUTION_CANCELLED and the work at the source ends.", Body: stopsWhenCancelled},
		{Name: "Execute/StopsAtTheDeadline", Scenarios: []string{"S23", "S36"},
			Rule: "At the context's deadline the execution returns EXECUTION_TIMEOUT and the work at the source ends.", Body: stopsAtDeadline},
		{Name: "Execute/WorksAfterStops", Scenarios: []string{"S36"},
			Rule: "However many executions were stopped, the next one answers.", Body: worksAfterStops},
		{Name: "Execute/DoesNotStartWhenEnded", Scenarios: []string{"S36"},
			Rule: "A context that has ended already starts nothing at the source.", Body: doesNotStart},
		{Name: "Execute/FailsSafely", Scenarios: []string{"S23"},
			Rule: "What fails at the source is a fault with a known code and not a word of the source's own; the next execution answers.", Body: failsSafely},
		{Name: "Execute/RefusesForeignPlans",
			Rule: "A plan that is not the tool's own is a fault, not a panic.", Body: refusesForeign},
	}
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
			plan, err := executor.Prepare(subject.Echo(text), subject.Scope)
			if err == nil {
				err = answers(t, executor, plan, text)
			}
			failed[i] = err
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
		require.Equal(t, fault.ResultTooLarge, fault.CodeOf(err), "limit %d", less)
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
	require.Equal(t, fault.ResultTooLarge, fault.CodeOf(err))
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
	require.Eventually(t, func() bool { return subject.Running(t) == want }, subject.patience(), 20*time.Millisecond, "executions at the source: want %d", want)
}

// interrupt starts Slow, waits until the source works on it, ends the context and returns the
// execution's error.
func interrupt(t kit.T, subject Subject, executor ports.Executor, ctx context.Context, end func()) error {
	t.Helper()
	plan := prepared(t, subject, executor, subject.Slow)
	failed := make(chan error, 1)
	go func() {
		_, err := executor.Execute(ctx, plan, enough)
		failed <- err
	}()
	awaitRunning(t, subject, 1)
	end()
	select {
	case err := <-failed:
		awaitRunning(t, subject, 0)
		return err
	case <-time.After(subject.patience()):
		require.Fail(t, "Execute did not return")
		return nil
	}
}

func stopsWhenCancelled(t kit.T, subject Subject) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := interrupt(t, subject, subject.New(t), ctx, cancel)
	require.Equal(t, fault.ExecutionCancelled, fault.CodeOf(err))
	speaksSafely(t, subject, err)
}

func stopsAtDeadline(t kit.T, subject Subject) {
	ctx, cancel := context.WithTimeout(t.Context(), subject.patience()/10)
	defer cancel()
	err := interrupt(t, subject, subject.New(t), ctx, func() {})
	require.Equal(t, fault.ExecutionTimeout, fault.CodeOf(err))
	speaksSafely(t, subject, err)
}

func worksAfterStops(t kit.T, subject Subject) {
	executor := subject.New(t)
	for range 12 {
		ctx, cancel := context.WithCancel(t.Context())
		err := interrupt(t, subject, executor, ctx, cancel)
		require.Equal(t, fault.ExecutionCancelled, fault.CodeOf(err))
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
	require.Equal(t, fault.ExecutionCancelled, fault.CodeOf(err))
	require.Nil(t, raw)
	require.Equal(t, before, subject.Calls(t))
}

func failsSafely(t kit.T, subject Subject) {
	executor := subject.New(t)
	raw, err := executor.Execute(t.Context(), prepared(t, subject, executor, subject.Failing), enough)
	require.Equal(t, subject.FailsWith, fault.CodeOf(err))
	require.Nil(t, raw)
	speaksSafely(t, subject, err)
	require.NoError(t, answers(t, executor, prepared(t, subject, executor, subject.Echo("after")), "after"))
}

func refusesForeign(t kit.T, subject Subject) {
	executor := subject.New(t)
	for _, plan := range []tool.Plan{{}, {Body: 1}, {DataSource: "no_such_source", Body: "x"}} {
		raw, err := executor.Execute(t.Context(), plan, enough)
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		require.Nil(t, raw)
	}
}

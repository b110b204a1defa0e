package inboundtest

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// hint is a refusal whose detail an ended run must not learn.
const hint = `{"refuse":{"code":"QUERY_REJECTED","reason":"UNKNOWN_COLUMN","detail":"customers.ssn is not available"}}`

var runs = []kit.Case[Subject]{
	{Name: "Run/ForeignTokenIsRefused", Scenarios: []string{"S02"},
		Rule: "A token works for its own run only: naming another run is RUN_MISMATCH, counted in the caller's own.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			foreign := s.Open(t, RunRequest{ID: "r2"})
			c := s.asking("call_1", `{"answer":[1]}`)
			c.Token = foreign
			out := s.send(c)
			require.Equal(t, fault.RunMismatch, out.Code)
			s.noRecord("call_1")
			require.Zero(t, s.Executions())
			require.Zero(t, s.Find(t, "r1").Usage.Refusals)
			require.EqualValues(t, 1, s.Find(t, "r2").Usage.Refusals)
		}},
	{Name: "Run/ForgedTokenIsRefused",
		Rule: "A token that is missing, changed or not ours is UNAUTHENTICATED and leaves no trace.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			for _, token := range []string{"", "x", s.token + "x", s.token[:len(s.token)-2]} {
				c := s.asking("call_1", `{"answer":[1]}`)
				c.Token = token
				s.refuses(fault.Unauthenticated, c)
			}
			require.Zero(t, s.Find(t, "r1").Usage.Refusals)
		}},
	{Name: "Run/CancelledLearnsNothing", Scenarios: []string{"S06"},
		Rule: "In a cancelled run every call, valid or not, is RUN_INACTIVE without reason or detail.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			s.ask("call_0", `{"answer":[1]}`)
			s.Cancel(t, "r1")
			s.learnsNothing(fault.RunInactive)
		}},
	{Name: "Run/PastItsDeadlineLearnsNothing", Scenarios: []string{"S06"},
		Rule: "At its deadline, by the store's clock, every call of a run is RUN_DEADLINE_EXCEEDED without reason or " +
			"detail.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{TTL: time.Minute})
			s.Advance(time.Minute - time.Millisecond)
			require.Equal(t, invocation.Ready, s.ask("call_0", `{"answer":[1]}`).Status)
			s.Advance(time.Millisecond)
			s.learnsNothing(fault.RunDeadlineExceeded)
		}},
	{Name: "Run/CancelStopsItsCalls", Scenarios: []string{"S36"},
		Rule: "Cancelling a run stops its calls in flight: ERROR, EXECUTION_CANCELLED, no result.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			done := s.later("call_1", `{"do":"block"}`)
			s.running(1)
			s.Cancel(t, "r1")
			require.Equal(t, fault.ExecutionCancelled, s.wait(done).Code)
			require.Equal(t, fault.ExecutionCancelled, s.record("call_1").ErrorCode)
		}},
}

// learnsNothing makes every kind of call in a run that ended.
func (s scene) learnsNothing(code fault.Code) {
	s.Helper()
	for i, request := range []string{
		`{"answer":[1]}`, hint, `{"nosuch":1}`, `[]`, `{"data_source":"s2"}`, `{"answer":[1],"answer":[2]}`,
	} {
		out := s.refused(code, fmt.Sprintf("late_%d", i), request)
		require.Empty(s, out.Reason)
		require.Empty(s, out.Detail)
	}
	other := s.asking("late", `{}`)
	other.Tool = Other
	require.Equal(s, code, s.send(other).Code)
	require.Equal(s, code, s.ask("", `{"answer":[1]}`).Code)
	require.Equal(s, code, s.ask("call_0", `{"answer":[1]}`).Code, "also a duplicate")
}

var budgets = []kit.Case[Subject]{
	{Name: "Budget/OfATool", Scenarios: []string{"S08"},
		Rule: "The calls of one tool end with TOOL_BUDGET_EXHAUSTED.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{MaxProbes: only(1)})
			require.Equal(t, invocation.Ready, s.ask("call_1", `{"answer":[1]}`).Status)
			s.refused(fault.ToolBudgetExhausted, "call_2", `{"answer":[1]}`)
			s.noRecord("call_2")
		}},
	{Name: "Budget/OfARun", Scenarios: []string{"S08"},
		Rule: "A run's calls end with RUN_BUDGET_EXHAUSTED.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{MaxCalls: only(2)})
			s.ask("call_1", `{"answer":[1]}`)
			s.ask("call_2", `{"do":"fail","code":"EXECUTION_FAILED"}`)
			s.refused(fault.RunBudgetExhausted, "call_3", `{"answer":[1]}`)
			s.noRecord("call_3")
		}},
	{Name: "Budget/IsExactUnderLoad", Scenarios: []string{"S08"},
		Rule: "Of many concurrent calls exactly as many are executed as the budget allows.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{MaxCalls: only(10)})
			codes := s.crowd(64, func(i int) string { return fmt.Sprintf("call_%d", i) })
			require.Equal(t, map[fault.Code]int{"": 10, fault.RunBudgetExhausted: 54}, codes)
			require.Equal(t, 10, s.Executions())
		}},
	{Name: "Budget/OfBytesBeforeTheCall", Scenarios: []string{"S09"},
		Rule: "A request that does not fit the run's bytes is RUN_BYTES_EXHAUSTED and not executed.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{MaxBytes: only(10)})
			s.refused(fault.RunBytesExhausted, "call_1", `{"answer":[1]}`)
			s.noRecord("call_1")
		}},
	{Name: "Budget/OfBytesAfterTheCall", Scenarios: []string{"S09"},
		Rule: "An answer that does not fit the run's bytes is recorded as ERROR, RUN_BYTES_EXHAUSTED, and not shown.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{MaxBytes: only(100)})
			out := s.ask("call_1", `{"do":"flood","bytes":200}`)
			require.Equal(t, fault.RunBytesExhausted, out.Code)
			r := s.record("call_1")
			require.Equal(t, invocation.Error, r.Status)
			require.Nil(t, r.RawResponse)
		}},
	{Name: "Budget/OfRefusals",
		Rule: "Once the refusals are used up, no more reasons are given; a valid call is still executed.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{MaxRefusals: only(2)})
			for range 2 {
				require.NotEmpty(t, s.refused(fault.QueryRejected, "call_1", hint).Detail)
			}
			out := s.refused(fault.RefusalLimitReached, "call_1", hint)
			require.Empty(t, out.Reason)
			require.Empty(t, out.Detail)
			require.NotContains(t, out.Said, "ssn")
			require.Equal(t, invocation.Ready, s.ask("call_1", `{"answer":[1]}`).Status)
		}},
}

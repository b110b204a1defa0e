package storetest

import (
	"encoding/json"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

var budgetCases = []storeCase{
	{Name: "Budget/CallsAreExact", Scenarios: []string{"S08"},
		Rule:     "A run begins exactly max_calls calls; one more is RUN_BUDGET_EXHAUSTED and spends nothing.",
		Promises: []string{"Invocations.Begin#1", "Invocations.Begin#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			for most := range int64(3) {
				r := s.open(run.ID(fresh()), func(r *run.Run) { r.Budget.MaxCalls = most })
				for range most {
					s.settle(failed(s.begin(r, fresh()), ""))
				}
				stands := s.find(r.ID)
				refused(t, s.tryBegin(r, call(r, "one_more")), fault.RunBudgetExhausted)
				s.untouched(stands, "one_more")
			}
		}},
	{Name: "Budget/CallsPerToolAreExact", Scenarios: []string{"S08"},
		Rule: "A tool's own budget is exact, TOOL_BUDGET_EXHAUSTED past it; a tool without one is bounded by the run " +
			"only.",
		Promises: []string{"Invocations.Begin#1", "Invocations.Begin#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1", func(r *run.Run) { r.Budget.MaxCallsPerTool = map[string]int64{toolName: 2, "never": 0} })
			s.begin(r, fresh())
			s.begin(r, fresh())
			stands := s.find("r1")
			refused(t, s.tryBegin(r, call(r, "one_more")), fault.ToolBudgetExhausted)
			never := call(r, "one_more")
			never.ToolName = "never"
			refused(t, s.tryBegin(r, never), fault.ToolBudgetExhausted)
			s.untouched(stands, "one_more")
			for range 3 {
				other := call(r, fresh())
				other.ToolName = "other"
				require.NoError(t, s.tryBegin(r, other))
			}
		}},
	{Name: "Budget/RequestBytesAreExact", Scenarios: []string{"S09", "S22"},
		Rule: "A request that fills max_bytes exactly begins; one byte more is RUN_BYTES_EXHAUSTED and spends " +
			"nothing.",
		Promises: []string{"Invocations.Begin#1", "Invocations.Begin#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			for more, code := range map[int]fault.Code{0: "", 1: fault.RunBytesExhausted} {
				r := s.open(run.ID(fresh()), func(r *run.Run) { r.Budget.MaxBytes = 100 })
				require.NoError(t, s.tryBegin(r, sized(r, "call_1", 60)))
				stands := s.find(r.ID)
				err := s.tryBegin(r, sized(r, "call_2", 40+more))
				if code == "" {
					require.NoError(t, err)
					require.EqualValues(t, 100, s.find(r.ID).Usage.Bytes)
					continue
				}
				refused(t, err, code)
				s.untouched(stands, "call_2")
			}
		}},
	{Name: "Budget/CallsAreExactUnderConcurrency", Scenarios: []string{"S08"},
		Rule:     "Of 64 concurrent calls on a budget of 10 exactly 10 begin.",
		Promises: []string{"Invocations.Begin#1", "Store#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1", func(r *run.Run) { r.Budget.MaxCalls = 10 })
			outcomes := s.atOnce(64, func(i int) error {
				_, err := []ports.Store{s.Store, s.Other}[i%2].Begin(t.Context(), call(r, fresh()), r.Incarnation, long)
				return err
			})
			require.Equal(t, map[fault.Code]int{"": 10, fault.RunBudgetExhausted: 54}, outcomes)
			require.EqualValues(t, 10, s.find("r1").Usage.Calls)
		}},
	{Name: "Budget/ToolCallsAreExactUnderConcurrency", Scenarios: []string{"S08"},
		Rule:     "Of concurrent calls of two tools exactly as many begin as each tool's budget allows.",
		Promises: []string{"Invocations.Begin#1", "Store#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1", func(r *run.Run) { r.Budget.MaxCallsPerTool = map[string]int64{toolName: 7, "other": 5} })
			outcomes := s.atOnce(48, func(i int) error {
				rec := call(r, fresh())
				if i%3 == 0 {
					rec.ToolName = "other"
				}
				_, err := []ports.Store{s.Store, s.Other}[i%2].Begin(t.Context(), rec, r.Incarnation, long)
				return err
			})
			require.Equal(t, map[fault.Code]int{"": 12, fault.ToolBudgetExhausted: 36}, outcomes)
			require.Equal(t, map[string]int64{toolName: 7, "other": 5}, s.find("r1").Usage.CallsPerTool)
		}},
	{Name: "Budget/AnswerBytesAreExact", Scenarios: []string{"S09", "S22"},
		Rule: "An answer that fills max_bytes exactly is stored; one byte more is ERROR/RUN_BYTES_EXHAUSTED, without " +
			"the raw response and not charged.",
		Promises: []string{"Invocations.Settle#1", "Invocations.Settle#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			for more, status := range map[int]invocation.Status{0: invocation.Ready, 1: invocation.Error} {
				r := s.open(run.ID(fresh()), func(r *run.Run) { r.Budget.MaxBytes = int64(len(request)) + 100 })
				next := ready(t, s.begin(r, "call_1"), text(70), text(30+more), evidence.Found)
				got := s.settle(next)
				require.Equal(t, status, got.Status)
				same(t, got, s.record(r.ID, "call_1"))
				if status == invocation.Ready {
					require.EqualValues(t, r.Budget.MaxBytes, s.find(r.ID).Usage.Bytes)
					continue
				}
				want := next.Exhausted()
				want.CompletedAt = got.CompletedAt
				same(t, want, got)
				require.Equal(t, fault.RunBytesExhausted, got.ErrorCode)
				require.Nil(t, got.RawResponse)
				require.EqualValues(t, len(request), s.find(r.ID).Usage.Bytes)
				same(t, got, s.settle(next)) // the same settlement repeated
			}
		}},
	{Name: "Budget/RawOfFailuresIsCharged", Scenarios: []string{"S09"},
		Rule:     "The raw response that a failure keeps is charged too, and dropped when it does not fit.",
		Promises: []string{"Invocations.Settle#1", "Invocations.Settle#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1", func(r *run.Run) { r.Budget.MaxBytes = 2*int64(len(request)) + 150 })
			kept := s.settle(failed(s.begin(r, "call_1"), text(100)))
			require.Equal(t, fault.ExecutionFailed, kept.ErrorCode)
			require.Len(t, kept.RawResponse, 100)
			require.EqualValues(t, len(request)+100, s.find("r1").Usage.Bytes)
			dropped := s.settle(failed(s.begin(r, "call_2"), text(51)))
			require.Equal(t, fault.RunBytesExhausted, dropped.ErrorCode)
			require.Nil(t, dropped.RawResponse)
			require.EqualValues(t, 2*len(request)+100, s.find("r1").Usage.Bytes)
		}},
	{Name: "Budget/AnswerBytesAreExactUnderConcurrency", Scenarios: []string{"S09"},
		Rule:     "Concurrent settlements never charge more than max_bytes, and exactly those that fit are READY.",
		Promises: []string{"Invocations.Settle#1", "Store#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			const n, fit = 24, 9
			r := s.open("r1", func(r *run.Run) { r.Budget.MaxBytes = n*int64(len(request)) + fit*100 + 99 })
			var nexts []invocation.Record
			for range n {
				nexts = append(nexts, ready(t, s.begin(r, fresh()), text(70), text(30), evidence.Found))
			}
			outcomes := s.atOnce(n, func(i int) error {
				rec, err := []ports.Store{s.Store, s.Other}[i%2].Settle(t.Context(), nexts[i])
				if err == nil && rec.Status == invocation.Error {
					return fault.New(rec.ErrorCode)
				}
				return err
			})
			require.Equal(t, map[fault.Code]int{"": fit, fault.RunBytesExhausted: n - fit}, outcomes)
			require.EqualValues(t, n*len(request)+fit*100, s.find("r1").Usage.Bytes)
		}},
}

// sized returns a call with a request of exactly n bytes.
func sized(r run.Run, toolCallID string, n int) invocation.Record {
	rec := call(r, toolCallID)
	rec.Request = json.RawMessage(`{"q":` + text(n-len(`{"q":}`)) + `}`)
	rec.Sizes.Request = len(rec.Request)
	return rec
}

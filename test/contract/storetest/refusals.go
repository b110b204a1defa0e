package storetest

import (
	"strconv"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// entry is a refusal with every field, in bytes that quoting must not change.
func entry(n int) run.Refusal {
	return run.Refusal{
		ToolCallID: "call_" + strconv.Itoa(n), ToolName: toolName, Code: fault.QueryRejected, Reason: "UNKNOWN_COLUMN",
		Detail: "customers.\"é\\\u2028<&> is not available",
	}
}

func (s stage) refuse(r run.Run, e run.Refusal, counts bool) error {
	return s.Store.Refuse(s.Context(), r.ID, r.Incarnation, e, counts)
}

var refusalCases = []storeCase{
	{Name: "Refuse/CountsAndLogs",
		Rule: "A refusal is logged with the store's time, in order, and counted when it is to be; it makes no record " +
			"and spends no budget.",
		Promises: []string{"Refusals.Refuse#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			want := s.find("r1")
			for i, counts := range []bool{true, false, true} {
				e := entry(i)
				e.At = r.CreatedAt.Add(-long) // the store's time counts, not the caller's
				require.NoError(t, s.refuse(r, e, counts))
				want.Refusals = append(want.Refusals, e)
			}
			got := s.find("r1")
			require.Len(t, got.Refusals, 3)
			for i := range got.Refusals {
				require.False(t, got.Refusals[i].At.Before(r.CreatedAt))
				require.False(t, got.Refusals[i].At.After(s.Now(t)))
				want.Refusals[i].At = got.Refusals[i].At
			}
			want.Usage.Refusals = 2
			alike(t, want, got)
			value, _ := s.Stored(t, invocation.Key{RunID: "r1", ToolCallID: "call_0"})
			require.Nil(t, value)
			s.begin(r, "call_0")
		}},
	{Name: "Refuse/LimitIsExact",
		Rule: "After max_refusals counted refusals the next is REFUSAL_LIMIT_REACHED and is not logged; a refusal that " +
			"is not counted is still logged.",
		Promises: []string{"Refusals.Refuse#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			for most := range int64(3) {
				r := s.open(run.ID(fresh()), func(r *run.Run) { r.Budget.MaxRefusals = most })
				for i := range most {
					require.NoError(t, s.refuse(r, entry(int(i)), true))
				}
				for range 2 {
					refused(t, s.refuse(r, entry(9), true), fault.RefusalLimitReached)
				}
				require.EqualValues(t, most, s.find(r.ID).Usage.Refusals)
				require.Len(t, s.find(r.ID).Refusals, int(most))
				require.NoError(t, s.refuse(r, entry(10), false))
				require.Len(t, s.find(r.ID).Refusals, int(most)+1)
			}
		}},
	{Name: "Refuse/LimitIsExactUnderConcurrency",
		Rule:     "Of concurrent refusals exactly max_refusals are counted and logged.",
		Promises: []string{"Refusals.Refuse#1", "Store#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1", func(r *run.Run) { r.Budget.MaxRefusals = 10 })
			outcomes := s.atOnce(32, func(i int) error {
				return []ports.Store{s.Store, s.Other}[i%2].Refuse(t.Context(), r.ID, r.Incarnation, entry(i), true)
			})
			require.Equal(t, map[fault.Code]int{"": 10, fault.RefusalLimitReached: 22}, outcomes)
			require.EqualValues(t, 10, s.find("r1").Usage.Refusals)
			require.Len(t, s.find("r1").Refusals, 10)
		}},
	{Name: "Refuse/LogIsBounded",
		Rule:     "The log keeps the latest refusals only, oldest first.",
		Promises: []string{"Refusals.Refuse#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			const n = run.MaxRefusalLog + 7
			for i := range n {
				require.NoError(t, s.refuse(r, entry(i), i%2 == 0))
			}
			got := s.find("r1").Refusals
			require.Len(t, got, run.MaxRefusalLog)
			for i, e := range got {
				require.Equal(t, entry(7+i).ToolCallID, e.ToolCallID)
			}
			require.EqualValues(t, n/2+1, s.find("r1").Usage.Refusals)
		}},
	{Name: "Refuse/TheRunsEndOverrides", Scenarios: []string{"S06"},
		Rule: "RUN_NOT_FOUND, RUN_INACTIVE and RUN_DEADLINE_EXCEEDED override a refusal, in that order and before its " +
			"limit, and nothing is logged.",
		Promises: []string{"Refusals.Refuse#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			none := func(r *run.Run) { r.Budget.MaxRefusals = 0 }
			short := func(r *run.Run) { r.TTL = s.Unit }
			refused(t, s.refuse(plain("ghost"), entry(0), true), fault.RunNotFound)
			late, lateEnded := s.open("late", none, short), s.open("late_ended", none, short)
			ended := s.open("ended", none)
			for _, id := range []run.ID{"ended", "late_ended"} {
				_, err := s.Store.End(t.Context(), id, run.Completed)
				require.NoError(t, err)
			}
			s.Advance(t, s.Unit)
			for _, counts := range []bool{true, false} {
				refused(t, s.refuse(ended, entry(0), counts), fault.RunInactive)
				refused(t, s.refuse(lateEnded, entry(0), counts), fault.RunInactive)
				refused(t, s.refuse(late, entry(0), counts), fault.RunDeadlineExceeded)
				for _, r := range []run.Run{ended, lateEnded, late} {
					require.Empty(t, s.find(r.ID).Refusals)
					require.Zero(t, s.find(r.ID).Usage.Refusals)
					r.Incarnation = token()
					refused(t, s.refuse(r, entry(0), counts), fault.RunNotFound)
				}
			}
		}},
}

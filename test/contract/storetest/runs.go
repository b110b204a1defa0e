package storetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

type storeCase = kit.Case[Subject]

var runCases = []storeCase{
	{Name: "Open/StampsAndKeepsTheRun", Scenarios: []string{"S06"},
		Rule:     "Open sets state, times by the store's clock and empty usage, and keeps what it was given.",
		Promises: []string{"Runs.Open#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			want := plain("r:1.a-b_C")
			want.Budget.MaxCallsPerTool = map[string]int64{toolName: 3, `odd "name" é`: 0}
			want.State = run.Cancelled
			want.Usage = run.Usage{Calls: 7}
			want.ToolCallIDs, want.Refusals = []string{"x"}, []run.Refusal{{Code: fault.Internal}}
			before := s.Now(t)
			got, err := s.Store.Open(t.Context(), want)
			require.NoError(t, err)
			require.False(t, got.CreatedAt.Before(before.Truncate(time.Millisecond)))
			require.False(t, got.CreatedAt.After(s.Now(t)))
			require.Zero(t, got.CreatedAt.Nanosecond()%int(time.Millisecond))
			want.State, want.CreatedAt, want.Deadline = run.Active, got.CreatedAt, got.CreatedAt.Add(long)
			want.Usage, want.ToolCallIDs, want.Refusals = run.Usage{}, nil, nil
			alike(t, want, got)
			alike(t, want, s.find(want.ID))
		}},
	{Name: "Open/RefusesAnotherIncarnation",
		Rule:     "A run id that is known under another incarnation, active or ended, is RUN_EXISTS and nothing changes.",
		Promises: []string{"Runs.Open#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			first := s.open("r1")
			second := plain("r1")
			second.Budget.MaxCalls = 1
			_, err := s.Other.Open(t.Context(), second)
			refused(t, err, fault.RunExists)
			alike(t, first, s.find("r1"))
			ended, err := s.Store.End(t.Context(), "r1", run.Completed)
			require.NoError(t, err)
			_, err = s.Other.Open(t.Context(), second)
			refused(t, err, fault.RunExists)
			alike(t, ended, s.find("r1"))
		}},
	{Name: "Open/RepeatedIsAnsweredAsItStands",
		Rule:     "Open of the same incarnation again returns the run as it is, and changes nothing.",
		Promises: []string{"Runs.Open#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			s.settle(s.answered(s.begin(r, "call_1")))
			stands := s.find("r1")
			again, err := s.Other.Open(t.Context(), r)
			require.NoError(t, err)
			alike(t, stands, again)
			require.EqualValues(t, 1, again.Usage.Calls)
			_, err = s.Store.End(t.Context(), "r1", run.Cancelled)
			require.NoError(t, err)
			again, err = s.Store.Open(t.Context(), r)
			require.NoError(t, err)
			require.Equal(t, run.Cancelled, again.State)
		}},
	{Name: "Open/OneWinsUnderConcurrency",
		Rule:     "Of many Opens of one id under different incarnations exactly one succeeds.",
		Promises: []string{"Runs.Open#2", "Store#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			outcomes := s.atOnce(16, func(i int) error {
				_, err := []ports.Store{s.Store, s.Other}[i%2].Open(t.Context(), plain("r1"))
				return err
			})
			require.Equal(t, map[fault.Code]int{"": 1, fault.RunExists: 15}, outcomes)
		}},
	{Name: "Open/KeepsItsOwnCopy",
		Rule:     "The store keeps copies: what a caller does to its lists and maps changes no run.",
		Promises: []string{"Store#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			given := plain("r1")
			given.Budget.MaxCallsPerTool = map[string]int64{toolName: 5}
			opened, err := s.Store.Open(t.Context(), given)
			require.NoError(t, err)
			s.begin(opened, "call_1")
			want := s.find("r1")
			mine := s.find("r1")
			given.Grants.Tools[0], given.Budget.MaxCallsPerTool[toolName] = "evil", 99
			for _, r := range []run.Run{opened, mine} {
				r.Grants.DataSources[0], r.Budget.MaxCallsPerTool[toolName] = "evil", 99
			}
			mine.Usage.CallsPerTool[toolName], mine.ToolCallIDs[0] = 0, "evil"
			alike(t, want, s.find("r1"))
		}},
	{Name: "Find/UnknownRun", Scenarios: []string{"S06"},
		Rule:     "A run that was never opened is RUN_NOT_FOUND, for Find and for End.",
		Promises: []string{"Runs.Find#1", "Store#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			_, err := s.Store.Find(t.Context(), "r1")
			refused(t, err, fault.RunNotFound)
			_, err = s.Store.End(t.Context(), "r1", run.Cancelled)
			refused(t, err, fault.RunNotFound)
		}},
	{Name: "Find/ListsUsageAndCallsInOrder",
		Rule:     "Find lists the calls that began in that order, with what they spent.",
		Promises: []string{"Runs.Find#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			var ids []string
			for range 12 {
				ids = append(ids, token()) // so that no order but that of their beginning is theirs
				s.begin(r, ids[len(ids)-1])
			}
			other := call(r, "other_tool")
			other.ToolName = "other"
			require.NoError(t, s.tryBegin(r, other))
			got := s.find("r1")
			require.Equal(t, append(ids, "other_tool"), got.ToolCallIDs)
			require.Equal(t, run.Usage{
				Calls: 13, CallsPerTool: map[string]int64{toolName: 12, "other": 1}, Bytes: 13 * int64(len(request)),
			}, got.Usage)
		}},
	{Name: "End/MovesOnce",
		Rule: "End moves an active run once; the same end again returns it as it is, another one is RUN_INACTIVE and " +
			"changes nothing.",
		Promises: []string{"Runs.End#1", "Runs.End#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			for to, other := range map[run.State]run.State{run.Cancelled: run.Completed, run.Completed: run.Cancelled} {
				id := run.ID(to)
				want := s.open(id)
				want.State = to
				for _, store := range []ports.Store{s.Store, s.Other, s.Store} {
					got, err := store.End(t.Context(), id, to)
					require.NoError(t, err)
					alike(t, want, got)
				}
				_, err := s.Other.End(t.Context(), id, other)
				refused(t, err, fault.RunInactive)
				alike(t, want, s.find(id))
			}
		}},
	{Name: "End/OneKindWinsUnderConcurrency",
		Rule:     "Of concurrent ends of both kinds one kind wins and every end of the other kind is RUN_INACTIVE.",
		Promises: []string{"Runs.End#1", "Store#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			for range 10 {
				r := s.open(run.ID(fresh()))
				outcomes := s.atOnce(8, func(i int) error {
					to := []run.State{run.Cancelled, run.Completed}[i%2]
					_, err := []ports.Store{s.Store, s.Other}[i/4].End(t.Context(), r.ID, to)
					return err
				})
				require.Equal(t, map[fault.Code]int{"": 4, fault.RunInactive: 4}, outcomes)
			}
		}},
	{Name: "End/AfterTheDeadline",
		Rule:     "A run past its deadline can still be ended.",
		Promises: []string{"Runs.End#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1", func(r *run.Run) { r.TTL = s.Unit })
			s.Advance(t, s.Unit)
			got, err := s.Store.End(t.Context(), r.ID, run.Completed)
			require.NoError(t, err)
			require.Equal(t, run.Completed, got.State)
		}},
}

package storetest

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

var beginCases = []storeCase{
	{Name: "Begin/CreatesTheProjectingRecord", Scenarios: []string{"S10", "S15"},
		Rule:     "Begin creates one PROJECTING record with the exact id and request and the store's times.",
		Promises: []string{"Invocations.Begin#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			want := call(r, "functions.query:0")
			before := s.Now(t).Truncate(time.Millisecond)
			begun, err := s.Store.Begin(t.Context(), want, r.Incarnation, 90*time.Second)
			require.NoError(t, err)
			got := begun.Record
			require.False(t, got.StartedAt.Before(before))
			require.False(t, got.StartedAt.After(s.Now(t)))
			require.Zero(t, got.StartedAt.Nanosecond()%int(time.Millisecond))
			want.StartedAt, want.LeaseUntil = got.StartedAt, got.StartedAt.Add(90*time.Second)
			same(t, want, got)
			require.Equal(t, r.Deadline.Sub(got.StartedAt), begun.Remaining,
				"the time that is left, by the store's clock")
			stored := s.record("r1", "functions.query:0")
			same(t, want, stored)
			require.Equal(t, invocation.Projecting, stored.Status)
			require.Equal(t, evidence.Error, stored.EvidenceStatus)
			require.Nil(t, stored.AgentResult)
			require.Equal(t, encoded(want), s.stored(want.Key()), "the stored form is that of ports/record")
		}},
	{Name: "Begin/RefusesUnknownRuns", Scenarios: []string{"S06"},
		Rule:     "Begin in an unknown run, or in another incarnation of it, is RUN_NOT_FOUND and leaves nothing.",
		Promises: []string{"Invocations.Begin#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			ghost := plain("r1")
			refused(t, s.tryBegin(ghost, call(ghost, "call_1")), fault.RunNotFound)
			opened := s.open("r1")
			refused(t, s.tryBegin(ghost, call(ghost, "call_1")), fault.RunNotFound)
			s.untouched(opened, "call_1")
		}},
	{Name: "Begin/RefusesEndedRuns", Scenarios: []string{"S06"},
		Rule:     "Begin in a run that was cancelled or completed is RUN_INACTIVE and leaves nothing.",
		Promises: []string{"Invocations.Begin#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			for _, to := range []run.State{run.Cancelled, run.Completed} {
				r := s.open(run.ID(to))
				ended, err := s.Other.End(t.Context(), r.ID, to)
				require.NoError(t, err)
				refused(t, s.tryBegin(r, call(r, "call_1")), fault.RunInactive)
				s.untouched(ended, "call_1")
			}
		}},
	{Name: "Begin/RefusesPastTheDeadline", Scenarios: []string{"S06"},
		Rule:     "Begin at or after the deadline, by the store's clock, is RUN_DEADLINE_EXCEEDED and leaves nothing.",
		Promises: []string{"Invocations.Begin#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1", func(r *run.Run) { r.TTL = s.Unit })
			s.Advance(t, s.Unit)
			refused(t, s.tryBegin(r, call(r, "call_1")), fault.RunDeadlineExceeded)
			s.untouched(r, "call_1")
		}},
	{Name: "Begin/RefusesDuplicates", Scenarios: []string{"S07"},
		Rule: "A second Begin of an id is DUPLICATE_TOOL_CALL with the first call's status; record and budget stay as " +
			"they are.",
		Promises: []string{"Invocations.Begin#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1", func(r *run.Run) {
				r.Budget.MaxCalls, r.Budget.MaxCallsPerTool = 3, map[string]int64{toolName: 3}
			})
			for status, settle := range map[invocation.Status]func(invocation.Record){
				invocation.Projecting: func(invocation.Record) {},
				invocation.Ready:      func(rec invocation.Record) { s.settle(s.answered(rec)) },
				invocation.Error:      func(rec invocation.Record) { s.settle(failed(rec, "")) },
			} {
				id := "call_" + string(status)
				rec := s.begin(r, id)
				settle(rec)
				before, stands := s.stored(rec.Key()), s.find("r1")
				for range 5 {
					f := refused(t, s.tryBegin(r, call(r, id)), fault.DuplicateToolCall)
					require.Equal(t, string(status), f.Reason)
				}
				require.Equal(t, before, s.stored(rec.Key()))
				alike(t, stands, s.find("r1"))
			}
		}},
	{Name: "Begin/DuplicateAfterTheRecordExpired", Scenarios: []string{"S07", "S18"},
		Rule:     "An id stays a duplicate for as long as the run is known, also after its record expired.",
		Promises: []string{"Invocations.Begin#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1", func(r *run.Run) { r.RecordTTL = s.Unit })
			rec := s.begin(r, "call_1")
			s.Advance(t, s.Unit)
			_, ok := s.load("r1", "call_1")
			require.False(t, ok, "the record is gone")
			refused(t, s.tryBegin(r, call(r, "call_1")), fault.DuplicateToolCall)
			refused(t, s.tryBegin(r, rec), fault.DuplicateToolCall)
			value, _ := s.Stored(t, rec.Key())
			require.Nil(t, value)
		}},
	{Name: "Begin/FirstThatHolds", Scenarios: []string{"S06"},
		Rule: "The refusal is the first that holds of RUN_NOT_FOUND, RUN_INACTIVE, RUN_DEADLINE_EXCEEDED, " +
			"DUPLICATE_TOOL_CALL, TOOL_BUDGET_EXHAUSTED, RUN_BUDGET_EXHAUSTED, RUN_BYTES_EXHAUSTED.",
		Promises: []string{"Invocations.Begin#2"},
		Body:     firstThatHolds},
	{Name: "Begin/RepeatedByItsOwner", Scenarios: []string{"S07", "S24"},
		Rule: "A repeated Begin of the same owner is answered as before, also when the run has ended meanwhile, and " +
			"spends nothing.",
		Promises: []string{"Invocations.Begin#4"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1", func(r *run.Run) { r.Budget.MaxCalls = 1 })
			rec := call(r, "call_1")
			first, err := s.Store.Begin(t.Context(), rec, r.Incarnation, long)
			require.NoError(t, err)
			stands := s.find("r1")
			again := func() {
				begun, err := s.Other.Begin(t.Context(), rec, r.Incarnation, 2*long)
				require.NoError(t, err)
				same(t, first.Record, begun.Record)
				require.LessOrEqual(t, begun.Remaining, first.Remaining)
			}
			again()
			again()
			alike(t, stands, s.find("r1"))
			_, err = s.Store.End(t.Context(), "r1", run.Cancelled)
			require.NoError(t, err)
			again()
		}},
	{Name: "Begin/RepeatedAfterItsSettlement", Scenarios: []string{"S14"},
		Rule:     "A repeated Begin of an owner whose record is terminal begins nothing: it is a duplicate.",
		Promises: []string{"Invocations.Begin#4"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			rec := s.begin(r, "call_1")
			s.settle(s.answered(rec))
			before := s.stored(rec.Key())
			f := refused(t, s.tryBegin(r, rec), fault.DuplicateToolCall)
			require.Equal(t, string(invocation.Ready), f.Reason)
			require.Equal(t, before, s.stored(rec.Key()))
		}},
	{Name: "Begin/KeepsItsOwnCopy", Scenarios: []string{"S15"},
		Rule:     "What a caller does to its request afterwards, or to the one it was answered with, changes no record.",
		Promises: []string{"Store#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			rec := call(r, "call_1")
			begun, err := s.Store.Begin(t.Context(), rec, r.Incarnation, long)
			require.NoError(t, err)
			before := s.stored(rec.Key())
			copy(rec.Request, "EVIL")
			copy(begun.Record.Request, "EVIL")
			require.Equal(t, before, s.stored(rec.Key()))
			require.Equal(t, request, string(s.record("r1", "call_1").Request))
		}},
	{Name: "Begin/KeysNeverMeet", Scenarios: []string{"S01", "S07"},
		Rule:     "No two pairs of run and tool call share a record, whatever bytes the ids hold.",
		Promises: []string{"Invocations.Begin#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			runs := []run.ID{"a", "a:b", "a:i", "a:i:b", "A", "a.b", "a-"}
			ids := []string{
				"c", "b:c", "i:c", "}:i:c", "{a}:i:c", "{", "}", "{}", ":", "%7D", "*", "C", "c:",
				"~!#$&()+,/;<=>?@[]^_`|", strings.Repeat("{:}%", 256),
			}
			for _, id := range runs {
				r := s.open(id)
				for _, c := range ids {
					rec := s.begin(r, c)
					s.settle(ready(t, rec, raw, `"`+string(id)+`"`, evidence.Found))
				}
			}
			for _, id := range runs {
				require.Equal(t, ids, s.find(id).ToolCallIDs)
				found, err := s.Other.Load(t.Context(), id, ports.Whole, ids...)
				require.NoError(t, err)
				for _, c := range ids {
					require.Nil(t, found[c].Fault)
					require.Equal(t, invocation.Key{RunID: id, ToolCallID: c}, found[c].Record.Key())
					require.Equal(t, `"`+string(id)+`"`, string(found[c].Record.AgentResult))
				}
			}
		}},
	{Name: "Begin/OneIDRunsOnceUnderConcurrency", Scenarios: []string{"S07"},
		Rule:     "Of 32 concurrent Begins of one id exactly one succeeds, and one call is spent.",
		Promises: []string{"Invocations.Begin#2", "Store#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			outcomes := s.atOnce(32, func(i int) error {
				_, err := []ports.Store{s.Store, s.Other}[i%2].Begin(t.Context(), call(r, "call_1"), r.Incarnation, long)
				return err
			})
			require.Equal(t, map[fault.Code]int{"": 1, fault.DuplicateToolCall: 31}, outcomes)
			require.EqualValues(t, 1, s.find("r1").Usage.Calls)
			require.Equal(t, []string{"call_1"}, s.find("r1").ToolCallIDs)
		}},
}

// untouched requires that a refused Begin left neither record nor spending.
func (s stage) untouched(r run.Run, toolCallID string) {
	s.Helper()
	alike(s, r, s.find(r.ID))
	value, _ := s.Stored(s, invocation.Key{RunID: r.ID, ToolCallID: toolCallID})
	require.Nil(s, value, "no record")
}

// firstThatHolds takes one reason for refusal after the other away, in their order.
func firstThatHolds(t kit.T, subject Subject) {
	s := on(t, subject)
	broke := func(r *run.Run) {
		r.Budget.MaxCalls, r.Budget.MaxBytes = 1, int64(len(request))
		r.Budget.MaxCallsPerTool = map[string]int64{toolName: 1}
	}
	late := s.open("late", broke, func(r *run.Run) { r.TTL = s.Unit })
	lateEnded := s.open("late_ended", broke, func(r *run.Run) { r.TTL = s.Unit })
	s.begin(late, "call_1")
	s.begin(lateEnded, "call_1")
	_, err := s.Store.End(t.Context(), lateEnded.ID, run.Completed)
	require.NoError(t, err)
	s.Advance(t, s.Unit)
	lateEnded.Incarnation, lateEnded.ID = token(), "late_ended"
	refused(t, s.tryBegin(lateEnded, call(lateEnded, "call_1")), fault.RunNotFound)
	lateEnded = s.find("late_ended")
	refused(t, s.tryBegin(lateEnded, call(lateEnded, "call_1")), fault.RunInactive)
	refused(t, s.tryBegin(late, call(late, "call_1")), fault.RunDeadlineExceeded)
	refused(t, s.tryBegin(late, call(late, "call_2")), fault.RunDeadlineExceeded)

	r := s.open("broke", broke)
	s.begin(r, "call_1")
	refused(t, s.tryBegin(r, call(r, "call_1")), fault.DuplicateToolCall)
	refused(t, s.tryBegin(r, call(r, "call_2")), fault.ToolBudgetExhausted)
	other := call(r, "call_2")
	other.ToolName = "other"
	refused(t, s.tryBegin(r, other), fault.RunBudgetExhausted)
	full := s.open("full", broke, func(r *run.Run) { r.Budget.MaxCalls = 2 })
	s.begin(full, "call_1")
	other.RunID = full.ID
	refused(t, s.tryBegin(full, other), fault.RunBytesExhausted)
}

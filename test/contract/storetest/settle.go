package storetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

var settleCases = []storeCase{
	{Name: "Settle/ReadyIsTheSameRecord", Scenarios: []string{"S11", "S12", "S14", "S15"},
		Rule: "READY replaces the same record: request, raw response and agent result byte for byte, CompletedAt by the " +
			"store's clock.",
		Promises: []string{"Invocations.Settle#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			for _, status := range []evidence.Status{evidence.Found, evidence.None} {
				begun := s.begin(r, fresh())
				next := ready(t, begun, raw, agent, status)
				before := s.Now(t).Truncate(time.Millisecond)
				got := s.settle(next)
				require.False(t, got.CompletedAt.Before(before))
				require.False(t, got.CompletedAt.After(s.Now(t)))
				next.CompletedAt = got.CompletedAt
				same(t, next, got)
				same(t, next, s.record("r1", begun.ToolCallID))
				require.Equal(t, request, string(got.Request))
				require.Equal(t, raw, string(got.RawResponse))
				require.Equal(t, agent, string(got.AgentResult))
				require.Equal(t, encoded(next), s.stored(next.Key()), "the stored form is that of ports/record")
			}
		}},
	{Name: "Settle/ErrorIsTheSameRecord", Scenarios: []string{"S13", "S14", "S23"},
		Rule: "ERROR replaces the same record with its code, reason and detail, evidence status ERROR and the raw " +
			"response that was kept.",
		Promises: []string{"Invocations.Settle#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			for _, kept := range []string{"", raw} {
				next := failed(s.begin(r, fresh()), kept)
				got := s.settle(next)
				require.False(t, got.CompletedAt.IsZero())
				next.CompletedAt = got.CompletedAt
				same(t, next, got)
				same(t, next, s.record("r1", next.ToolCallID))
				require.Equal(t, evidence.Error, got.EvidenceStatus)
				require.Equal(t, kept, string(got.RawResponse))
				require.Nil(t, got.AgentResult)
			}
		}},
	{Name: "Settle/ChargesItsBytesOnce", Scenarios: []string{"S09"},
		Rule:     "A settlement charges the bytes of raw response and agent result once, however often it is repeated.",
		Promises: []string{"Invocations.Settle#1", "Invocations.Settle#5"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			next := s.answered(s.begin(s.open("r1"), "call_1"))
			for range 3 {
				s.settle(next)
				require.EqualValues(t, len(request)+len(raw)+len(agent), s.find("r1").Usage.Bytes)
			}
		}},
	{Name: "Settle/RepeatedIsAnswered", Scenarios: []string{"S14", "S24"},
		Rule:     "The same settlement repeated is answered with the stored record, which stays as it is.",
		Promises: []string{"Invocations.Settle#5"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			for _, next := range []invocation.Record{
				s.answered(s.begin(r, fresh())), failed(s.begin(r, fresh()), raw), failed(s.begin(r, fresh()), ""),
			} {
				first := s.settle(next)
				before := s.stored(next.Key())
				again, err := s.Other.Settle(t.Context(), next)
				require.NoError(t, err)
				same(t, first, again)
				require.Equal(t, before, s.stored(next.Key()))
			}
		}},
	{Name: "Settle/TerminalIsFinal", Scenarios: []string{"S14"},
		Rule:     "A terminal record takes no other settlement: EXECUTION_LOST, and nothing changes.",
		Promises: []string{"Invocations.Settle#5"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			for i := range 2 {
				rec := s.begin(r, fresh())
				nexts := []invocation.Record{s.answered(rec), failed(rec, "")}
				s.settle(nexts[i])
				before, stands := s.stored(rec.Key()), s.find("r1")
				for _, other := range []invocation.Record{
					nexts[1-i], ready(t, rec, raw, `{}`, evidence.Found), ready(t, rec, raw, agent, evidence.None),
					rec.Failed(fault.New(fault.ExecutionTimeout)), failed(rec, raw), rec.Exhausted(), rec.Lost(),
				} {
					_, err := s.Store.Settle(t.Context(), other)
					refused(t, err, fault.ExecutionLost)
				}
				require.Equal(t, before, s.stored(rec.Key()))
				alike(t, stands, s.find("r1"))
			}
		}},
	{Name: "Settle/OnlyItsOwner", Scenarios: []string{"S14"},
		Rule:     "Whoever does not own the record cannot settle it: EXECUTION_LOST, and nothing changes.",
		Promises: []string{"Invocations.Settle#5"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			rec := s.begin(r, "call_1")
			before, stands := s.stored(rec.Key()), s.find("r1")
			thief := rec
			thief.Owner = token()
			for _, next := range []invocation.Record{s.answered(thief), failed(thief, "")} {
				_, err := s.Other.Settle(t.Context(), next)
				refused(t, err, fault.ExecutionLost)
			}
			require.Equal(t, before, s.stored(rec.Key()))
			alike(t, stands, s.find("r1"))
			s.settle(s.answered(rec))
			_, err := s.Store.Settle(t.Context(), s.answered(thief))
			refused(t, err, fault.ExecutionLost)
		}},
	{Name: "Settle/OnlyToReadyOrError", Scenarios: []string{"S14"},
		Rule:     "A settlement to PROJECTING is refused as INTERNAL and changes nothing.",
		Promises: []string{"Invocations.Settle#6"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			for _, terminal := range []bool{false, true} {
				rec := s.begin(r, fresh())
				if terminal {
					s.settle(s.answered(rec))
				}
				before := s.stored(rec.Key())
				_, err := s.Store.Settle(t.Context(), rec)
				refused(t, err, fault.Internal)
				require.Equal(t, before, s.stored(rec.Key()))
			}
		}},
	{Name: "Settle/UnknownCalls", Scenarios: []string{"S19"},
		Rule: "A call that never began, in a known or an unknown run, is INVOCATION_NOT_FOUND and nothing is " +
			"written.",
		Promises: []string{"Invocations.Settle#4"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			for _, r := range []run.Run{s.open("r1"), plain("ghost")} {
				next := s.answered(call(r, "call_1"))
				_, err := s.Store.Settle(t.Context(), next)
				refused(t, err, fault.InvocationNotFound)
				value, _ := s.Stored(t, next.Key())
				require.Nil(t, value)
			}
		}},
	{Name: "Settle/KeepsTheStoresTimes",
		Rule:     "StartedAt and LeaseUntil stay as the store set them, whatever the settlement says.",
		Promises: []string{"Invocations.Settle#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			rec := s.begin(s.open("r1"), "call_1")
			next := s.answered(rec)
			next.StartedAt, next.LeaseUntil, next.CompletedAt = time.Time{}, rec.StartedAt.Add(-long),
				rec.StartedAt.Add(-long)
			got := s.settle(next)
			require.Equal(t, rec.StartedAt, got.StartedAt)
			require.Equal(t, rec.LeaseUntil, got.LeaseUntil)
			require.False(t, got.CompletedAt.Before(rec.StartedAt))
			same(t, got, s.record("r1", "call_1"))
		}},
	{Name: "Settle/KeepsItsOwnCopy", Scenarios: []string{"S15"},
		Rule:     "What a caller does to the bytes of a settlement afterwards changes no record.",
		Promises: []string{"Store#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			rec := s.begin(s.open("r1"), "call_1")
			next := s.answered(rec)
			got := s.settle(next)
			before := s.stored(rec.Key())
			for _, b := range [][]byte{
				next.RawResponse, next.AgentResult, next.Request, got.RawResponse, got.AgentResult, got.Request,
			} {
				copy(b, "EVIL")
			}
			require.Equal(t, before, s.stored(rec.Key()))
			require.Equal(t, raw, string(s.record("r1", "call_1").RawResponse))
		}},
	{Name: "Settle/ReadyAfterTheEnd", Scenarios: []string{"S14"},
		Rule: "READY in a run that was ended is stored as ERROR/EXECUTION_CANCELLED, with the raw response and without " +
			"agent result; repeating it is answered.",
		Promises: []string{"Invocations.Settle#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			for _, to := range []run.State{run.Cancelled, run.Completed} {
				r := s.open(run.ID(to))
				next := s.answered(s.begin(r, "call_1"))
				_, err := s.Other.End(t.Context(), r.ID, to)
				require.NoError(t, err)
				s.interrupted(next, fault.ExecutionCancelled)
			}
		}},
	{Name: "Settle/ReadyAfterTheDeadline", Scenarios: []string{"S06", "S14"},
		Rule: "READY past the run's deadline, by the store's clock, is stored as ERROR/RUN_DEADLINE_EXCEEDED, with the " +
			"raw response and without agent result.",
		Promises: []string{"Invocations.Settle#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1", func(r *run.Run) { r.TTL = s.Unit })
			next := s.answered(s.begin(r, "call_1"))
			s.Advance(t, s.Unit)
			s.interrupted(next, fault.RunDeadlineExceeded)
		}},
	{Name: "Settle/ErrorAfterTheEnd", Scenarios: []string{"S14", "S25"},
		Rule:     "ERROR is stored as it is, also when the run has ended or its deadline has passed.",
		Promises: []string{"Invocations.Settle#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1", func(r *run.Run) { r.TTL = s.Unit })
			late, next := failed(s.begin(r, "call_1"), raw), failed(s.begin(r, "call_2"), raw)
			s.Advance(t, s.Unit)
			require.Equal(t, fault.ExecutionFailed, s.settle(late).ErrorCode)
			_, err := s.Store.End(t.Context(), r.ID, run.Cancelled)
			require.NoError(t, err)
			got := s.settle(next)
			require.Equal(t, fault.ExecutionFailed, got.ErrorCode)
			require.Equal(t, raw, string(got.RawResponse))
		}},
	{Name: "Settle/EverySizeComesBack", Scenarios: []string{"S15", "S22"},
		Rule:     "Records of any size come back byte for byte, those at the edges of a store's own thresholds as well.",
		Promises: []string{"Invocations.Settle#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1", func(r *run.Run) { r.Budget.MaxCalls = 100 })
			for _, n := range []int{2, 3, 255, 4096, 15 << 10, 16<<10 - 1, 16 << 10, 16<<10 + 1, 64 << 10, 1<<20 + 1} {
				rec := sized(r, fresh(), max(n/8, 20))
				begun, err := s.Store.Begin(t.Context(), rec, r.Incarnation, long)
				require.NoError(t, err)
				require.Equal(t, encoded(begun.Record), s.stored(rec.Key()), "%d bytes", n)
				got := s.settle(ready(t, begun.Record, text(n), text(max(n/16, 2)), evidence.Found))
				require.True(t, encoded(got) == s.stored(rec.Key()), "%d bytes", n)
				back := s.record("r1", rec.ToolCallID)
				require.True(t, encoded(got) == encoded(back), "%d bytes", n)
			}
		}},
}

// interrupted settles a READY record in a run that is over.
func (s stage) interrupted(next invocation.Record, code fault.Code) {
	s.Helper()
	want := next.Interrupted(code)
	got := s.settle(next)
	want.CompletedAt = got.CompletedAt
	same(s, want, got)
	require.Equal(s, invocation.Error, got.Status)
	require.Equal(s, code, got.ErrorCode)
	require.Equal(s, raw, string(got.RawResponse))
	require.Nil(s, got.AgentResult)
	require.False(s, got.Referencable())
	same(s, got, s.record(next.RunID, next.ToolCallID))
	same(s, got, s.settle(next))
	require.EqualValues(s, len(request)+len(raw), s.find(next.RunID).Usage.Bytes)
	_, err := s.Store.Settle(s.Context(), failed(next, ""))
	refused(s, err, fault.ExecutionLost)
}

package storetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// lifeCases are about the life of records and runs (S18, S19).
var lifeCases = []storeCase{
	{Name: "Begin/SetsTheExpiryOnce", Scenarios: []string{"S18"},
		Rule:     "A record expires its run's record TTL after its creation, and a repeated Begin does not move that.",
		Promises: []string{"Invocations.Begin#5"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			for _, n := range []int{40, 100 << 10} {
				rec := sized(r, fresh(), n)
				begun, err := s.Store.Begin(t.Context(), rec, r.Incarnation, long)
				require.NoError(t, err)
				at := s.expires(rec.Key())
				require.WithinDuration(t, begun.Record.StartedAt.Add(r.RecordTTL), at, 0)
				s.Advance(t, s.Unit/50)
				require.NoError(t, s.tryBegin(r, rec))
				refused(t, s.tryBegin(r, call(r, rec.ToolCallID)), fault.DuplicateToolCall)
				require.WithinDuration(t, at, s.expires(rec.Key()), 0)
			}
		}},
	{Name: "Settle/KeepsTheExactExpiry", Scenarios: []string{"S18"},
		Rule: "A settlement keeps the absolute expiry to the millisecond, for small and large records, and so does its " +
			"repetition.",
		Promises: []string{"Invocations.Settle#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			for _, n := range []int{10, 100 << 10} {
				rec := s.begin(r, fresh())
				at := s.expires(rec.Key())
				s.Advance(t, s.Unit/50)
				next := ready(t, rec, text(n), text(10), evidence.Found)
				s.settle(next)
				require.WithinDuration(t, at, s.expires(rec.Key()), 0)
				s.settle(next)
				_, err := s.Store.Settle(t.Context(), failed(rec, ""))
				refused(t, err, fault.ExecutionLost)
				require.WithinDuration(t, at, s.expires(rec.Key()), 0)
			}
		}},
	{Name: "Settle/GoneIsNotBroughtBack", Scenarios: []string{"S19"},
		Rule:     "A settlement of an expired record is INVOCATION_NOT_FOUND, writes nothing and charges nothing.",
		Promises: []string{"Invocations.Settle#4"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1", func(r *run.Run) { r.RecordTTL = s.Unit })
			small, large := s.begin(r, "small"), s.begin(r, "large")
			s.Advance(t, s.Unit)
			stands := s.find("r1")
			whole := ready(t, large, text(100<<10), text(10), evidence.Found)
			for _, next := range []invocation.Record{s.answered(small), failed(small, ""), whole} {
				for range 2 {
					_, err := s.Store.Settle(t.Context(), next)
					refused(t, err, fault.InvocationNotFound)
				}
				value, _ := s.Stored(t, next.Key())
				require.Nil(t, value)
			}
			alike(t, stands, s.find("r1"))
		}},
	{Name: "Load/DoesNotRenewTTL", Scenarios: []string{"S18"},
		Rule:     "No read moves the expiry of a record or of its run, and the record is gone when it comes.",
		Promises: []string{"Invocations.Load#3", "Runs.Find#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1", func(r *run.Run) { r.RecordTTL = 10 * s.Unit })
			projecting, settled := s.begin(r, "call_1"), s.begin(r, "call_2")
			s.settle(s.answered(settled))
			keys := []invocation.Key{projecting.Key(), settled.Key()}
			var at []time.Time
			for _, k := range keys {
				at = append(at, s.expires(k))
			}
			runAt := s.RunExpires(t, "r1")
			s.Advance(t, s.Unit)
			for _, view := range []ports.View{ports.Whole, ports.Head} {
				for _, store := range []ports.Store{s.Store, s.Other} {
					found, err := store.Load(t.Context(), "r1", view, "call_1", "call_2")
					require.NoError(t, err)
					require.Len(t, found, 2)
				}
			}
			s.find("r1")
			_, err := s.Store.Ended(t.Context(), "r1")
			require.NoError(t, err)
			for i, k := range keys {
				require.WithinDuration(t, at[i], s.expires(k), 0)
			}
			require.WithinDuration(t, runAt, s.RunExpires(t, "r1"), 0)
			s.Advance(t, 9*s.Unit)
			found, err := s.Store.Load(t.Context(), "r1", ports.Whole, "call_1", "call_2")
			require.NoError(t, err)
			require.Empty(t, found)
		}},
	{Name: "Find/RunsOutliveTheirRecords", Scenarios: []string{"S18"},
		Rule: "A run is known until it may be forgotten, longer than any of its records can live, and nothing that " +
			"happens in it moves that.",
		Promises: []string{"Runs.Find#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1", func(r *run.Run) { r.RecordTTL = s.Unit })
			at := s.RunExpires(t, "r1")
			require.False(t, at.Before(r.Deadline.Add(r.RecordTTL+15*time.Minute)))
			s.settle(s.answered(s.begin(r, "call_1")))
			require.NoError(t, s.Store.Refuse(t.Context(), r.ID, r.Incarnation, run.Refusal{Code: fault.QueryRejected},
				true))
			_, err := s.Store.End(t.Context(), r.ID, run.Completed)
			require.NoError(t, err)
			s.Advance(t, s.Unit)
			_, ok := s.load("r1", "call_1")
			require.False(t, ok)
			got := s.find("r1")
			require.Equal(t, []string{"call_1"}, got.ToolCallIDs)
			require.Equal(t, run.Completed, got.State)
			require.WithinDuration(t, at, s.RunExpires(t, "r1"), 0)
		}},
}

package storetest

import (
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

var huge = limits.Limits{Request: 1 << 30, Raw: 1 << 30, Record: 1 << 30, AgentResult: 1 << 30}

// lostCases are about records whose process died (S16).
var lostCases = []storeCase{
	{Name: "Load/SettlesLostExecutions", Scenarios: []string{"S16", "S18"},
		Rule: "A PROJECTING record whose lease has passed is settled to ERROR/EXECUTION_LOST by whoever loads it; it " +
			"keeps its exact expiry and is final.",
		Promises: []string{"Invocations.Load#4"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			for _, view := range []ports.View{ports.Whole, ports.Head, ports.Answer} {
				rec := s.beginLeased(r, fresh(), s.Unit)
				at := s.expires(rec.Key())
				s.Advance(t, s.Unit)
				found, err := s.Other.Load(t.Context(), "r1", view, rec.ToolCallID)
				require.NoError(t, err)
				got := found[rec.ToolCallID]
				require.Nil(t, got.Fault)
				require.Equal(t, fault.ExecutionLost, got.Record.ErrorCode)
				require.Equal(t, view != ports.Whole, got.Record.Request == nil)
				require.Equal(t, len(request), got.Record.Sizes.Request)
				want := rec.Lost()
				want.CompletedAt = got.Record.CompletedAt
				require.False(t, want.CompletedAt.Before(rec.LeaseUntil))
				require.Equal(t, encoded(want), s.stored(rec.Key()))
				same(t, want, s.record("r1", rec.ToolCallID))
				require.WithinDuration(t, at, s.expires(rec.Key()), 0)
				for _, next := range []invocation.Record{s.answered(rec), failed(rec, "")} {
					_, err = s.Store.Settle(t.Context(), next)
					refused(t, err, fault.ExecutionLost)
				}
				f := refused(t, s.tryBegin(r, call(r, rec.ToolCallID)), fault.DuplicateToolCall)
				require.Equal(t, string(invocation.Error), f.Reason)
				refused(t, s.tryBegin(r, rec), fault.DuplicateToolCall)
				require.Equal(t, encoded(want), s.stored(rec.Key()))
			}
			require.EqualValues(t, 3*len(request), s.find("r1").Usage.Bytes, "nothing is charged for what was lost")
			s.settle(s.answered(s.begin(r, "the rest of the run works")))
		}},
	{Name: "Load/LeavesLeasedExecutions", Scenarios: []string{"S16"},
		Rule:     "A PROJECTING record within its lease stays as it is, and so does a terminal one after it.",
		Promises: []string{"Invocations.Load#4"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			leased := s.begin(r, "leased")
			terminal := s.settle(s.answered(s.beginLeased(r, "terminal", s.Unit)))
			s.Advance(t, s.Unit)
			found, err := s.Store.Load(t.Context(), "r1", ports.Whole, "leased", "terminal")
			require.NoError(t, err)
			same(t, leased, found["leased"].Record)
			same(t, terminal, found["terminal"].Record)
			same(t, s.settle(s.answered(leased)), s.record("r1", "leased"))
		}},
	{Name: "Settle/AfterTheLease", Scenarios: []string{"S16"},
		Rule:     "The owner can settle a record after its lease, as long as nobody has settled it as lost.",
		Promises: []string{"Invocations.Settle#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			rec := s.beginLeased(s.open("r1"), "call_1", s.Unit)
			s.Advance(t, s.Unit)
			require.Equal(t, invocation.Ready, s.settle(s.answered(rec)).Status)
		}},
	{Name: "Load/LostOrSettledUnderConcurrency", Scenarios: []string{"S14", "S16"},
		Rule: "When owner and loaders meet after the lease, the record ends in one way, and everybody is told " +
			"the same.",
		Promises: []string{"Invocations.Load#4", "Store#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			var recs []invocation.Record
			for range 16 {
				recs = append(recs, s.beginLeased(r, fresh(), s.Unit))
			}
			s.Advance(t, s.Unit)
			for i, rec := range recs {
				next := ready(t, rec, text(100+(i/2%2)*(100<<10)), agent, evidence.Found)
				var ready, lost atomic.Int64
				owner := i % 2 * 4 // the owner comes first or last
				outcomes := s.atOnce(5, func(i int) error {
					if i == owner {
						_, err := s.Store.Settle(t.Context(), next)
						if err == nil {
							ready.Add(1)
						} else {
							lost.Add(1)
						}
						return err
					}
					store, view := []ports.Store{s.Store, s.Other}[i%2], []ports.View{ports.Whole, ports.Head}[i/3]
					found, err := store.Load(t.Context(), "r1", view, rec.ToolCallID)
					if err != nil {
						return err
					}
					switch got := found[rec.ToolCallID]; {
					case got.Fault != nil:
						return got.Fault
					case got.Record.Status == invocation.Ready:
						ready.Add(1)
					case got.Record.ErrorCode == fault.ExecutionLost:
						lost.Add(1)
					}
					return nil
				})
				require.Equal(t, 5, outcomes[""]+outcomes[fault.ExecutionLost])
				require.Contains(t, [][2]int64{{5, 0}, {0, 5}}, [2]int64{ready.Load(), lost.Load()})
			}
		}},
}

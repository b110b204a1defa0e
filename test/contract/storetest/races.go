package storetest

import (
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

var settleRaceCases = []storeCase{
	{Name: "Settle/OneWriterWinsUnderConcurrency", Scenarios: []string{"S14"},
		Rule: "Of READY and ERROR writers of one record at once exactly one wins; what is stored is what the winner was " +
			"told.",
		Promises: []string{"Invocations.Settle#5", "Store#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			for range 40 {
				rec := s.begin(r, fresh())
				nexts := []invocation.Record{
					s.answered(rec), failed(rec, ""), ready(t, rec, raw, `{}`, evidence.None),
					rec.Failed(fault.New(fault.ExecutionTimeout)),
				}
				var winner atomic.Pointer[invocation.Record]
				outcomes := s.atOnce(len(nexts), func(i int) error {
					got, err := []ports.Store{s.Store, s.Other}[i%2].Settle(t.Context(), nexts[i])
					if err == nil {
						winner.Store(&got)
					}
					return err
				})
				require.Equal(t, map[fault.Code]int{"": 1, fault.ExecutionLost: 3}, outcomes)
				same(t, *winner.Load(), s.record("r1", rec.ToolCallID))
			}
		}},
	{Name: "Settle/SameSettlementUnderConcurrency", Scenarios: []string{"S14"},
		Rule:     "The same settlement sent many times at once is answered alike each time and charged once.",
		Promises: []string{"Invocations.Settle#5", "Store#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			next := s.answered(s.begin(s.open("r1"), "call_1"))
			outcomes := s.atOnce(16, func(i int) error {
				got, err := []ports.Store{s.Store, s.Other}[i%2].Settle(t.Context(), next)
				if err == nil && got.Status != invocation.Ready {
					return fault.New(fault.Internal)
				}
				return err
			})
			require.Equal(t, map[fault.Code]int{"": 16}, outcomes)
			require.EqualValues(t, len(request)+len(raw)+len(agent), s.find("r1").Usage.Bytes)
		}},
	{Name: "Settle/AgainstTheEndUnderConcurrency", Scenarios: []string{"S14"},
		Rule: "A settlement at the moment of a cancel is READY or EXECUTION_CANCELLED, and stays what its caller was " +
			"told.",
		Promises: []string{"Invocations.Settle#2", "Store#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			for range 20 {
				r := s.open(run.ID(fresh()))
				next := s.answered(s.begin(r, "call_1"))
				var told atomic.Pointer[invocation.Record]
				outcomes := s.atOnce(2, func(i int) error {
					if i == 0 {
						_, err := s.Other.End(t.Context(), r.ID, run.Cancelled)
						return err
					}
					got, err := s.Store.Settle(t.Context(), next)
					told.Store(&got)
					return err
				})
				require.Equal(t, map[fault.Code]int{"": 2}, outcomes)
				got := *told.Load()
				require.Contains(t, []fault.Code{"", fault.ExecutionCancelled}, got.ErrorCode)
				same(t, got, s.record(r.ID, "call_1"))
			}
		}},
	{Name: "Settle/ReadersSeeWholeRecords", Scenarios: []string{"S15"},
		Rule: "Whoever loads a record while it is settled sees it as it was before or as it is afterwards, never in " +
			"between.",
		Promises: []string{"Invocations.Settle#1", "Store#3"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			for _, n := range []int{200, 100 << 10} {
				begun := s.begin(r, fresh())
				next := ready(t, begun, text(n), text(n), evidence.Found)
				outcomes := s.atOnce(6, func(i int) error {
					if i == 0 {
						_, err := s.Store.Settle(t.Context(), next)
						return err
					}
					for range 10 {
						found, err := s.Other.Load(t.Context(), "r1", ports.Whole, begun.ToolCallID)
						if err != nil {
							return err
						}
						got := found[begun.ToolCallID]
						want := begun
						if got.Record.Status == invocation.Ready {
							want = next
							want.CompletedAt = got.Record.CompletedAt
						}
						if got.Fault != nil || encoded(got.Record) != encoded(want) {
							return fault.New(fault.Internal)
						}
					}
					return nil
				})
				require.Equal(t, map[fault.Code]int{"": 6}, outcomes)
			}
		}},
}

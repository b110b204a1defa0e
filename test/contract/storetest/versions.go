package storetest

import (
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// versionCases are about two versions of the service that share a store (ports/record).
var versionCases = []storeCase{
	{Name: "Load/ReadsWhatALaterVersionWrote",
		Promises: []string{"Invocations.Load#6"},
		Rule: "A record with a head member that this version does not know is read like any other, however long its " +
			"head is.",
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open(run.ID(strings.Repeat("r", run.MaxID)))
			failure := fault.Because(fault.DataSourceUnavailable, strings.Repeat("\x00", 100),
				strings.Repeat("\x01", 2000))
			for _, later := range []int{1 << 10, 64 << 10} {
				want := map[string]invocation.Record{}
				for name, next := range map[string]func(invocation.Record) invocation.Record{
					"f": func(rec invocation.Record) invocation.Record { return rec.Failed(failure) },
					"a": func(rec invocation.Record) invocation.Record {
						return ready(t, rec, text(70<<10), text(20), evidence.Found)
					},
					"b": func(rec invocation.Record) invocation.Record {
						return ready(t, rec, text(9), text(200<<10), evidence.None)
					},
				} {
					rec := s.settle(next(s.longest(r, name)))
					s.plantLater(rec, later)
					want[rec.ToolCallID] = rec
				}
				begun := s.longest(r, "p")
				s.plantLater(begun, later)
				want[begun.ToolCallID] = begun
				s.readsAll(r.ID, want)
			}
		}},
	{Name: "Settle/TakesOverWhatALaterVersionBegan",
		Promises: []string{"Invocations.Load#6"},
		Rule:     "A PROJECTING record with a head member that this version does not know is settled like any other.",
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			for _, later := range []int{1 << 10, 64 << 10} {
				rec := s.longest(r, "c")
				s.plantLater(rec, later)
				got := s.settle(s.answered(rec))
				require.Equal(t, invocation.Ready, got.Status)
				require.Equal(t, encoded(got), s.stored(rec.Key()))

				lost := s.beginLeased(r, fresh(), s.Unit)
				s.plantLater(lost, later)
				s.Advance(t, s.Unit)
				require.Equal(t, fault.ExecutionLost, s.record("r1", lost.ToolCallID).ErrorCode)
			}
		}},
}

// longest begins a call whose ids and tool name are as long as they may be.
func (s stage) longest(r run.Run, name string) invocation.Record {
	s.Helper()
	id := name + fresh()
	rec := call(r, id+strings.Repeat("<", invocation.MaxToolCallID-len(id)))
	rec.ToolName = strings.Repeat("t", tool.MaxName)
	begun, err := s.Store.Begin(s.Context(), rec, r.Incarnation, long)
	require.NoError(s, err)
	return begun.Record
}

// plantLater gives the stored record a head member of a later version, of n bytes.
func (s stage) plantLater(rec invocation.Record, n int) {
	s.Helper()
	before, after, ok := strings.Cut(s.stored(rec.Key()), `,"sizes":`)
	require.True(s, ok)
	s.Plant(s, rec.Key(), []byte(before+`,"later":`+text(n)+`,"sizes":`+after))
}

// readsAll requires each view to show these records, one by one and all at once.
func (s stage) readsAll(id run.ID, want map[string]invocation.Record) {
	s.Helper()
	var ids []string
	for toolCallID := range want {
		ids = append(ids, toolCallID)
	}
	for _, view := range []ports.View{ports.Whole, ports.Head, ports.Answer} {
		found, err := s.Other.Load(s.Context(), id, view, ids...)
		require.NoError(s, err)
		require.Len(s, found, len(want))
		for toolCallID, rec := range want {
			if view != ports.Whole {
				rec.Request, rec.RawResponse = nil, nil
			}
			if view == ports.Head {
				rec.AgentResult = nil
			}
			require.Nil(s, found[toolCallID].Fault, "view %d of %.8s", view, toolCallID)
			require.Equal(s, rec, found[toolCallID].Record)
		}
	}
}

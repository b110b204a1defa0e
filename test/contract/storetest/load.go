package storetest

import (
	"bytes"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

var loadCases = []storeCase{
	{Name: "Load/AbsentIDsAreAbsent", Scenarios: []string{"S17"},
		Rule:     "Ids without a record, and those of another run, are absent from the answer; that is not an error.",
		Promises: []string{"Invocations.Load#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			s.begin(s.open("r1"), "call_1")
			s.begin(s.open("r2"), "call_2")
			found, err := s.Store.Load(t.Context(), "r1", ports.Whole, "call_1", "call_2", "CALL_1", "nope")
			require.NoError(t, err)
			require.Len(t, found, 1)
			require.Contains(t, found, "call_1")
			for _, ids := range [][]string{{}, {"call_1"}} {
				found, err = s.Store.Load(t.Context(), "ghost", ports.Head, ids...)
				require.NoError(t, err)
				require.Empty(t, found)
			}
		}},
	{Name: "Load/ManyAtOnce", Scenarios: []string{"S17"},
		Rule:     "One Load answers any number of ids, each with its own record and status, repeated ids as well.",
		Promises: []string{"Invocations.Load#1"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			var ids []string
			want := map[string]invocation.Record{}
			for i := range 60 {
				rec := s.begin(r, fresh())
				switch i % 3 {
				case 1:
					rec = s.settle(s.answered(rec))
				case 2:
					rec = s.settle(failed(rec, raw))
				}
				ids = append(ids, rec.ToolCallID, rec.ToolCallID)
				want[rec.ToolCallID] = rec
			}
			for _, view := range []ports.View{ports.Whole, ports.Head} {
				found, err := s.Other.Load(t.Context(), "r1", view, ids...)
				require.NoError(t, err)
				require.Len(t, found, len(want))
				for id, rec := range want {
					require.Nil(t, found[id].Fault)
					require.Equal(t, rec.Status, found[id].Record.Status)
					require.Equal(t, rec.Owner, found[id].Record.Owner)
				}
			}
		}},
	{Name: "Load/HeadLeavesBodiesOut",
		Rule:     "With view Head the record comes without bodies and with their sizes, whatever they hold.",
		Promises: []string{"Invocations.Load#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			mark := `"},"request":"` // what comes before a request, inside one
			begun := s.begin(r, "call_1")
			large := s.settle(ready(t, s.begin(r, "call_2"), text(300<<10), text(40<<10), evidence.None))
			wordy := s.settle(begunFailed(begun, mark))
			found, err := s.Store.Load(t.Context(), "r1", ports.Head, "call_1", "call_2")
			require.NoError(t, err)
			for id, want := range map[string]invocation.Record{"call_1": wordy, "call_2": large} {
				require.Nil(t, found[id].Fault)
				want.Request, want.RawResponse, want.AgentResult = nil, nil, nil
				require.Equal(t, want, found[id].Record)
			}
		}},
	{Name: "Load/AnswerHoldsTheAgentResultOnly",
		Rule: "With view Answer the record comes with its agent result, of any length, and without request and raw " +
			"response.",
		Promises: []string{"Invocations.Load#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			most := int(limits.Default().AgentResult)
			want := map[string]invocation.Record{
				"small":  s.settle(ready(t, s.begin(r, "small"), text(10), text(20), evidence.Found)),
				"edge":   s.settle(ready(t, s.begin(r, "edge"), text(70<<10), text(most), evidence.None)),
				"large":  s.settle(ready(t, s.begin(r, "large"), text(70<<10), text(4*most), evidence.Found)),
				"failed": s.settle(begunFailed(s.begin(r, "failed"), "x")),
			}
			want["begun"] = s.begin(r, "begun")
			found, err := s.Store.Load(t.Context(), "r1", ports.Answer, "small", "edge", "large", "failed", "begun",
				"absent")
			require.NoError(t, err)
			require.Len(t, found, len(want))
			for id, rec := range want {
				require.Nil(t, found[id].Fault, id)
				rec.Request, rec.RawResponse = nil, nil
				require.Equal(t, rec, found[id].Record, id)
			}
		}},
	{Name: "Load/HandsOutCopies", Scenarios: []string{"S15"},
		Rule:     "Callers may change the bytes that they were handed.",
		Promises: []string{"Store#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			rec := s.begin(s.open("r1"), "call_1")
			s.settle(s.answered(rec))
			before := s.stored(rec.Key())
			got, err := s.Store.Load(t.Context(), "r1", ports.Whole, "call_1")
			require.NoError(t, err)
			handed := got["call_1"].Record
			for _, b := range [][]byte{handed.Request, handed.RawResponse, handed.AgentResult} {
				copy(b, bytes.Repeat([]byte("!"), len(b)))
			}
			require.Equal(t, before, s.stored(rec.Key()))
			again, err := s.Store.Load(t.Context(), "r1", ports.Whole, "call_1")
			require.NoError(t, err)
			require.Equal(t, before, encoded(again["call_1"].Record))
		}},
	{Name: "Load/CorruptIsAFaultOfItsIDAlone", Scenarios: []string{"S23"},
		Rule: "A value that is not a record of its key is INTERNAL for that id alone; the others are answered and the " +
			"value stays.",
		Promises: []string{"Invocations.Load#5"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			good := s.settle(s.answered(s.begin(r, "good")))
			for name, spoil := range corruptions {
				rec := s.settle(s.answered(s.begin(r, name)))
				bad := spoil(s.stored(rec.Key()), s.stored(good.Key()))
				s.Plant(t, rec.Key(), bad)
				for _, view := range []ports.View{ports.Whole, ports.Head} {
					found, err := s.Store.Load(t.Context(), "r1", view, name, "good")
					require.NoError(t, err)
					require.Equal(t, good.Status, found["good"].Record.Status, name)
					require.Nil(t, found["good"].Fault)
					if view == ports.Head && name == "cut in a body" {
						continue // a head cannot tell
					}
					require.Contains(t, found, name)
					require.NotNil(t, found[name].Fault, name)
					refused(t, found[name].Fault, fault.Internal)
					require.Empty(t, found[name].Record)
				}
				require.Equal(t, string(bad), s.stored(rec.Key()))
			}
		}},
	{Name: "Settle/CorruptIsNotOverwritten", Scenarios: []string{"S23"},
		Rule: "A settlement is INTERNAL when what is stored is not a record of its key; the value stays, and its id " +
			"stays a duplicate.",
		Promises: []string{"Invocations.Settle#6", "Invocations.Load#5"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			good := s.settle(s.answered(s.begin(r, "good")))
			for name, spoil := range corruptions {
				rec := s.begin(r, name)
				own := s.stored(rec.Key())
				bad := spoil(own, s.stored(good.Key()))
				if before, _, _ := strings.Cut(own, `"digest"`); bytes.HasPrefix(bad, []byte(before)) {
					continue // status and owner may be all that a settlement reads
				}
				s.Plant(t, rec.Key(), bad)
				stands := s.find("r1")
				for _, next := range []invocation.Record{s.answered(rec), failed(rec, "")} {
					_, err := s.Store.Settle(t.Context(), next)
					refused(t, err, fault.Internal)
				}
				require.Equal(t, string(bad), s.stored(rec.Key()), name)
				alike(t, stands, s.find("r1"))
				refused(t, s.tryBegin(r, call(r, name)), fault.DuplicateToolCall)
				refused(t, s.tryBegin(r, rec), fault.DuplicateToolCall)
			}
		}},
}

func begunFailed(rec invocation.Record, detail string) invocation.Record {
	return rec.Failed(fault.Because(fault.QueryRejected, "UNKNOWN_COLUMN", strings.Repeat(detail, 20)))
}

// corruptions make a value that is not a record of its key, of the one that is stored or of another
// record's.
var corruptions = map[string]func(own, other string) []byte{
	"empty":            func(_, _ string) []byte { return []byte{} },
	"garbage":          func(_, _ string) []byte { return []byte("garbage \x00\xff") },
	"json":             func(_, _ string) []byte { return []byte(`{"status":"READY"}`) },
	"null":             func(_, _ string) []byte { return []byte(`null`) },
	"another's record": func(_, other string) []byte { return []byte(other) },
	"cut in the head":  func(own, _ string) []byte { return []byte(own[:strings.Index(own, `"schema"`)]) },
	"cut in a body":    func(own, _ string) []byte { return []byte(own[:len(own)-3]) },
	"another schema": func(own, _ string) []byte {
		return []byte(strings.Replace(own, `"schema":1`, `"schema":9`, 1))
	},
	"another owner": func(own, _ string) []byte {
		return []byte(strings.Replace(own, `"owner":"`, `"owner":"!`, 1))
	},
	"another status": func(own, _ string) []byte {
		return []byte(strings.NewReplacer(`"READY",     `, `"PROJECTING",`, `"PROJECTING",`,
			`"READY",     `).Replace(own))
	},
	"lower case": func(own, _ string) []byte { return []byte(strings.ToLower(own)) },
}

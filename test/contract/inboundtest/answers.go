package inboundtest

import (
	"context"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

var answers = []kit.Case[Subject]{
	{Name: "Answer/IsEvidence", Scenarios: []string{"S11", "S41"},
		Rule: "A call that finds something is READY with EVIDENCE_FOUND, and the agent receives the agent result only.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			out := s.ask("call_1", `{"data_source":"s1","answer":[{"id":1}]}`)
			require.Equal(t, invocation.Ready, out.Status, out.Said)
			require.Equal(t, evidence.Found, out.EvidenceStatus)
			require.Equal(t, `{"items":[{"id":1}],"truncated":false}`, string(out.AgentResult))
			r := s.record("call_1")
			require.Equal(t, `[{"id":1}]`, string(r.RawResponse))
			for _, word := range []string{"raw_response", r.Owner, r.Digest, "lease"} {
				require.NotContains(t, out.Said, word, "the record is not the agent's")
			}
		}},
	{Name: "Answer/PassesBytesAsTheyAre", Scenarios: []string{"S15"},
		Rule: "The agent result reaches the agent byte for byte: no number is rounded, nothing is escaped or " +
			"re-encoded.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			const value = `[12345678901234567890,-0.0,1e3,1.10,"<b>&'é\u00e9\ud83d\ude00",{"b" : 1,"a":[ ]},` +
				`"12345678901234567890"]`
			out := s.ask("call_1", `{"answer":`+value+`}`)
			require.Equal(t, `{"items":`+value+`,"truncated":false}`, string(out.AgentResult))
			require.Equal(t, string(s.record("call_1").AgentResult), string(out.AgentResult))
		}},
	{Name: "Answer/RecordsTheRequestAsItIs", Scenarios: []string{"S10", "S15"},
		Rule: "The request is recorded byte for byte as the agent sent it, with its numbers, escapes, order and blanks.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			const request = "{ \"answer\" :\n\t[12345678901234567890, 1.10, \"\\u00e9é<&>\"] ,\"do\":\"answer\" }"
			out := s.ask("call_1", request)
			require.Equal(t, invocation.Ready, out.Status, out.Said)
			require.Equal(t, request, string(s.record("call_1").Request))
		}},
	{Name: "Answer/KeepsTwentyDigits", Scenarios: []string{"S15"},
		Rule: "An integer of twenty digits survives request, record and result.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			out := s.ask("call_1", `{"answer":[98765432109876543210]}`)
			require.Contains(t, string(out.AgentResult), "98765432109876543210")
			require.Contains(t, string(s.record("call_1").Request), "98765432109876543210")
			require.Equal(t, "[98765432109876543210]", string(s.record("call_1").RawResponse))
		}},
	{Name: "Answer/NothingFoundIsNoEvidence", Scenarios: []string{"S12", "S39"},
		Rule: "A call that finds nothing is READY with NO_EVIDENCE and an empty result.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			out := s.ask("call_1", `{"answer":[]}`)
			require.Equal(t, invocation.Ready, out.Status, out.Said)
			require.Equal(t, evidence.None, out.EvidenceStatus)
			require.Equal(t, `{"items":[],"truncated":false}`, string(out.AgentResult))
		}},
	{Name: "Duplicate/IsRefusedAndFree", Scenarios: []string{"S07"},
		Rule: "A second call under the same tool_call_id is refused with the first call's status, is not executed, and " +
			"spends nothing.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{MaxCalls: only(2)})
			s.ask("call_1", `{"answer":[1]}`)
			first := s.record("call_1")
			for range 3 {
				out := s.refused(fault.DuplicateToolCall, "call_1", `{"answer":[2]}`)
				require.Equal(t, "READY", out.Reason)
			}
			require.Equal(t, first, s.record("call_1"), "the first record is untouched")
			require.Equal(t, invocation.Ready, s.ask("call_2", `{"answer":[1]}`).Status, "the budget is still there")
			require.Zero(t, s.Find(t, "r1").Usage.Refusals, "a duplicate is not counted as a refusal")
		}},
	{Name: "Duplicate/OfARunningCall", Scenarios: []string{"S07"},
		Rule: "A duplicate of a call that is still executing says PROJECTING and leaves it alone.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			first := s.later("call_1", `{"do":"hold","answer":[1]}`)
			s.running(1)
			require.Equal(t, "PROJECTING", s.refused(fault.DuplicateToolCall, "call_1", `{"answer":[2]}`).Reason)
			s.Release()
			require.Equal(t, `{"items":[1],"truncated":false}`, string(s.wait(first).AgentResult))
		}},
	{Name: "Duplicate/OneOfManyRuns", Scenarios: []string{"S07"},
		Rule: "Of many concurrent calls under one tool_call_id exactly one is executed.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			codes := s.crowd(32, func(int) string { return "call_1" })
			require.Equal(t, map[fault.Code]int{"": 1, fault.DuplicateToolCall: 31}, codes)
			require.Equal(t, 1, s.Executions())
		}},
	{Name: "ID/UnsafeIsRefused", Scenarios: []string{"S01"},
		Rule: "A blank or unsafe tool_call_id is refused, never trimmed or replaced, and not repeated.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			unsafe := []string{
				"", " ", ".", "..", " call_1", "call_1 ", "call 1", "a\"b", "a'b", `a\b`, "a\x00b", "a\nb", "a\x7f",
				"é",
				"call_1\u200b", strings.Repeat("x", 1025),
			}
			for _, id := range unsafe {
				out := s.refused(fault.ToolCallIDInvalid, id, `{"answer":[1]}`)
				if len(id) > 3 {
					require.NotContains(t, out.Said, id)
				}
			}
			require.Zero(t, s.Executions())
		}},
	{Name: "ID/SafeIsKept", Scenarios: []string{"S01", "S10"},
		Rule: "Every safe tool_call_id is kept byte for byte, whatever it means to a path, a query or a header.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			safe := []string{
				"call_0", "toolu_01A", "functions.query:0", "a/b/../c", "a//b", "%2F", "%", "a%00b", "a+b", "a?b=c&d#e",
				"...",
				"{id}", "*", "a;b", "<b>&", "~", "!", "$where", strings.Repeat("A+/=", 256),
			}
			for _, id := range safe {
				out := s.ask(id, `{"answer":[1]}`)
				require.Equal(t, invocation.Ready, out.Status, "%s: %s", id, out.Said)
				require.Equal(t, id, s.record(id).ToolCallID)
			}
		}},
}

// crowd makes n calls at once and returns how many had each code; "" is READY.
func (s scene) crowd(n int, id func(i int) string) map[fault.Code]int {
	s.Helper()
	var (
		mu    sync.Mutex
		codes = map[fault.Code]int{}
		all   sync.WaitGroup
		start = make(chan struct{})
	)
	for i := range n {
		all.Go(func() {
			<-start
			ctx, cancel := context.WithTimeout(s.Context(), patience)
			defer cancel()
			out, err := s.tries(ctx, s.asking(id(i), `{"answer":[1]}`))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				out.Code = "NO_ANSWER"
			}
			codes[out.Code]++
		})
	}
	close(start)
	all.Wait()
	return codes
}

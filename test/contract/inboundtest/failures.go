package inboundtest

import (
	"context"
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// canary is put where secrets would be; it must not come out anywhere.
const canary = "CANARY-7f3a-secret"

var failures = []kit.Case[Subject]{
	{Name: "Failure/OfTheProjector", Scenarios: []string{"S13"},
		Rule: "A projector that fails in any way is ERROR, PROJECTION_FAILED; the raw response stays in the record " +
			"only.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			for i, how := range []string{"panic", "error", "garbage", "status"} {
				id := fmt.Sprintf("call_%d", i)
				out := s.ask(id, `{"answer":{"project":"`+how+`","text":"`+canary+`"}}`)
				require.Equal(t, fault.ProjectionFailed, out.Code, how)
				require.NotContains(t, out.Said, canary, how)
				require.Contains(t, string(s.record(id).RawResponse), canary,
					"the raw response is kept for the harness")
			}
		}},
	{Name: "Failure/OfTheExecutor", Scenarios: []string{"S23"},
		Rule: "An executor's fault reaches the agent with its code and reason and is recorded.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			codes := []fault.Code{
				fault.ExecutionFailed, fault.DataSourceUnavailable, fault.DataSourceBusy, fault.ExecutionTimeout,
			}
			for i, code := range codes {
				id := fmt.Sprintf("call_%d", i)
				out := s.ask(id, `{"do":"fail","code":"`+string(code)+`","reason":"NOT_GROUPED"}`)
				require.Equal(t, code, out.Code)
				require.Equal(t, "NOT_GROUPED", out.Reason)
				require.Equal(t, code, s.record(id).ErrorCode)
			}
		}},
	{Name: "Failure/OfSize", Scenarios: []string{"S20", "S21"},
		Rule: "A raw response or an agent result over its limit is ERROR, RESULT_TOO_LARGE, and not shown.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			require.Equal(t, fault.ResultTooLarge, s.ask("call_1", `{"do":"flood","bytes":5000000}`).Code)
			require.Nil(t, s.record("call_1").RawResponse)
			require.Equal(t, fault.ResultTooLarge, s.ask("call_2", `{"answer":{"project":"oversize"}}`).Code)
			require.Nil(t, s.record("call_2").AgentResult)
		}},
	{Name: "Failure/OfAFullService",
		Rule: "A call that a full service has no slot for is RATE_LIMITED: its run is not told, one log line says so, " +
			"and a call of the same id is executed once there is room.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			var held []<-chan Outcome
			for i := range s.MaxConcurrent() {
				held = append(held, s.later(fmt.Sprintf("held_%d", i), `{"do":"hold","answer":[1]}`))
			}
			s.running(s.MaxConcurrent())
			s.refused(fault.RateLimited, "call_1", `{"answer":[1]}`)
			require.Zero(t, s.Find(t, "r1").Usage.Refusals)
			require.Equal(t, 1, strings.Count(s.Logs(), `"code":"RATE_LIMITED"`))
			s.Release()
			for _, done := range held {
				require.Equal(t, invocation.Ready, s.wait(done).Status)
			}
			require.Equal(t, invocation.Ready, s.ask("call_1", `{"answer":[1]}`).Status)
		}},
	{Name: "Failure/KeepsSecrets", Scenarios: []string{"S23"},
		Rule: "Whatever an executor, a projector or a Prepare says when it breaks, neither the agent nor the log at " +
			"info level learns a word of it.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			for i, request := range []string{
				`{"do":"leak","text":"` + canary + `"}`, `{"do":"panic","text":"` + canary + `"}`,
				`{"do":"garbage","text":"` + canary + `"}`,
				`{"prepare_panic":"` + canary + `"}`, `{"answer":{"project":"panic","text":"` + canary + `"}}`,
				`{"` + canary + `":1}`, `{"answer":"` + canary, `["` + canary + `"]`, canary,
			} {
				out := s.ask(fmt.Sprintf("call_%d", i), request)
				require.Equal(t, invocation.Error, out.Status)
				require.NotContains(t, out.Said, canary, request)
			}
			out := s.send(Call{Token: s.token, RunID: "r1", ToolCallID: "call", Tool: canary, Request: []byte(`{}`)})
			require.NotContains(t, out.Said, canary)
			require.NotContains(t, s.Logs(), canary)
			require.NotContains(t, s.Logs(), s.token)
		}},
	{Name: "Failure/CallerGoesAway", Scenarios: []string{"S25", "S36"},
		Rule: "When the caller goes away the execution is stopped and the record is still settled: ERROR, " +
			"EXECUTION_CANCELLED.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			ctx, leave := context.WithTimeout(t.Context(), patience)
			defer leave()
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				_, _ = s.tries(ctx, s.asking("call_1", `{"do":"block"}`))
			}()
			s.running(1)
			leave()
			<-gone
			r := s.settled("call_1")
			require.Equal(t, invocation.Error, r.Status)
			require.Equal(t, fault.ExecutionCancelled, r.ErrorCode)
			s.running(0)
		}},
	{Name: "Failure/StoreIsDownBefore", Scenarios: []string{"S24"},
		Rule: "Without a store nothing is executed: STORE_UNAVAILABLE.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			s.StoreDown(true)
			require.Equal(t, fault.StoreUnavailable, s.ask("call_1", `{"answer":[1]}`).Code)
			require.Equal(t, fault.StoreUnavailable, s.ask("call_1", hint).Code, "nor is anything explained")
			s.StoreDown(false)
			require.Zero(t, s.Executions())
			s.noRecord("call_1")
		}},
	{Name: "Failure/StoreIsDownAfter", Scenarios: []string{"S24"},
		Rule: "An answer that cannot be recorded is not shown: STORE_UNAVAILABLE.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			done := s.later("call_1", `{"do":"hold","answer":["`+canary+`"]}`)
			s.running(1)
			s.StoreDown(true)
			s.Release()
			out := s.wait(done)
			s.StoreDown(false)
			require.Equal(t, fault.StoreUnavailable, out.Code)
			require.Nil(t, out.AgentResult)
			require.NotContains(t, out.Said, canary)
		}},
}

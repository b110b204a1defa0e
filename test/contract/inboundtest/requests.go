package inboundtest

import (
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

var requests = []kit.Case[Subject]{
	{Name: "Request/RefusalTellsWhy", Scenarios: []string{"S33", "S42"},
		Rule: "A refused request carries code, reason and detail, so that the agent can fix it, and is in the run's " +
			"log.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			out := s.refused(fault.QueryRejected, "call_1", hint)
			require.Equal(t, "UNKNOWN_COLUMN", out.Reason)
			require.Equal(t, "customers.ssn is not available", out.Detail)
			s.noRecord("call_1")
			log := s.Find(t, "r1").Refusals
			require.Len(t, log, 1)
			require.Equal(t, "call_1", log[0].ToolCallID)
			require.Equal(t, fault.QueryRejected, log[0].Code)
			require.Equal(t, "UNKNOWN_COLUMN", log[0].Reason)
			require.Equal(t, invocation.Ready, s.ask("call_1", `{"answer":[1]}`).Status,
				"a refused call's id is still free")
		}},
	{Name: "Request/UnknownMembersAreRefused", Scenarios: []string{"S04", "S34"},
		Rule: "Nothing that an agent adds to its request authorises, redirects or configures anything: unknown members " +
			"are refused, not ignored.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			smuggled := []string{
				`"authorized":true`, `"read_only":true`, `"readOnly":true`, `"run_id":"r2"`, `"tool_call_id":"x"`,
				`"tool_name":"other"`, `"host":"db2"`, `"dsn":"root@tcp(db)/"`, `"password":"p"`, `"max_rows":1000000`,
				`"timeout":0`, `"sql_mode":""`, `"DATA_SOURCE ":"s1"`, `"__proto__":{}`,
			}
			for _, member := range smuggled {
				s.refused(fault.RequestInvalid, "call_1", `{"answer":[1],`+member+`}`)
			}
			s.noRecord("call_1")
			require.EqualValues(t, len(smuggled), s.Find(t, "r1").Usage.Refusals, "each counts")
		}},
	{Name: "Request/DuplicateMemberIsRefused", Scenarios: []string{"S03"},
		Rule: "A duplicate member name, at any depth, is refused: two readers could see two requests.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			for _, request := range []string{
				`{"answer":[1],"answer":[2]}`, `{"answer":[{"a":1,"a":2}]}`, `{"answer":[1],"\u0061nswer":[2]}`,
			} {
				s.refused(fault.RequestInvalid, "call_1", request)
			}
			s.noRecord("call_1")
		}},
	{Name: "Request/InvalidUTF8IsRefused", Scenarios: []string{"S03"},
		Rule: "Bytes that are not UTF-8 are refused, never replaced.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			for _, text := range []string{"\xff", "\xc3", "\xed\xa0\x80", `\ud800`} {
				s.refused(fault.RequestInvalid, "call_1", `{"answer":["`+text+`"]}`)
			}
			s.noRecord("call_1")
		}},
	{Name: "Request/MustBeOneObject", Scenarios: []string{"S03"},
		Rule: "A request that is not one JSON object is refused.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			for _, request := range []string{`[]`, `null`, `"{}"`, `1`, `true`, `[{"answer":[1]}]`} {
				s.refused(fault.RequestInvalid, "call_1", request)
			}
			s.noRecord("call_1")
		}},
	{Name: "Request/DeepNestingIsRefused", Scenarios: []string{"S03"},
		Rule: "A request that nests deeper than allowed is refused before a tool sees it.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			for _, depth := range []int{100, 5000, 20000} {
				s.refused(fault.RequestInvalid, "call_1",
					`{"answer":`+strings.Repeat("[", depth)+strings.Repeat("]", depth)+`}`)
			}
		}},
	{Name: "Request/LimitIsExact", Scenarios: []string{"S09", "S22"},
		Rule: "A request of exactly the limit passes; one byte more, or a thousand times more, is REQUEST_TOO_LARGE and " +
			"leaves no record.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			of := func(n int) string {
				return `{"answer":[],"text":"` + strings.Repeat("x", n-len(`{"answer":[],"text":""}`)) + `"}`
			}
			require.Equal(t, invocation.Ready, s.ask("call_1", of(s.RequestLimit())).Status)
			s.refused(fault.RequestTooLarge, "call_2", of(s.RequestLimit()+1))
			s.refused(fault.RequestTooLarge, "call_2", of(4<<20))
			s.noRecord("call_2")
			require.EqualValues(t, 2, s.Find(t, "r1").Usage.Refusals)
		}},
	{Name: "Tool/UnknownIsRefused", Scenarios: []string{"S04"},
		Rule: "A tool that does not exist is TOOL_UNKNOWN, whatever its name is made of.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			for _, name := range []string{"nosuch", "PROBE"} {
				c := s.asking("call_1", `{"answer":[1]}`)
				c.Tool = name
				s.refuses(fault.ToolUnknown, c)
			}
		}},
	{Name: "Tool/NotGrantedIsRefused", Scenarios: []string{"S04"},
		Rule: "A tool that was not granted to the run is not executed.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			c := s.asking("call_1", `{"answer":[1]}`)
			c.Tool = Other
			s.refuses(fault.ToolNotAuthorized, c)
			s.noRecord("call_1")
		}},
	{Name: "Tool/SourcesNotGrantedDoNotExist", Scenarios: []string{"S33"},
		Rule: "A data source that exists but was not granted answers exactly like one that does not exist.",
		Body: func(t kit.T, subject Subject) {
			s := begin(t, subject, RunRequest{})
			hidden := s.refused(fault.DataSourceUnknown, "call_1", `{"data_source":"s2","answer":[1]}`)
			absent := s.refused(fault.DataSourceUnknown, "call_1", `{"data_source":"s9","answer":[1]}`)
			require.Equal(t, absent.Reason, hidden.Reason)
			require.Equal(t, absent.Detail, hidden.Detail)
		}},
}

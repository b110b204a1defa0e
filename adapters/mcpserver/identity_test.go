package mcpserver

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// identityCase is one way to send, or not to send, a tool_call_id.
type identityCase struct {
	name            string
	meta, arguments string
	header          []string
	requestID       string
	argument        bool
	// id and rest are what comes out; reason is why nothing does.
	id, rest, reason string
}

var identityCases = []identityCase{
	{name: "Claude Code's key", meta: `{"claudecode/toolUseId":"toolu_1","progressToken":3}`, arguments: `{"a":1}`,
		id: "toolu_1", rest: `{"a":1}`},
	{name: "our own key", meta: `{"toolboundary/toolCallId":"c1"}`, id: "c1", rest: `{}`},
	{name: "header", header: []string{"c1"}, id: "c1", rest: `{}`},
	{name: "argument", argument: true, arguments: `{"a":12345678901234567890, "tool_call_id" : "c1"}`,
		id: "c1", rest: `{"a":12345678901234567890}`},
	{name: "JSON-RPC id", requestID: "7", id: "7", rest: `{}`},
	{name: "JSON-RPC id comes last", meta: `{"toolboundary/toolCallId":"c1"}`, requestID: "7", id: "c1", rest: `{}`},
	{name: "every source agrees", meta: `{"claudecode/toolUseId":"c1","toolboundary/toolCallId":"c1"}`,
		header: []string{"c1", "c1"}, argument: true, arguments: `{"tool_call_id":"c1"}`, id: "c1", rest: `{}`},
	{name: "escapes are spelling, not identity", meta: `{"toolboundary/toolCallId":"\u0063\u0031"}`,
		header: []string{"c1"}, id: "c1", rest: `{}`},
	{name: "argument is switched off", arguments: `{"tool_call_id":"c1"}`, header: []string{"c2"},
		id: "c2", rest: `{"tool_call_id":"c1"}`},
	{name: "id is kept byte for byte", meta: `{"toolboundary/toolCallId":" c1 "}`, id: " c1 ", rest: `{}`},

	{name: "nothing", reason: "MISSING"},
	{name: "only other keys", meta: `{"vscode.requestId":"x","openai/session":"y","threadId":"z"}`,
		reason: "MISSING"},
	{name: "other case of a key", meta: `{"ClaudeCode/ToolUseId":"x"}`, reason: "MISSING"},
	{name: "argument is switched off and alone", arguments: `{"tool_call_id":"c1"}`, reason: "MISSING"},
	{name: "meta keys disagree", meta: `{"claudecode/toolUseId":"c1","toolboundary/toolCallId":"c2"}`,
		reason: "SOURCES_DISAGREE"},
	{name: "meta and header disagree", meta: `{"claudecode/toolUseId":"c1"}`, header: []string{"c2"},
		reason: "SOURCES_DISAGREE"},
	{name: "headers disagree", header: []string{"c1", "c2"}, reason: "SOURCES_DISAGREE"},
	{name: "header and argument disagree", header: []string{"c1"}, argument: true, arguments: `{"tool_call_id":"c2"}`,
		reason: "SOURCES_DISAGREE"},
	{name: "case is identity", header: []string{"c1"}, meta: `{"toolboundary/toolCallId":"C1"}`,
		reason: "SOURCES_DISAGREE"},
	{name: "blank is a source too", header: []string{""}, meta: `{"toolboundary/toolCallId":"c1"}`,
		reason: "SOURCES_DISAGREE"},
	{name: "number", meta: `{"toolboundary/toolCallId":7}`, requestID: "7", reason: "NOT_A_STRING"},
	{name: "null", meta: `{"toolboundary/toolCallId":null}`, requestID: "7", reason: "NOT_A_STRING"},
	{name: "argument is a number", argument: true, arguments: `{"tool_call_id":7}`, requestID: "7",
		reason: "NOT_A_STRING"},
	{name: "argument twice", argument: true, arguments: `{"tool_call_id":"c1","tool_call_id":"c1"}`, requestID: "7",
		reason: "TWICE"},
}

func TestS01_TheIDIsTheClientsOwn(t *testing.T) {
	for _, c := range identityCases {
		t.Run(c.name, func(t *testing.T) {
			s := &Server{opt: Options{Argument: c.argument}.withDefaults()}
			call := message{meta: json.RawMessage(c.meta)}
			if c.arguments != "" {
				call.arguments = json.RawMessage(c.arguments)
			}
			id, rest, err := s.identify(call, http.Header{"Tool-Call-Id": c.header}, c.requestID)
			if c.reason != "" {
				require.Error(t, err)
				f := fault.Of(err)
				require.Equal(t, []string{"TOOL_CALL_ID_INVALID", c.reason}, []string{string(f.Code), f.Reason})
				require.Empty(t, id)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.id, id)
			require.Equal(t, c.rest, string(rest))
		})
	}
}

func TestS01_BlankComesThroughToBeRefused(t *testing.T) {
	s := &Server{opt: Options{}.withDefaults()}
	id, _, err := s.identify(message{}, http.Header{"Tool-Call-Id": {""}}, "7")
	require.NoError(t, err)
	require.Empty(t, id, "a blank id is not replaced by the next source")
}

func TestTheFourWaysAreNamed(t *testing.T) {
	s := &Server{opt: Options{MetaKeys: []string{"acme/id"}, Header: "X-Call", Argument: true}.withDefaults()}
	_, _, err := s.identify(message{}, nil, "")
	require.Error(t, err)
	detail := fault.Of(err).Detail
	for _, way := range []string{`params._meta["acme/id"]`, "header X-Call", "argument tool_call_id", "JSON-RPC id"} {
		require.Contains(t, detail, way)
	}
}

func TestTraceID(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	const meta = `{"traceparent":"00-` + id + `-00f067aa0ba902b7-01"}`
	for _, c := range []struct{ name, meta, header, want string }{
		{"meta", meta, "", id},
		{"header", ``, "00-" + id + "-00f067aa0ba902b7-01", id},
		{"meta before header", meta, "00-11111111111111111111111111111111-00f067aa0ba902b7-01", id},
		{"later version", `{"traceparent":"01-` + id + `-00f067aa0ba902b7-01-more"}`, "", id},
		{"none", `{}`, "", ""},
		{"zero", `{"traceparent":"00-00000000000000000000000000000000-00f067aa0ba902b7-01"}`, "", ""},
		{"version ff", `{"traceparent":"ff-` + id + `-00f067aa0ba902b7-01"}`, "", ""},
		{"not hexadecimal", `{"traceparent":"00-` + "X" + id[1:] + `-00f067aa0ba902b7-01"}`, "", ""},
		{"line break", `{"traceparent":"x\n00-` + id + `-00f067aa0ba902b7-01"}`, "", ""},
		{"not a string", `{"traceparent":7}`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := traceID(message{meta: json.RawMessage(c.meta)}, http.Header{"Traceparent": {c.header}})
			require.Equal(t, c.want, got)
		})
	}
}

package mcpserver_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/mcpserver"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/test/rig"
)

func TestS11_S41_AResultIsStructuredAndText(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	r := s.call("call_1", `{"answer":[1,12345678901234567890,"<é>"]}`)
	require.False(t, r.Result.IsError)
	got := r.Result.StructuredContent
	require.Equal(t, body{RunID: "r1", ToolCallID: "call_1", Status: "READY", EvidenceStatus: "EVIDENCE_FOUND",
		AgentResult: got.AgentResult}, got)
	require.Contains(t, string(got.AgentResult), "12345678901234567890", "no digit is lost")
	require.Len(t, r.Result.Content, 1)
	require.Contains(t, r.Result.Content[0].Text, `"agent_result":{"items":[1,12345678901234567890,"<é>"],"truncated":false}}`)
	var fromText body
	require.NoError(t, json.Unmarshal([]byte(r.Result.Content[0].Text), &fromText))
	require.JSONEq(t, string(got.AgentResult), string(fromText.AgentResult))
}

func TestS15_ArgumentsAreStoredByteForByte(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	const arguments = `{ "answer" : [ 12345678901234567890, 1.00, "\u00e9" ]  }`
	s.call("call_1", arguments)
	require.Equal(t, arguments, string(s.record("r1", "call_1").Request))
}

func TestS03_DuplicateMembersInArgumentsAreRefused(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	r := s.call("call_1", `{"answer":[1],"answer":[2]}`)
	require.True(t, r.Result.IsError)
	require.Equal(t, "REQUEST_INVALID", r.code())
	require.Zero(t, s.Probe.Executions())
	require.EqualValues(t, 1, s.run("r1").Usage.Refusals)
}

func TestS01_TheArgumentIsTakenOutBeforeTheRequestIsStored(t *testing.T) {
	s := serve(t, mcpserver.Options{Argument: true})
	_, list := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	for _, tool := range list.Result.Tools {
		require.Contains(t, string(tool.InputSchema), `"tool_call_id":{"type":"string"`, tool.Name)
	}
	_, r := s.post(callOf("probe", `{"answer": [12345678901234567890] , "tool_call_id":"call_1"}`, ``))
	require.Empty(t, r.code(), r.text)
	require.Equal(t, `{"answer": [12345678901234567890]}`, string(s.record("r1", "call_1").Request))
}

func TestS01_NoIDIsRefusedAndSaysHowToSendOne(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	_, r := s.post(callOf("probe", `{"answer":[1]}`, ``))
	require.True(t, r.Result.IsError)
	require.Equal(t, "TOOL_CALL_ID_INVALID", r.code())
	for _, way := range []string{mcpserver.ClaudeCodeKey, mcpserver.OwnKey, "Tool-Call-Id", "tool_call_id", "stdio"} {
		require.Contains(t, r.Result.StructuredContent.Error.Detail, way)
	}
	require.Zero(t, s.Probe.Prepared())
	require.Empty(t, s.run("r1").ToolCallIDs, "nothing was made up")
	require.EqualValues(t, 1, s.run("r1").Usage.Refusals)
}

func TestS01_AnUnsafeIDIsRefusedAndNotRepeated(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	_, r := s.post(callOf("probe", `{}`, `{"toolboundary/toolCallId":"a <b> \"c\""}`))
	require.Equal(t, "TOOL_CALL_ID_INVALID", r.code())
	require.NotContains(t, r.text, "<b>")
}

func TestS07_ADuplicateIsRefused(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	s.call("call_1", `{"answer":[1]}`)
	r := s.call("call_1", `{"answer":[2]}`)
	require.Equal(t, "DUPLICATE_TOOL_CALL", r.code())
	require.Equal(t, 1, s.Probe.Executions())
}

func TestUnknownToolsAreProtocolErrors(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	_, r := s.post(callOf("drop_tables", `{}`, ``), header("Tool-Call-Id", "call_1"))
	require.Nil(t, r.Result)
	require.EqualValues(t, -32602, r.Error.Code)
	require.Equal(t, "TOOL_UNKNOWN", r.code())
	require.NotContains(t, r.text, "drop_tables", "nothing is echoed")
	require.EqualValues(t, 1, s.run("r1").Usage.Refusals)

	_, r = s.post(callOf("drop_tables", `{}`, ``))
	require.EqualValues(t, -32602, r.Error.Code, "whatever else is wrong with the call")
}

func TestMalformedMessagesAreProtocolErrorsAndCount(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	for i, c := range []struct {
		text string
		code int64
		id   string
	}{
		{`{"jsonrpc":`, -32700, `null`},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, `null`},
		{`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":7}}`, -32602, `9`},
	} {
		res, r := s.post(c.text)
		require.Equal(t, http.StatusBadRequest, res.StatusCode)
		require.Equal(t, c.code, r.Error.Code)
		require.Equal(t, c.id, string(r.ID))
		require.Equal(t, "REQUEST_INVALID", r.code())
		require.EqualValues(t, i+1, s.run("r1").Usage.Refusals)
	}
	_, err := s.End(t.Context(), rig.Harness, "r1", run.Cancelled)
	require.NoError(t, err)
	_, r := s.post(`{"jsonrpc":`)
	require.Equal(t, "RUN_INACTIVE", r.code())
	require.NotContains(t, r.text, "valid JSON", "S06: an ended run is told nothing else")
}

func TestUnknownMethods(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	res, r := s.post(`{"jsonrpc":"2.0","id":"x","method":"tools/explode"}`)
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.EqualValues(t, -32601, r.Error.Code)
	require.Equal(t, `"x"`, string(r.ID))
	res, r = s.post(`{"jsonrpc":"2.0","id":"x","method":"tools/explode"}`, header("Mcp-Protocol-Version", "2026-07-28"))
	require.Equal(t, http.StatusNotFound, res.StatusCode)
	require.EqualValues(t, -32601, r.Error.Code)
	require.Zero(t, s.run("r1").Usage.Refusals, "clients probe")
}

func TestS04_ListAndCallFollowTheGrants(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	token := s.open("r2", run.Grants{Tools: []string{"probe"}, DataSources: []string{"s1"}})
	mine := header("Authorization", "Bearer "+token)

	_, all := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	require.Len(t, all.Result.Tools, 2)
	_, list := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, mine)
	require.Len(t, list.Result.Tools, 1)
	only := list.Result.Tools[0]
	require.Equal(t, "probe", only.Name)
	require.Equal(t, "PROBE", only.Title)
	require.Equal(t, "Does what its request says. Data sources: s1.", only.Description)
	require.True(t, only.Annotations["readOnlyHint"])
	require.Contains(t, only.Annotations, "openWorldHint")
	require.False(t, only.Annotations["openWorldHint"])
	require.Equal(t, "private", list.Result.CacheScope)
	require.NotContains(t, list.text, "s2")
	_, again := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, mine)
	require.Equal(t, list.text, again.text, "the list is deterministic")

	_, r := s.post(callOf("other", `{}`, ``), mine, header("Tool-Call-Id", "call_1"))
	require.True(t, r.Result.IsError)
	require.Equal(t, "TOOL_NOT_AUTHORIZED", r.code())
	r = s.call("call_2", `{"data_source":"s2"}`, mine)
	require.Equal(t, "DATA_SOURCE_UNKNOWN", r.code())

	_, r = s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`)
	require.EqualValues(t, -32602, r.Error.Code, "no cursor was ever handed out")
}

func TestS02_ATokenCallsInItsOwnRunWhateverTheMessageSays(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	token := s.open("r2", s.Catalogue.All())
	_, r := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","run_id":"r1","params":{"name":"probe","run_id":"r1","authorized":true,"arguments":{"answer":[1]},"_meta":{"run_id":"r1"}}}`,
		header("Authorization", "Bearer "+token), header("Tool-Call-Id", "call_1"), header("Run-Id", "r1"), header("Mcp-Session-Id", "r1"))
	require.Equal(t, "r2", r.Result.StructuredContent.RunID)
	require.Equal(t, invocation.Ready, s.record("r2", "call_1").Status)
	require.Empty(t, s.run("r1").ToolCallIDs)

	for _, named := range []string{`"r1"`, `""`, `7`, `"a b"`} {
		_, r = s.post(callOf("probe", `{"answer":[1]}`, `{"toolboundary/runId":`+named+`}`),
			header("Authorization", "Bearer "+token), header("Tool-Call-Id", "call_9"))
		require.Equal(t, "RUN_MISMATCH", r.code(), "naming another run is refused, in the caller's own")
		require.NotContains(t, r.text, "a b")
	}
	require.EqualValues(t, 4, s.run("r2").Usage.Refusals)
	_, r = s.post(callOf("probe", `{"answer":[1]}`, `{"toolboundary/runId":"r2"}`), header("Authorization", "Bearer "+token), header("Tool-Call-Id", "call_9"))
	require.Empty(t, r.code(), "naming the own one is not")

	r = s.call("call_2", `{"answer":[1],"run_id":"r1"}`)
	require.Equal(t, "REQUEST_INVALID", r.code(), "and no argument is anything but the tool's")
}

func TestUnauthenticated(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	for _, c := range []struct {
		name, value, challenge string
		status                 int
	}{
		{"none", "", `Bearer realm="toolboundary"`, 401},
		{"another scheme", "Basic " + s.token, `Bearer realm="toolboundary"`, 401},
		{"not a token", "Bearer nonsense", `Bearer realm="toolboundary", error="invalid_token"`, 401},
		{"changed", "Bearer " + s.token[:len(s.token)-2] + "AA", `Bearer realm="toolboundary", error="invalid_token"`, 401},
		{"harness key", "Bearer " + rig.HarnessKey, `Bearer realm="toolboundary", error="insufficient_scope"`, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
				res, r := s.post(callOf("probe", `{}`, ``), header("Authorization", c.value), header("Tool-Call-Id", "call_1"),
					func(r *http.Request) { r.Method = method })
				require.Equal(t, c.status, res.StatusCode)
				require.Equal(t, c.challenge, res.Header.Get("WWW-Authenticate"))
				require.Equal(t, map[int]string{401: "UNAUTHENTICATED", 403: "FORBIDDEN"}[c.status], r.code())
			}
		})
	}
	require.Zero(t, s.Probe.Prepared())
	res, _ := s.post(callOf("probe", `{}`, ``), header("Authorization", "bearer "+s.token), header("Tool-Call-Id", "call_1"))
	require.Equal(t, 200, res.StatusCode, "the scheme's case does not matter")
}

func TestForeignPagesAreKeptOut(t *testing.T) {
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	for _, c := range []struct {
		name   string
		opt    mcpserver.Options
		edit   []func(*http.Request)
		status int
	}{
		{"no browser", mcpserver.Options{}, nil, 200},
		{"foreign origin", mcpserver.Options{}, []func(*http.Request){header("Origin", "https://evil.example")}, 403},
		{"null origin", mcpserver.Options{}, []func(*http.Request){header("Origin", "null")}, 403},
		{"cross-site fetch", mcpserver.Options{}, []func(*http.Request){header("Sec-Fetch-Site", "cross-site")}, 403},
		{"rebound name", mcpserver.Options{}, []func(*http.Request){host("evil.example")}, 403},
		{"rebound name with its origin", mcpserver.Options{}, []func(*http.Request){host("evil.example"), header("Origin", "http://evil.example")}, 403},
		{"loopback name", mcpserver.Options{}, []func(*http.Request){host("localhost:1234"), header("Origin", "http://localhost:1234")}, 200},
		{"IPv6 loopback", mcpserver.Options{}, []func(*http.Request){host("[::1]:1234")}, 200},
		{"allowed origin", mcpserver.Options{AllowedOrigins: []string{"https://chat.example"}}, []func(*http.Request){header("Origin", "https://chat.example"), header("Sec-Fetch-Site", "cross-site")}, 200},
		{"allowed host", mcpserver.Options{AllowedHosts: []string{"tools.example"}}, []func(*http.Request){host("Tools.example:443")}, 200},
		{"host that is not allowed", mcpserver.Options{AllowedHosts: []string{"tools.example"}}, []func(*http.Request){host("127.0.0.1")}, 403},
		{"suffix of an allowed host", mcpserver.Options{AllowedHosts: []string{"tools.example"}}, []func(*http.Request){host("evil-tools.example")}, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, c.opt)
			res, r := s.post(callOf("probe", `{}`, ``), append(c.edit, header("Tool-Call-Id", "call_1"))...)
			require.Equal(t, c.status, res.StatusCode, r.text)
			require.Equal(t, c.status == 200, s.Probe.Executions() == 1)
			require.NotContains(t, r.text, "evil")
		})
	}
	_, err := mcpserver.New(serve(t, mcpserver.Options{}).Service, zap.NewNop(), mcpserver.Options{AllowedOrigins: []string{"chat.example"}})
	require.ErrorContains(t, err, "chat.example")
}

func TestS09_BodiesAreBounded(t *testing.T) {
	s := serve(t, mcpserver.Options{MaxMessage: 100 << 10})
	r := s.call("call_1", `{"answer":"`+strings.Repeat("x", 70<<10)+`"}`)
	require.True(t, r.Result.IsError, "over the request limit, within the message's: a refusal that the model reads")
	require.Equal(t, "REQUEST_TOO_LARGE", r.code())

	res, r := s.post(callOf("probe", `{"answer":"`+strings.Repeat("x", 200<<10)+`"}`, ``), header("Tool-Call-Id", "call_2"))
	require.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode)
	require.Equal(t, "REQUEST_TOO_LARGE", r.code())
	require.EqualValues(t, 2, s.run("r1").Usage.Refusals)
	require.Zero(t, s.Probe.Prepared())
}

func TestProtocolVersionHeader(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	res, _ := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, header("Mcp-Protocol-Version", "1999-01-01"))
	require.Equal(t, http.StatusBadRequest, res.StatusCode)
	for _, version := range []string{"2025-11-25", "2025-06-18", "2025-03-26"} {
		_, r := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, header("Mcp-Protocol-Version", version))
		require.Len(t, r.Result.Tools, 2, version)
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		res, _ := s.post(``, func(r *http.Request) { r.Method = method })
		require.Equal(t, http.StatusMethodNotAllowed, res.StatusCode)
	}
}

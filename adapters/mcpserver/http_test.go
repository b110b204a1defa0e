package mcpserver_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/mcpserver"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/test/rig"
)

func TestS11_S41_AResultIsStructuredAndText(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	r := s.call("call_1", `{"answer":[1,12345678901234567890,"<é>"]}`).answered(t)
	got := r.StructuredContent
	require.Equal(t, body{
		RunID: "r1", ToolCallID: "call_1", Status: "READY", EvidenceStatus: "EVIDENCE_FOUND",
		AgentResult: got.AgentResult,
	}, got)
	require.Contains(t, string(got.AgentResult), "12345678901234567890", "no digit is lost")
	require.Len(t, r.Content, 1)
	require.Contains(t, r.Content[0].Text, `"agent_result":{"items":[1,12345678901234567890,"<é>"],"truncated":false}}`)
	var fromText body
	require.NoError(t, json.Unmarshal([]byte(r.Content[0].Text), &fromText), r.Content[0].Text)
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
	s.call("call_1", `{"answer":[1],"answer":[2]}`).failed(t, fault.RequestInvalid)
	require.Zero(t, s.Probe.Executions())
	require.EqualValues(t, 1, s.run("r1").Usage.Refusals)
}

func TestS01_TheArgumentIsTakenOutBeforeTheRequestIsStored(t *testing.T) {
	s := serve(t, mcpserver.Options{Argument: true})
	_, list := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	tools := list.answered(t).Tools
	require.NotEmpty(t, tools, list.text)
	for _, tool := range tools {
		require.Contains(t, string(tool.InputSchema), `"tool_call_id":{"type":"string"`, tool.Name)
	}
	_, r := s.post(callOf("probe", `{"answer": [12345678901234567890] , "tool_call_id":"call_1"}`, ``))
	r.answered(t)
	require.Equal(t, `{"answer": [12345678901234567890]}`, string(s.record("r1", "call_1").Request))
}

func TestS01_NoIDIsRefusedAndSaysHowToSendOne(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	_, r := s.post(callOf("probe", `{"answer":[1]}`, ``))
	detail := r.failed(t, fault.ToolCallIDInvalid).Detail
	for _, way := range []string{mcpserver.ClaudeCodeKey, mcpserver.OwnKey, "Tool-Call-Id", "tool_call_id", "stdio"} {
		require.Contains(t, detail, way)
	}
	require.Zero(t, s.Probe.Prepared())
	require.Empty(t, s.run("r1").ToolCallIDs, "nothing was made up")
	require.EqualValues(t, 1, s.run("r1").Usage.Refusals)
}

func TestS01_AnUnsafeIDIsRefusedAndNotRepeated(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	_, r := s.post(callOf("probe", `{}`, `{"toolboundary/toolCallId":"a <b> \"c\""}`))
	r.failed(t, fault.ToolCallIDInvalid)
	require.NotContains(t, r.text, "<b>")
}

func TestS07_ADuplicateIsRefused(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	s.call("call_1", `{"answer":[1]}`).answered(t)
	s.call("call_1", `{"answer":[2]}`).failed(t, fault.DuplicateToolCall)
	require.Equal(t, 1, s.Probe.Executions())
}

func TestUnknownToolsAreProtocolErrors(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	_, r := s.post(callOf("drop_tables", `{}`, ``), header("Tool-Call-Id", "call_1"))
	require.Nil(t, r.Result, r.text)
	r.protocolError(t, -32602)
	require.Equal(t, "TOOL_UNKNOWN", r.code(), r.text)
	require.NotContains(t, r.text, "drop_tables", "nothing is echoed")
	require.EqualValues(t, 1, s.run("r1").Usage.Refusals)

	_, r = s.post(callOf("drop_tables", `{}`, ``))
	r.protocolError(t, -32602, "whatever else is wrong with the call")
}

func TestMalformedMessagesAreProtocolErrorsAndCount(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	for i, c := range []struct {
		name, text string
		number     int64
		id         string
	}{
		{"not JSON", `{"jsonrpc":`, -32700, `null`},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, `null`},
		{"not a call", `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":7}}`, -32602, `9`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := s.in(t)
			res, r := s.post(c.text)
			require.Equal(t, http.StatusBadRequest, res.StatusCode, r.text)
			r.protocolError(t, c.number)
			require.Equal(t, c.id, string(r.ID))
			require.Equal(t, "REQUEST_INVALID", r.code(), r.text)
			require.EqualValues(t, i+1, s.run("r1").Usage.Refusals, "each counts as a refusal")
		})
	}
	_, err := s.End(t.Context(), rig.Harness, "r1", run.Cancelled)
	require.NoError(t, err)
	_, r := s.post(`{"jsonrpc":`)
	require.Equal(t, "RUN_INACTIVE", r.code(), r.text)
	require.NotContains(t, r.text, "valid JSON", "S06: nothing else is said in an ended run")
}

func TestUnknownMethods(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	res, r := s.post(`{"jsonrpc":"2.0","id":"x","method":"tools/explode"}`)
	require.Equal(t, http.StatusOK, res.StatusCode, r.text)
	r.protocolError(t, -32601)
	require.Equal(t, `"x"`, string(r.ID))
	res, r = s.post(`{"jsonrpc":"2.0","id":"x","method":"tools/explode"}`,
		header("Mcp-Protocol-Version", "2026-07-28"))
	require.Equal(t, http.StatusNotFound, res.StatusCode, r.text)
	r.protocolError(t, -32601)
	require.Zero(t, s.run("r1").Usage.Refusals, "clients probe")
}

func TestS04_ListAndCallFollowTheGrants(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	token := s.open("r2", run.Grants{Tools: []string{"probe"}, DataSources: []string{"s1"}})
	mine := header("Authorization", "Bearer "+token)

	_, all := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	require.Len(t, all.answered(t).Tools, 2)
	_, list := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, mine)
	require.Len(t, list.answered(t).Tools, 1)
	only := list.answered(t).Tools[0]
	require.Equal(t, "probe", only.Name)
	require.Equal(t, "PROBE", only.Title)
	require.Equal(t, "Does what its request says. Data sources: s1.", only.Description)
	require.True(t, only.Annotations["readOnlyHint"])
	require.Contains(t, only.Annotations, "openWorldHint")
	require.False(t, only.Annotations["openWorldHint"])
	require.Equal(t, "private", list.answered(t).CacheScope)
	require.NotContains(t, list.text, "s2")
	_, again := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, mine)
	require.Equal(t, list.text, again.text, "the list is deterministic")

	_, r := s.post(callOf("other", `{}`, ``), mine, header("Tool-Call-Id", "call_1"))
	r.failed(t, fault.ToolNotAuthorized)
	s.call("call_2", `{"data_source":"s2"}`, mine).failed(t, fault.DataSourceUnknown)

	_, r = s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`)
	r.protocolError(t, -32602, "no cursor was ever handed out")
}

func TestS02_ATokenCallsInItsOwnRunWhateverTheMessageSays(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	token := header("Authorization", "Bearer "+s.open("r2", s.Catalogue.All()))
	_, r := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","run_id":"r1","params":{`+
		`"name":"probe","run_id":"r1","authorized":true,"arguments":{"answer":[1]},"_meta":{"run_id":"r1"}}}`,
		token, header("Tool-Call-Id", "call_1"), header("Run-Id", "r1"), header("Mcp-Session-Id", "r1"))
	require.Equal(t, "r2", r.answered(t).StructuredContent.RunID)
	require.Equal(t, invocation.Ready, s.record("r2", "call_1").Status)
	require.Empty(t, s.run("r1").ToolCallIDs)

	naming := func(s *served, run string) reply {
		_, r := s.post(callOf("probe", `{"answer":[1]}`, `{"toolboundary/runId":`+run+`}`),
			token, header("Tool-Call-Id", "call_9"))
		return r
	}
	for _, run := range []string{`"r1"`, `""`, `7`, `"a b"`} {
		t.Run("names "+run, func(t *testing.T) {
			r := naming(s.in(t), run)
			r.failed(t, fault.RunMismatch, "naming another run is refused, in the caller's own")
			require.NotContains(t, r.text, "a b")
		})
	}
	require.EqualValues(t, 4, s.run("r2").Usage.Refusals)
	naming(s, `"r2"`).answered(t) // naming the own one is not refused

	s.call("call_2", `{"answer":[1],"run_id":"r1"}`).failed(t, fault.RequestInvalid, "arguments are the tool's")
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
		{"changed", "Bearer " + s.token[:len(s.token)-2] + "AA", `Bearer realm="toolboundary", error="invalid_token"`,
			401},
		{"harness key", "Bearer " + rig.HarnessKey, `Bearer realm="toolboundary", error="insufficient_scope"`, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
				res, r := s.in(t).post(callOf("probe", `{}`, ``),
					header("Authorization", c.value), header("Tool-Call-Id", "call_1"),
					func(r *http.Request) { r.Method = method })
				require.Equal(t, c.status, res.StatusCode, "%s: %s", method, r.text)
				require.Equal(t, c.challenge, res.Header.Get("WWW-Authenticate"), method)
				require.Equal(t, map[int]string{401: "UNAUTHENTICATED", 403: "FORBIDDEN"}[c.status], r.code(), method)
			}
		})
	}
	require.Zero(t, s.Probe.Prepared())
	res, r := s.post(callOf("probe", `{}`, ``),
		header("Authorization", "bearer "+s.token), header("Tool-Call-Id", "call_1"))
	require.Equal(t, 200, res.StatusCode, "the scheme's case does not matter: %s", r.text)
}

func TestForeignPagesAreKeptOut(t *testing.T) {
	type edits []func(*http.Request)
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	origin := func(value string) func(*http.Request) { return header("Origin", value) }
	crossSite := header("Sec-Fetch-Site", "cross-site")
	anywhere := mcpserver.Options{}
	allowOrigin := mcpserver.Options{AllowedOrigins: []string{"https://chat.example"}}
	allowHost := mcpserver.Options{AllowedHosts: []string{"tools.example"}}
	for _, c := range []struct {
		name   string
		opt    mcpserver.Options
		edit   edits
		status int
	}{
		{"no browser", anywhere, nil, 200},
		{"foreign origin", anywhere, edits{origin("https://evil.example")}, 403},
		{"null origin", anywhere, edits{origin("null")}, 403},
		{"cross-site fetch", anywhere, edits{crossSite}, 403},
		{"rebound name", anywhere, edits{host("evil.example")}, 403},
		{"rebound name with its origin", anywhere, edits{host("evil.example"), origin("http://evil.example")}, 403},
		{"loopback name", anywhere, edits{host("localhost:1234"), origin("http://localhost:1234")}, 200},
		{"IPv6 loopback", anywhere, edits{host("[::1]:1234")}, 200},
		{"allowed origin", allowOrigin, edits{origin("https://chat.example"), crossSite}, 200},
		{"allowed host", allowHost, edits{host("Tools.example:443")}, 200},
		{"host that is not allowed", allowHost, edits{host("127.0.0.1")}, 403},
		{"suffix of an allowed host", allowHost, edits{host("evil-tools.example")}, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, c.opt)
			res, r := s.post(callOf("probe", `{}`, ``), append(c.edit, header("Tool-Call-Id", "call_1"))...)
			require.Equal(t, c.status, res.StatusCode, r.text)
			require.Equal(t, map[int]int{200: 1, 403: 0}[c.status], s.Probe.Executions())
			require.NotContains(t, r.text, "evil")
		})
	}
	_, err := mcpserver.New(serve(t, mcpserver.Options{}).Service, zap.NewNop(),
		mcpserver.Options{AllowedOrigins: []string{"chat.example"}})
	require.ErrorContains(t, err, "chat.example")
}

func TestS09_BodiesAreBounded(t *testing.T) {
	s := serve(t, mcpserver.Options{MaxMessage: 100 << 10})
	// Over the limit of a request, within that of a message: a refusal that the model reads.
	s.call("call_1", `{"answer":"`+strings.Repeat("x", 70<<10)+`"}`).failed(t, fault.RequestTooLarge)

	res, r := s.post(callOf("probe", `{"answer":"`+strings.Repeat("x", 200<<10)+`"}`, ``),
		header("Tool-Call-Id", "call_2"))
	require.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode, r.text)
	require.Equal(t, "REQUEST_TOO_LARGE", r.code(), r.text)
	require.EqualValues(t, 2, s.run("r1").Usage.Refusals)
	require.Zero(t, s.Probe.Prepared())
}

func TestProtocolVersionHeader(t *testing.T) {
	s := serve(t, mcpserver.Options{})
	res, r := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, header("Mcp-Protocol-Version", "1999-01-01"))
	require.Equal(t, http.StatusBadRequest, res.StatusCode, r.text)
	for _, version := range []string{"2025-11-25", "2025-06-18", "2025-03-26"} {
		t.Run(version, func(t *testing.T) {
			_, r := s.in(t).post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
				header("Mcp-Protocol-Version", version))
			require.Len(t, r.answered(t).Tools, 2)
		})
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		res, r := s.post(``, func(r *http.Request) { r.Method = method })
		require.Equal(t, http.StatusMethodNotAllowed, res.StatusCode, "%s: %s", method, r.text)
	}
}

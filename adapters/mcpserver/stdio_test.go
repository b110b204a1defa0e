package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mcpserver"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/test/rig"
)

// piped is a stdio server on run r1, with its ends in the test's hands.
type piped struct {
	*served
	in    io.WriteCloser
	out   *bufio.Reader
	ended chan error
	stop  context.CancelFunc
}

func pipe(t *testing.T, opt mcpserver.Options) *piped {
	t.Helper()
	s := serve(t, opt)
	rc := application.ContextOf(s.Find(t, "r1"))
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	p := &piped{s, inW, bufio.NewReader(outR), make(chan error, 1), stop}
	go func() { p.ended <- s.Server.ServeStdio(ctx, inR, outW, rc); _ = outW.Close() }()
	t.Cleanup(func() { stop(); _ = inW.Close(); _ = outR.Close() })
	return p
}

func (p *piped) send(lines ...string) {
	p.t.Helper()
	_, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n")
	require.NoError(p.t, err)
}

func (p *piped) receive() reply {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	require.NoError(p.t, err)
	var r reply
	require.NoError(p.t, json.Unmarshal([]byte(line), &r), line)
	r.text = line
	return r
}

func (p *piped) ask(line string) reply {
	p.t.Helper()
	p.send(line)
	return p.receive()
}

// hello opens the session as a 2025-06-18 client does.
func (p *piped) hello() {
	p.t.Helper()
	r := p.ask(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	require.Nil(p.t, r.Error, r.text)
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (p *piped) wait() error {
	p.t.Helper()
	select {
	case err := <-p.ended:
		return err
	case <-soon(p.t).Done():
		require.Fail(p.t, "ServeStdio did not return")
		return nil
	}
}

func stdioCall(id, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"probe","arguments":%s}}`, id, arguments)
}

func TestS01_S07_OverStdioTheRequestIDIsTheLastSource(t *testing.T) {
	p := pipe(t, mcpserver.Options{})
	p.hello()
	r := p.ask(stdioCall(`7`, `{"answer":[1]}`))
	require.Equal(t, "7", r.Result.StructuredContent.ToolCallID)
	require.Equal(t, invocation.Ready, p.record("r1", "7").Status)
	require.Equal(t, "abc-1", p.ask(stdioCall(`"abc-1"`, `{"answer":[1]}`)).Result.StructuredContent.ToolCallID)

	require.Equal(t, "DUPLICATE_TOOL_CALL", p.ask(stdioCall(`7`, `{"answer":[2]}`)).code(), "a reused id fails closed")
	require.Equal(t, "DUPLICATE_TOOL_CALL", p.ask(stdioCall(`"7"`, `{"answer":[2]}`)).code(), "also as text")
	require.Equal(t, "TOOL_CALL_ID_INVALID", p.ask(stdioCall(`"a b"`, `{"answer":[2]}`)).code(), "and is not mended")

	r = p.ask(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"probe","arguments":{"answer":[1]},"_meta":{"claudecode/toolUseId":"toolu_1"}}}`)
	require.Equal(t, "toolu_1", r.Result.StructuredContent.ToolCallID, "what the client says itself comes first")
	require.Equal(t, 3, p.Probe.Executions())
}

func TestS01_TheRequestIDCanBeSwitchedOff(t *testing.T) {
	p := pipe(t, mcpserver.Options{NoRequestID: true})
	p.hello()
	require.Equal(t, "TOOL_CALL_ID_INVALID", p.ask(stdioCall(`7`, `{"answer":[1]}`)).code())
}

func TestStdioOutlivesWhatIsNoMessage(t *testing.T) {
	p := pipe(t, mcpserver.Options{MaxMessage: 8 << 10})
	p.hello()
	for _, c := range []struct {
		line string
		code int64
		id   string
	}{
		{`{"jsonrpc":`, -32700, `null`},
		{`[]`, -32600, `null`},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":7}}`, -32602, `3`},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/explode"}`, -32601, `4`},
		{stdioCall("5", `{"answer":"`+strings.Repeat("x", 64<<10)+`"}`), -32600, `null`},
	} {
		r := p.ask(c.line)
		require.Equal(t, c.code, r.Error.Code, r.text)
		require.Equal(t, c.id, string(r.ID))
	}
	require.Empty(t, p.ask("\n\r\n"+stdioCall(`6`, `{"answer":[1]}`)+"\r").code())
	require.EqualValues(t, 4, p.run("r1").Usage.Refusals)
}

func TestStdioServesTheCurrentRevision(t *testing.T) {
	p := pipe(t, mcpserver.Options{})
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	r := p.ask(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`)
	require.Contains(t, r.text, `"2026-07-28"`)
	r = p.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"probe","arguments":{"answer":[1]},` + meta + `}}`)
	require.Equal(t, "2", r.Result.StructuredContent.ToolCallID)
	require.Contains(t, r.text, `"resultType":"complete"`)
}

func TestS36_ACancelNotificationStopsTheCall(t *testing.T) {
	p := pipe(t, mcpserver.Options{})
	p.hello()
	p.send(stdioCall(`7`, `{"do":"block"}`))
	require.NoError(t, p.Probe.Await(soon(t), running(1)))
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"stop"}}`)
	require.Equal(t, "EXECUTION_CANCELLED", p.receive().code())
	require.Equal(t, fault.ExecutionCancelled, p.record("r1", "7").ErrorCode)
	require.Empty(t, p.ask(stdioCall(`8`, `{"answer":[1]}`)).code())
}

func TestS25_TheEndOfTheInputSettlesEveryCall(t *testing.T) {
	p := pipe(t, mcpserver.Options{})
	p.hello()
	p.send(stdioCall(`7`, `{"do":"block"}`))
	require.NoError(t, p.Probe.Await(soon(t), running(1)))
	require.NoError(t, p.in.Close())
	require.NoError(t, p.wait())
	require.Equal(t, fault.ExecutionCancelled, p.record("r1", "7").ErrorCode, "settled before ServeStdio returned")
}

func TestPipedInputGetsItsAnswers(t *testing.T) {
	p := pipe(t, mcpserver.Options{})
	go func() {
		p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"echo","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`, stdioCall(`2`, `{"answer":[1]}`))
		_ = p.in.Close()
	}()
	require.Equal(t, `1`, string(p.receive().ID))
	require.Equal(t, "READY", p.receive().Result.StructuredContent.Status)
	require.NoError(t, p.wait())
}

func TestStdioEndsWithItsContext(t *testing.T) {
	p := pipe(t, mcpserver.Options{})
	p.hello()
	p.send(stdioCall(`7`, `{"do":"block"}`))
	require.NoError(t, p.Probe.Await(soon(t), running(1)))
	p.stop()
	require.NoError(t, p.wait())
	require.Equal(t, fault.ExecutionCancelled, p.record("r1", "7").ErrorCode)
}

func TestS06_AnEndedRunSaysToRestartTheServer(t *testing.T) {
	p := pipe(t, mcpserver.Options{})
	p.hello()
	_, err := p.End(t.Context(), rig.Harness, "r1", run.Completed)
	require.NoError(t, err)
	r := p.ask(stdioCall(`7`, `{"answer":[1]}`))
	require.Equal(t, "RUN_INACTIVE", r.code())
	require.Contains(t, r.Result.StructuredContent.Error.Message, "restart the server")
}

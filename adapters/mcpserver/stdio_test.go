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
	stdin  io.WriteCloser
	stdout *bufio.Reader
	ended  chan error
	stop   context.CancelFunc
}

// in returns the same server for a subtest.
func (p *piped) in(t *testing.T) *piped {
	sub := *p
	sub.served = p.served.in(t)
	return &sub
}

func pipe(t *testing.T, opt mcpserver.Options) *piped {
	t.Helper()
	s := serve(t, opt)
	rc := application.ContextOf(s.Find(t, "r1"))
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	p := &piped{served: s, stdin: inW, stdout: bufio.NewReader(outR), ended: make(chan error, 1), stop: stop}
	go func() { p.ended <- s.Server.ServeStdio(ctx, inR, outW, rc); _ = outW.Close() }()
	t.Cleanup(func() { stop(); _ = inW.Close(); _ = outR.Close() })
	return p
}

func (p *piped) send(lines ...string) {
	p.t.Helper()
	_, err := io.WriteString(p.stdin, strings.Join(lines, "\n")+"\n")
	require.NoError(p.t, err)
}

func (p *piped) receive() reply {
	p.t.Helper()
	line, err := p.stdout.ReadString('\n')
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
	r := p.ask(initialize(`"init"`, "2025-06-18"))
	require.Nil(p.t, r.Error, r.text)
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func initialize(id, version string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"initialize","params":{"protocolVersion":%q,`+
		`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, id, version)
}

// wait waits until ServeStdio returns.
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
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call",`+
		`"params":{"name":"probe","arguments":%s}}`, id, arguments)
}

func TestS01_S07_OverStdioTheRequestIDIsTheLastSource(t *testing.T) {
	p := pipe(t, mcpserver.Options{})
	p.hello()
	r := p.ask(stdioCall(`7`, `{"answer":[1]}`))
	require.Equal(t, "7", r.answered(t).StructuredContent.ToolCallID)
	require.Equal(t, invocation.Ready, p.record("r1", "7").Status)
	r = p.ask(stdioCall(`"abc-1"`, `{"answer":[1]}`))
	require.Equal(t, "abc-1", r.answered(t).StructuredContent.ToolCallID)

	p.ask(stdioCall(`7`, `{"answer":[2]}`)).failed(t, fault.DuplicateToolCall, "a reused id fails closed")
	p.ask(stdioCall(`"7"`, `{"answer":[2]}`)).failed(t, fault.DuplicateToolCall, "also as text")
	p.ask(stdioCall(`"a b"`, `{"answer":[2]}`)).failed(t, fault.ToolCallIDInvalid, "an unsafe id is not repaired")

	r = p.ask(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"probe",` +
		`"arguments":{"answer":[1]},"_meta":{"claudecode/toolUseId":"toolu_1"}}}`)
	require.Equal(t, "toolu_1", r.answered(t).StructuredContent.ToolCallID, "the client's own id comes first")
	require.Equal(t, 3, p.Probe.Executions())
}

func TestS01_TheRequestIDCanBeSwitchedOff(t *testing.T) {
	p := pipe(t, mcpserver.Options{NoRequestID: true})
	p.hello()
	p.ask(stdioCall(`7`, `{"answer":[1]}`)).failed(t, fault.ToolCallIDInvalid)
}

func TestStdioOutlivesDataThatIsNotAMessage(t *testing.T) {
	p := pipe(t, mcpserver.Options{MaxMessage: 8 << 10})
	p.hello()
	for _, c := range []struct {
		name, line string
		number     int64
		id         string
	}{
		{"not JSON", `{"jsonrpc":`, -32700, `null`},
		{"batch", `[]`, -32600, `null`},
		{"not a call", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":7}}`, -32602, `3`},
		{"unknown method", `{"jsonrpc":"2.0","id":4,"method":"tools/explode"}`, -32601, `4`},
		{"too large", stdioCall("5", `{"answer":"`+strings.Repeat("x", 64<<10)+`"}`), -32600, `null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := p.in(t).ask(c.line)
			r.protocolError(t, c.number)
			require.Equal(t, c.id, string(r.ID), r.text)
		})
	}
	p.ask("\n\r\n" + stdioCall(`6`, `{"answer":[1]}`) + "\r").answered(t)
	require.EqualValues(t, 4, p.run("r1").Usage.Refusals)
}

func TestStdioServesTheCurrentRevision(t *testing.T) {
	p := pipe(t, mcpserver.Options{})
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{}}`
	r := p.ask(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`)
	require.Contains(t, r.text, `"2026-07-28"`)
	r = p.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call",` +
		`"params":{"name":"probe","arguments":{"answer":[1]},` + meta + `}}`)
	require.Equal(t, "2", r.answered(t).StructuredContent.ToolCallID)
	require.Contains(t, r.text, `"resultType":"complete"`)
}

func TestS36_ACancelNotificationStopsTheCall(t *testing.T) {
	p := pipe(t, mcpserver.Options{})
	p.hello()
	p.send(stdioCall(`7`, `{"do":"block"}`))
	require.NoError(t, p.Probe.Await(soon(t), running(1)))
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"stop"}}`)
	p.receive().failed(t, fault.ExecutionCancelled)
	require.Equal(t, fault.ExecutionCancelled, p.record("r1", "7").ErrorCode)
	p.ask(stdioCall(`8`, `{"answer":[1]}`)).answered(t)
}

func TestS25_TheEndOfTheInputSettlesEveryCall(t *testing.T) {
	p := pipe(t, mcpserver.Options{})
	p.hello()
	p.send(stdioCall(`7`, `{"do":"block"}`))
	require.NoError(t, p.Probe.Await(soon(t), running(1)))
	require.NoError(t, p.stdin.Close())
	require.NoError(t, p.wait())
	require.Equal(t, fault.ExecutionCancelled, p.record("r1", "7").ErrorCode, "settled before ServeStdio returned")
}

func TestPipedInputGetsItsAnswers(t *testing.T) {
	p := pipe(t, mcpserver.Options{})
	go func() {
		p.send(initialize("1", "2025-11-25"),
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`, stdioCall(`2`, `{"answer":[1]}`))
		_ = p.stdin.Close()
	}()
	require.Equal(t, `1`, string(p.receive().ID))
	require.Equal(t, "READY", p.receive().answered(t).StructuredContent.Status)
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
	require.Contains(t, r.failed(t, fault.RunInactive).Message, "restart the server")
}

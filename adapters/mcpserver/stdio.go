package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolboundary/toolboundary/application"
)

// ServeStdio serves one client over newline-delimited JSON-RPC, in the given run, until in ends
// or ctx is done. Calls that are still running a moment after the end are cancelled; all have
// settled when it returns. Nothing but messages is written to out.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer, rc application.RunContext) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	conn := &stdioConn{
		server: s, caller: application.Caller{Agent: &rc}, out: out,
		lines: make(chan line), ended: ctx, stop: stop, idle: make(chan struct{}, 1),
	}
	go conn.pump(in)
	session, err := s.mcp.Connect(ctx, conn, nil)
	if err != nil {
		return fmt.Errorf("mcp over stdio: %w", err)
	}
	waited := make(chan error, 1)
	go func() { waited <- session.Wait() }()
	select {
	case err = <-waited:
	case <-ctx.Done():
		// A client that does not read blocks every write for good; the run must end all the same.
		patience := time.NewTimer(unread)
		defer patience.Stop()
		select {
		case err = <-waited:
		case <-patience.C:
		}
	}
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		return fmt.Errorf("mcp over stdio: %w", err)
	}
	return nil
}

// unread is how long a stopped server waits for a client that does not read.
const unread = 3 * time.Second

// grace is how long calls may run on after the input has ended: piped input ends at once, and
// still wants its answers.
const grace = time.Second

// extraKey is where a stdio message carries its inbound form to its handler.
const extraKey = "toolboundary/inbound"

// stdioConn reads messages line by line. The SDK's own connection ends at the first line that
// is not a message and hides the JSON-RPC id from handlers; this one answers such a line with a
// protocol error, and hands the id on.
type stdioConn struct {
	server *Server
	caller application.Caller
	lines  chan line
	ended  context.Context
	stop   context.CancelFunc

	writing sync.Mutex // guards out, which may block as long as the client does not read
	out     io.Writer

	counting sync.Mutex // guards pending
	pending  int
	// idle is signalled when the last pending call was answered.
	idle chan struct{}
}

type line struct {
	data []byte
	err  error
}

// Connect makes the connection its own transport.
func (c *stdioConn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID is empty: stdio has no sessions.
func (c *stdioConn) SessionID() string { return "" }

// Close ends Read.
func (c *stdioConn) Close() error {
	c.stop()
	return nil
}

// pump reads lines until the input ends or the connection is closed. A read of standard
// input cannot be interrupted, so it may outlive the connection; then the process is ending.
func (c *stdioConn) pump(in io.Reader) {
	reader := bufio.NewReader(in)
	for {
		data, err := readLine(reader, c.server.opt.MaxMessage)
		select {
		case c.lines <- line{data, err}:
		case <-c.ended.Done():
			return
		}
		if err != nil && !errors.Is(err, errLineTooLong) {
			return
		}
	}
}

var errLineTooLong = errors.New("line too long")

// readLine returns the next line without its end, or errLineTooLong after skipping one of more
// than most bytes. A last line without an end counts.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var data []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(data)+len(part) > most+1; !long {
			data = append(data, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(data) == 0 && !long):
			return nil, err
		case long:
			return nil, errLineTooLong
		}
		return bytes.TrimRight(data, "\r\n"), nil
	}
}

// Read returns the next message that is one.
func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-c.ended.Done():
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		case l := <-c.lines:
			msg, err := c.take(ctx, l)
			if msg != nil || err != nil {
				return msg, err
			}
		}
	}
}

// take returns the message in a line, or nil when the line has none; such a line has been answered.
func (c *stdioConn) take(ctx context.Context, l line) (jsonrpc.Message, error) {
	switch {
	case errors.Is(l.err, errLineTooLong):
		return nil, c.refuse(ctx, nil, errTooLarge)
	case l.err != nil:
		c.drain()
		return nil, l.err
	case len(bytes.TrimSpace(l.data)) == 0:
		return nil, nil
	}
	m, err := parse(l.data)
	if err != nil {
		return nil, c.refuse(ctx, m.id, err)
	}
	msg, err := jsonrpc.DecodeMessage(l.data)
	if err != nil {
		return nil, c.refuse(ctx, m.id, errNotMessage)
	}
	if req, ok := msg.(*jsonrpc.Request); ok {
		req.Extra = &mcp.RequestExtra{TokenInfo: &auth.TokenInfo{Extra: map[string]any{extraKey: c.inbound(m, req)}}}
		if req.IsCall() {
			c.count(1)
		}
	}
	return msg, nil
}

func (c *stdioConn) inbound(m message, req *jsonrpc.Request) inbound {
	in := inbound{message: m, caller: c.caller, stdio: true}
	if !c.server.opt.NoRequestID && req.IsCall() {
		in.requestID = fmt.Sprint(req.ID.Raw())
	}
	return in
}

// refuse answers a line that is not a message.
func (c *stdioConn) refuse(ctx context.Context, id json.RawMessage, cause error) error {
	protocol, f := c.server.refuse(ctx, c.caller, cause)
	return c.write(protocolError(id, protocol, f))
}

// drain waits a moment for the calls that are pending, once no more can come.
func (c *stdioConn) drain() {
	patience := time.NewTimer(grace)
	defer patience.Stop()
	for c.count(0) > 0 {
		select {
		case <-c.idle:
		case <-c.ended.Done():
			return
		case <-patience.C:
			return
		}
	}
}

// count changes the number of pending calls and returns it.
func (c *stdioConn) count(by int) int {
	c.counting.Lock()
	defer c.counting.Unlock()
	c.pending += by
	if by < 0 && c.pending == 0 {
		select {
		case c.idle <- struct{}{}:
		default: // somebody is told already
		}
	}
	return c.pending
}

// Write sends one message as one line.
func (c *stdioConn) Write(_ context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	err = c.write(data)
	if _, answer := msg.(*jsonrpc.Response); answer {
		c.count(-1)
	}
	return err
}

func (c *stdioConn) write(data json.RawMessage) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(data, '\n'))
	return err
}

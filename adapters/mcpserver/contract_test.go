package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mcpserver"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/test/contract/inboundtest"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/rig"
)

// messageOf is a tools/call that carries its request byte for byte.
func messageOf(id int, c inboundtest.Call) []byte {
	quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	return []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s,"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},`+
		`"toolboundary/toolCallId":%s,"toolboundary/runId":%s},"arguments":%s}}`,
		id, quote(c.Tool), quote(c.ToolCallID), quote(string(c.RunID)), c.Request))
}

// told returns the outcome in a JSON-RPC response: in its text, in its error's data.
func told(data []byte) (inboundtest.Outcome, error) {
	var r struct {
		Result *struct{ Content []struct{ Text string } }
		Error  *struct{ Data json.RawMessage }
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return inboundtest.Outcome{}, err
	}
	text := []byte(nil)
	switch {
	case r.Error != nil:
		text = r.Error.Data
	case r.Result != nil && len(r.Result.Content) == 1:
		text = []byte(r.Result.Content[0].Text)
	}
	var b struct {
		body
		Status         invocation.Status `json:"status"`
		EvidenceStatus evidence.Status   `json:"evidence_status"`
	}
	if err := json.Unmarshal(text, &b); err != nil {
		return inboundtest.Outcome{}, fmt.Errorf("%w in %s", err, data)
	}
	out := inboundtest.Outcome{
		Status: b.Status, EvidenceStatus: b.EvidenceStatus, AgentResult: b.AgentResult, Said: string(data),
	}
	if b.Error != nil {
		out.Code, out.Reason, out.Detail = fault.Code(b.Error.Code), b.Error.Reason, b.Error.Detail
	}
	return out, nil
}

func newServer(t kit.T) (*rig.Rig, *mcpserver.Server) {
	t.Helper()
	g := rig.New(t, application.Options{})
	s, err := mcpserver.New(g.Service, g.Log, mcpserver.Options{})
	require.NoError(t, err)
	return g, s
}

func TestHTTPKeepsTheInboundContract(t *testing.T) {
	inboundtest.Test(t, inboundtest.Subject{New: func(t kit.T) (inboundtest.Service, inboundtest.Caller) {
		g, s := newServer(t)
		srv := httptest.NewServer(s.Handler())
		t.Cleanup(srv.Close)
		return g, func(ctx context.Context, c inboundtest.Call) (inboundtest.Outcome, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL, bytes.NewReader(messageOf(1, c)))
			if err != nil {
				return inboundtest.Outcome{}, err
			}
			for name, value := range map[string]string{
				"Authorization":        "Bearer " + c.Token,
				"Content-Type":         "application/json",
				"Accept":               "application/json, text/event-stream",
				"Mcp-Protocol-Version": "2026-07-28",
				"Mcp-Method":           "tools/call",
				"Mcp-Name":             c.Tool,
			} {
				req.Header.Set(name, value)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				return inboundtest.Outcome{}, err
			}
			defer func() { _ = res.Body.Close() }()
			data, err := io.ReadAll(res.Body)
			if err != nil {
				return inboundtest.Outcome{}, err
			}
			out, err := told(data)
			out.Said = fmt.Sprint(res.Header) + out.Said
			return out, err
		}
	}})
}

// TestStdioKeepsTheInboundContract runs one stdio server for each token that is seen.
func TestStdioKeepsTheInboundContract(t *testing.T) {
	inboundtest.Test(t, inboundtest.Subject{New: func(t kit.T) (inboundtest.Service, inboundtest.Caller) {
		g, s := newServer(t)
		var mu sync.Mutex
		lines := map[string]*stdioClient{}
		return g, func(ctx context.Context, c inboundtest.Call) (inboundtest.Outcome, error) {
			rc, err := g.Tokens.Verify(c.Token)
			if err != nil {
				return inboundtest.Outcome{}, fmt.Errorf("stdio has no tokens: %w", err)
			}
			mu.Lock()
			if lines[c.Token] == nil {
				lines[c.Token] = connect(t, s, rc)
			}
			client := lines[c.Token]
			mu.Unlock()
			return client.call(ctx, c)
		}
	}, Exceptions: map[string]string{
		"Run/ForgedTokenIsRefused":       "stdio has no tokens: the process is the run's",
		"Answer/RecordsTheRequestAsItIs": "stdio is framed by lines, so no request has a line break",
	}})
}

// stdioClient is the other end of a stdio server; answers are told apart by their ids.
type stdioClient struct {
	in io.Writer

	mu      sync.Mutex
	last    int
	waiting map[int]chan []byte
}

func connect(t kit.T, s *mcpserver.Server, rc application.RunContext) *stdioClient {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	c := &stdioClient{in: inW, waiting: map[int]chan []byte{}}
	var both sync.WaitGroup
	both.Go(func() { _ = s.ServeStdio(ctx, inR, outW, rc); _ = outW.Close() })
	both.Go(func() { c.read(outR) })
	t.Cleanup(func() { stop(); _ = inW.Close(); both.Wait() })
	return c
}

func (c *stdioClient) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var r struct{ ID *int }
		_ = json.Unmarshal(line, &r)
		c.mu.Lock()
		if r.ID == nil { // the answer to a line that is not a message: that of the only call under way
			for id := range c.waiting {
				r.ID = &id
			}
		}
		if r.ID != nil && c.waiting[*r.ID] != nil {
			c.waiting[*r.ID] <- line
			delete(c.waiting, *r.ID)
		}
		c.mu.Unlock()
	}
}

func (c *stdioClient) call(ctx context.Context, call inboundtest.Call) (inboundtest.Outcome, error) {
	c.mu.Lock()
	c.last++
	id, answer := c.last, make(chan []byte, 1)
	c.waiting[id] = answer
	line := bytes.ReplaceAll(messageOf(id, call), []byte("\n"), []byte("\r"))
	_, err := c.in.Write(append(line, '\n'))
	c.mu.Unlock()
	if err != nil {
		return inboundtest.Outcome{}, err
	}
	select {
	case line := <-answer:
		return told(line)
	case <-ctx.Done():
		_, err := fmt.Fprintf(c.in,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", id)
		return inboundtest.Outcome{}, fmt.Errorf("%w %w", ctx.Err(), err)
	}
}

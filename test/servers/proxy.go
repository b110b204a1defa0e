package servers

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// FaultProxy is a TCP relay in front of a server that misbehaves on demand. A fault holds for open
// and new connections alike, from the next bytes that pass, until another one (or Pass) replaces
// it. A client whose replies were dropped must not reuse that connection: the replies are gone, not
// late.
type FaultProxy struct {
	Addr string // host:port to give to the client

	port int
	mu   sync.Mutex
	// guarded by mu
	target   string
	fault    fault
	delay    time.Duration
	left     int // bytes of replies that still pass, for cutting
	listener net.Listener
	pairs    map[*pair]struct{}
	closed   bool
	accepted int

	running sync.WaitGroup
}

type fault int

const (
	passing fault = iota
	droppingReplies
	blackholing
	cutting
)

// pair is one client's connection and the one to the server that serves it.
type pair struct {
	client, server net.Conn
	broken         chan struct{} // closed by the first reset: nothing is held back for a dead connection
	once           sync.Once
}

// Proxy starts a relay to target (host:port) that ends with the test. Nothing connects to target
// before a client connects to the relay.
func Proxy(t testing.TB, target string) *FaultProxy {
	t.Helper()
	p := &FaultProxy{target: target, pairs: map[*pair]struct{}{}}
	for attempt := 0; p.listener == nil; attempt++ {
		port, err := freePort()
		if err == nil {
			p.port, p.Addr = port, loopback(port)
			err = p.listen()
		}
		if err != nil && attempt == 5 {
			t.Fatalf("proxy: %v", err)
		}
	}
	t.Cleanup(p.close)
	return p
}

// Pass ends every fault and, after Refuse, listens again on the same port.
func (p *FaultProxy) Pass(t testing.TB) {
	t.Helper()
	p.set(passing, 0, 0)
	if err := p.listen(); err != nil {
		t.Fatalf("proxy: listen again: %v", err)
	}
}

// DropReplies lets requests through to the server and swallows what it answers.
func (p *FaultProxy) DropReplies() { p.set(droppingReplies, 0, 0) }

// Blackhole swallows both directions: connections open and stay open, nothing arrives anywhere.
func (p *FaultProxy) Blackhole() { p.set(blackholing, 0, 0) }

// CutReplies lets n more bytes of replies (all connections together) through and then resets the
// connection that exceeds them: with 0, the server has done its work and the client sees a broken
// connection instead of the answer. Later replies are cut likewise.
func (p *FaultProxy) CutReplies(n int) { p.set(cutting, 0, n) }

// Delay holds back every piece of a reply for d.
func (p *FaultProxy) Delay(d time.Duration) { p.set(passing, d, 0) }

// KillConnections resets every open connection, once; new ones are served.
func (p *FaultProxy) KillConnections() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.pairs {
		c.reset()
	}
}

// Refuse resets every open connection and closes the port: new connections are refused as if no server were there.
func (p *FaultProxy) Refuse() {
	p.mu.Lock()
	if p.listener != nil {
		p.listener.Close()
		p.listener = nil
	}
	p.mu.Unlock()
	p.KillConnections()
}

// Retarget sends new connections to another server.
func (p *FaultProxy) Retarget(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Accepted counts the connections that clients have opened so far.
func (p *FaultProxy) Accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

func (p *FaultProxy) set(f fault, delay time.Duration, left int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.delay, p.left = f, delay, left
}

func (p *FaultProxy) listen() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.listener != nil {
		return nil
	}
	l, err := net.Listen("tcp", p.Addr)
	if err != nil {
		return err
	}
	p.listener = l
	p.running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.serve(client) })
		}
	})
	return nil
}

func (p *FaultProxy) serve(client net.Conn) {
	p.mu.Lock()
	target := p.target
	p.accepted++
	p.mu.Unlock()
	server, err := net.DialTimeout("tcp", target, 10*time.Second)
	if err != nil {
		reset(client)
		return
	}
	c := &pair{client: client, server: server, broken: make(chan struct{})}
	p.mu.Lock()
	if p.closed || p.listener == nil {
		c.reset()
	}
	p.pairs[c] = struct{}{}
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.copy(c, server, client, false) })
	both.Go(func() { p.copy(c, client, server, true) })
	both.Wait()
	c.client.Close()
	c.server.Close()
	p.mu.Lock()
	delete(p.pairs, c)
	p.mu.Unlock()
}

// copy relays one direction, piece by piece as the fault of the moment says.
func (p *FaultProxy) copy(c *pair, to, from net.Conn, reply bool) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		piece, delay, cut := p.judge(buffer[:n], reply)
		if delay > 0 {
			select {
			case <-time.After(delay):
			case <-c.broken:
			}
		}
		if len(piece) > 0 {
			if _, err := to.Write(piece); err != nil {
				cut = true
			}
		}
		switch {
		case cut:
			c.reset()
			return
		case errors.Is(err, io.EOF):
			if half, ok := to.(*net.TCPConn); ok {
				_ = half.CloseWrite()
			}
			return
		case err != nil:
			c.reset()
			return
		}
	}
}

// judge returns what of a piece passes, after which delay, and whether the connection ends there.
func (p *FaultProxy) judge(piece []byte, reply bool) (pass []byte, delay time.Duration, cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.fault == blackholing, p.fault == droppingReplies && reply:
		return nil, 0, false
	case p.fault == cutting && reply && len(piece) > p.left:
		pass, p.left = piece[:p.left], 0
		return pass, 0, true
	case p.fault == cutting && reply:
		p.left -= len(piece)
	}
	if reply {
		delay = p.delay
	}
	return piece, delay, false
}

func (p *FaultProxy) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.Refuse()
	p.running.Wait()
}

func (c *pair) reset() {
	c.once.Do(func() { close(c.broken) })
	reset(c.client)
	reset(c.server)
}

// reset closes a connection so that the other side sees it broken, not ended.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}

package mysql_test

import (
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// relay passes TCP on to a server and counts the commands that clients send, which is what a
// call costs the server. It reads the protocol's frames, so connections must not use TLS.
type relay struct {
	addr   string
	target string

	// answered counts the bytes that the server has sent.
	answered atomic.Int64

	mu       sync.Mutex
	commands map[byte]int
	kills    []string
}

// Commands of the protocol, by their first byte.
const (
	comQuery       = 0x03
	comPing        = 0x0e
	comStmtPrepare = 0x16
	comStmtExecute = 0x17
	comStmtClose   = 0x19
)

func newRelay(t testing.TB, target string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{addr: l.Addr().String(), target: target, commands: map[byte]int{}}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { r.serve(client) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		running.Wait()
	})
	return r
}

func (r *relay) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", r.target)
	if err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(client, io.TeeReader(server, (*counter)(&r.answered)))
		_ = client.Close()
	})
	_ = r.forward(server, client)
	_ = server.Close()
	both.Wait()
}

// forward copies frames: three bytes of length, one of sequence, the payload. A sequence of
// zero begins a command.
func (r *relay) forward(server io.Writer, client io.Reader) error {
	head := make([]byte, 4)
	for {
		if _, err := io.ReadFull(client, head); err != nil {
			return err
		}
		body := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
		if _, err := io.ReadFull(client, body); err != nil {
			return err
		}
		if head[3] == 0 && len(body) > 0 {
			r.note(body)
		}
		if _, err := server.Write(append(head[:4:4], body...)); err != nil {
			return err
		}
	}
}

// note counts a command and keeps the ids that are killed.
func (r *relay) note(body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commands[body[0]]++
	text, kill := strings.CutPrefix(string(body[1:]), "KILL ")
	if body[0] == comQuery && kill {
		r.kills = append(r.kills, text)
	}
}

type counter atomic.Int64

func (c *counter) Write(p []byte) (int, error) {
	(*atomic.Int64)(c).Add(int64(len(p)))
	return len(p), nil
}

// sent returns how many commands were sent so far that the server answers; those that it does
// not answer may still be on their way when a call has ended.
func (r *relay) sent() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.commands[comQuery] + r.commands[comPing] + r.commands[comStmtPrepare] + r.commands[comStmtExecute]
}

// killed returns what the clients asked the server to kill.
func (r *relay) killed() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.kills)
}

// take returns the commands that were sent since the last take.
func (r *relay) take() map[byte]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := maps.Clone(r.commands)
	clear(r.commands)
	return got
}

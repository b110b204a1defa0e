package servers

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
)

// Rewriting starts a relay to target (host:port) that replaces one text by another of the same
// length, in both directions, until the test ends: a server or a proxy that does not do what it is
// told. It returns the relay's address. A text that two reads split is not replaced.
func Rewriting(t testing.TB, target, old, new string) string {
	t.Helper()
	if len(old) != len(new) {
		t.Fatalf("rewriting: %q and %q differ in length", old, new)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("rewriting: %v", err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	relay := func(to, from net.Conn) {
		defer to.Close()
		buffer := make([]byte, 64<<10)
		for {
			n, err := from.Read(buffer)
			if n > 0 {
				if _, err := to.Write(bytes.ReplaceAll(buffer[:n], []byte(old), []byte(new))); err != nil {
					return
				}
			}
			if err != nil {
				if err != io.EOF {
					from.Close()
				}
				return
			}
		}
	}
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil {
				client.Close()
				continue
			}
			mu.Lock()
			open = append(open, client, server)
			mu.Unlock()
			all.Go(func() { relay(server, client) })
			all.Go(func() { relay(client, server) })
		}
	})
	return l.Addr().String()
}

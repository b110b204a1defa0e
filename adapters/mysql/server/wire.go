package server

import (
	"errors"
	"math"
	"net"
	"sync/atomic"
)

// wire is a session's TCP connection. It bounds what is read from the server while one row is
// awaited, because the driver reads a row whole whatever its size; and it can be cut from
// another goroutine, which ends whatever the driver waits for without draining anything.
type wire struct {
	*net.TCPConn
	left    atomic.Int64
	flooded atomic.Bool
}

var errFlood = errors.New("the server sent more than was allowed")

func newWire(c *net.TCPConn) *wire {
	w := &wire{TCPConn: c}
	w.left.Store(math.MaxInt64)
	return w
}

// Read reads at most what is still allowed, and fails past it.
func (w *wire) Read(p []byte) (int, error) {
	left := w.left.Load()
	if left <= 0 {
		w.flooded.Store(true)
		return 0, errFlood
	}
	n, err := w.TCPConn.Read(p[:min(int64(len(p)), left)])
	w.left.Add(-int64(n))
	return n, err
}

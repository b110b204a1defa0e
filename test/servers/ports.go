package servers

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
)

// Ports are taken below the range that Linux (32768 up) and the BSDs (49152 up) give to outgoing
// connections: a server that is stopped and started again on its port must not find a client's
// connection there.
const (
	lowestPort  = 15000
	highestPort = 31999
)

// FreePort returns a loopback port that nothing listens on and that no other test gets while this
// process lives.
func FreePort(t testing.TB) int {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatalf("free port: %v", err)
	}
	return port
}

// freePort returns a port as FreePort does. A process that is not a test may still take it before it is
// used; starts try again with another one.
func freePort() (int, error) {
	for range 200 {
		port := lowestPort + rand.IntN(highestPort-lowestPort+1)
		ok, err := ports.reserve(port)
		if err != nil {
			return 0, err
		}
		if !ok {
			continue
		}
		if l, err := net.Listen("tcp", loopback(port)); err == nil {
			l.Close()
			return port, nil
		}
	}
	return 0, errors.New("no free loopback port found between 15000 and 31999")
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// reservations are the ports of this process. Other test processes see them as locks on the bytes of a
// file, one byte for each port, which the system removes when the process ends: while a server is
// stopped, or a proxy refuses, nobody else takes its port.
type reservations struct {
	path string

	mu    sync.Mutex
	file  *os.File // stays open: closing it would remove the locks
	taken map[int]bool
}

var ports = &reservations{
	path:  filepath.Join(os.TempDir(), "toolboundary-test-ports-"+strconv.Itoa(os.Getuid())),
	taken: map[int]bool{},
}

// reserve reports whether the port is now this process's, and was nobody's before.
func (r *reservations) reserve(port int) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken[port] {
		return false, nil
	}
	if r.file == nil {
		file, err := os.OpenFile(r.path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return false, err
		}
		r.file = file
	}
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: int64(port), Len: 1}
	if err := syscall.FcntlFlock(r.file.Fd(), syscall.F_SETLK, &lock); err != nil {
		if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
			return false, nil // another process has it
		}
		return false, err
	}
	r.taken[port] = true
	return true, nil
}

package process

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// ReadyLimit is how long a program may take until it is ready.
const ReadyLimit = time.Minute

// Output keeps what a program prints and finds the line that says where it listens. It is safe
// for concurrent use.
type Output struct {
	find  func(line string) (address string)
	ready chan string // gets the address, once

	mu    sync.Mutex
	text  bytes.Buffer
	rest  string // the line that has not ended yet
	found bool
}

// NewOutput returns an empty Output. find returns the address that a line names, or "" for every
// other line; it may be nil when nobody waits for one.
func NewOutput(find func(line string) (address string)) *Output {
	if find == nil {
		find = func(string) string { return "" }
	}
	return &Output{find: find, ready: make(chan string, 1)}
}

// Write appends p.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rest += string(p)
	for !o.found {
		line, rest, ended := strings.Cut(o.rest, "\n")
		if !ended {
			break
		}
		o.rest = rest
		if address := o.find(line); address != "" {
			o.found = true
			o.ready <- address
		}
	}
	return o.text.Write(p)
}

// String returns everything that was written.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// tail returns the last lines of what was written.
func (o *Output) tail() string {
	lines := strings.Split(strings.TrimSpace(o.String()), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// Await waits for the line that says where the program called name listens, and returns the
// address. It fails when ended is closed first, after ReadyLimit, and when ctx ends. It may be
// called once.
func (o *Output) Await(ctx context.Context, name string, ended <-chan struct{}) (string, error) {
	limit := time.NewTimer(ReadyLimit)
	defer limit.Stop()
	select {
	case address := <-o.ready:
		return address, nil
	case <-ended:
		return "", fmt.Errorf("%s ended before it was ready:\n%s", name, o.tail())
	case <-limit.C:
		return "", fmt.Errorf("%s was not ready within %v:\n%s", name, ReadyLimit, o.tail())
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// Listening finds the address in the line that the service logs when it listens.
func Listening(line string) string {
	var entry struct{ Msg, Address string }
	if json.Unmarshal([]byte(line), &entry) != nil || entry.Msg != "listening" {
		return ""
	}
	return entry.Address
}

// Address finds the address in a line that is nothing but host:port, as the demo's database
// prints it.
func Address(line string) string {
	if _, err := netip.ParseAddrPort(line); err != nil {
		return ""
	}
	return line
}

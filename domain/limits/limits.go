// Package limits holds the limits of one invocation, in bytes. A value of exactly that many bytes
// passes, one byte more does not, and nothing is ever cut to fit (S22).
package limits

import "github.com/toolboundary/toolboundary/domain/fault"

// Each limit has its own type, so that two cannot be swapped. Unit: bytes.
type (
	// RequestBytes limits the request as it was sent.
	RequestBytes int
	// RawBytes limits a tool's raw response.
	RawBytes int
	// RecordBytes limits the whole canonical record where it is kept.
	RecordBytes int
	// AgentBytes limits the agent result.
	AgentBytes int
)

// Limits are the limits of one invocation.
type Limits struct {
	Request     RequestBytes
	Raw         RawBytes
	Record      RecordBytes
	AgentResult AgentBytes
}

// Default returns the limits of a service that is not configured otherwise.
func Default() Limits {
	return Limits{Request: 64 << 10, Raw: 4 << 20, Record: 8 << 20, AgentResult: 32 << 10}
}

// MaxDepth is how deeply a request's JSON may nest, in levels.
const MaxDepth = 64

// Check returns the fault with the given code when n bytes are more than the limit.
func Check[L ~int](n int, limit L, code fault.Code) error {
	if n > int(limit) {
		return fault.New(code)
	}
	return nil
}

// Buffer collects a raw response while it streams and fails at the first byte past its limit, so that
// memory stays bounded (S20). The zero value takes nothing.
type Buffer struct {
	// Limit is the most bytes that the buffer holds.
	Limit RawBytes
	data  []byte
}

// Write appends p whole, or returns RESULT_TOO_LARGE and appends nothing.
func (b *Buffer) Write(p []byte) (int, error) {
	if len(p) > int(b.Limit)-len(b.data) {
		return 0, fault.New(fault.ResultTooLarge)
	}
	if need := len(b.data) + len(p); need > cap(b.data) {
		// Doubling leaves less garbage than append does, and nothing is taken past the limit.
		grown := make([]byte, len(b.data), min(max(2*cap(b.data), need), int(b.Limit)))
		copy(grown, b.data)
		b.data = grown
	}
	b.data = append(b.data, p...)
	return len(p), nil
}

// Bytes returns what was written; the buffer must not be written to afterwards.
func (b *Buffer) Bytes() []byte { return b.data }

// Package limits holds the byte ceilings of an invocation. All count UTF-8 bytes; exactly
// at a limit passes, one byte more does not, and nothing is ever cut to fit (S22).
package limits

import "github.com/toolboundary/toolboundary/domain/fault"

// The ceilings have types of their own so that they cannot be swapped. Unit: bytes.
type (
	// RequestBytes bounds the request JSON as it was sent.
	RequestBytes int
	// RawBytes bounds a tool's raw answer.
	RawBytes int
	// RecordBytes bounds the stored form of the canonical record.
	RecordBytes int
	// AgentBytes bounds the projection that the agent receives.
	AgentBytes int
)

// Limits are the ceilings of one invocation.
type Limits struct {
	Request     RequestBytes
	Raw         RawBytes
	Record      RecordBytes
	AgentResult AgentBytes
}

// Default returns the ceilings of an unconfigured service.
func Default() Limits {
	return Limits{Request: 64 << 10, Raw: 4 << 20, Record: 8 << 20, AgentResult: 32 << 10}
}

// MaxDepth is how deeply a request's JSON may nest, in levels.
const MaxDepth = 64

// Check returns the fault with the given code when n bytes pass the limit.
func Check[L ~int](n int, limit L, code fault.Code) error {
	if n > int(limit) {
		return fault.New(code)
	}
	return nil
}

// Buffer collects a raw answer while it streams and refuses the first byte past its limit,
// so that memory stays bounded (S20). The zero value refuses everything.
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

// Len returns the number of bytes written.
func (b *Buffer) Len() int { return len(b.data) }

package servers_test

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"testing"
)

// failing records what a failing test would have said and ends its goroutine, as testing.T does,
// without failing the real test.
type failing struct {
	testing.TB
	message string
}

func (f *failing) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// cleanupTB is a test whose context is still usable in a cleanup.
type cleanupTB struct{ testing.TB }

func (cleanupTB) Context() context.Context { return context.Background() }

func uintText(n uint64) string { return strconv.FormatUint(n, 10) }

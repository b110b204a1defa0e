package e2e

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/cmd/app/bootstrap"
	"github.com/toolboundary/toolboundary/test/service"
)

// witnessEnv names the file that collects what commands print and how they were started.
const witnessEnv = "TOOLBOUNDARY_TEST_WITNESS"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"toolboundary": toolboundary})
}

// toolboundary is the binary, with a witness.
func toolboundary() {
	file, err := os.OpenFile(os.Getenv(witnessEnv), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, "no witness:", err)
		os.Exit(99)
	}
	cmdline, err := os.ReadFile("/proc/self/cmdline")
	if err != nil {
		fmt.Fprintln(os.Stderr, "no command line:", err)
		os.Exit(99)
	}
	w := &witness{file: file}
	_, _ = fmt.Fprintf(w, "$ %q\n", cmdline)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := bootstrap.Execute(ctx, service.Version, os.Args[1:], cli.Streams{
		In: os.Stdin, Out: io.MultiWriter(os.Stdout, w), Err: io.MultiWriter(os.Stderr, w),
	})
	stop()
	os.Exit(code)
}

// witness writes to a file that several commands share.
type witness struct {
	mu   sync.Mutex
	file *os.File
}

func (w *witness) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.file.Write(p)
}

package process

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shell is a program that does what the script says.
func shell(script string) *exec.Cmd { return exec.Command("sh", "-c", script) }

const listening = `{"level":"info","msg":"listening","address":"127.0.0.1:7"}`

func TestAProgramIsReadyWhenItSaysWhereItListens(t *testing.T) {
	p, err := Start(t.Context(), shell(`echo '{"msg":"start"}'; echo '`+listening+`' >&2; exec sleep 600`), Listening)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:7", p.Address)
	require.Equal(t, "{\"msg\":\"start\"}\n"+listening+"\n", p.Output.String())
	require.Equal(t, -1, p.Stop(), "sleep is ended by the signal")
	require.Equal(t, -1, p.Stop(), "and is ended once")
}

func TestStopReturnsTheExitCode(t *testing.T) {
	p, err := Start(t.Context(), shell(`trap 'exit 3' TERM; echo 127.0.0.1:7; while :; do sleep 0.01; done`), Address)
	require.NoError(t, err)
	require.Equal(t, 3, p.Stop())
}

func TestAProgramThatDoesNotGetReadySaysWhy(t *testing.T) {
	_, err := Start(t.Context(), shell(`seq 30; echo no such file >&2; exit 1`), Listening)
	require.ErrorContains(t, err, "sh ended before it was ready:\n12\n")
	require.ErrorContains(t, err, "no such file")

	_, err = Start(t.Context(), exec.Command("no-such-program"), Listening)
	require.ErrorContains(t, err, "cannot start no-such-program")

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, err = Start(ctx, shell(`exec sleep 600`), Listening)
	require.EqualError(t, err, "enough")
}

// Lines may come in pieces, and only the first address counts.
func TestOutputFindsTheAddressInItsLine(t *testing.T) {
	text := "listening 127.0.0.1:9\n\n127.0.0.1\n127.0.0.1:8\n127.0.0.1:7\nmore"
	for name, size := range map[string]int{"bytes": 1, "pieces": 7, "whole": len(text)} {
		t.Run(name, func(t *testing.T) {
			o := NewOutput(Address)
			_, err := io.CopyBuffer(struct{ io.Writer }{o}, struct{ io.Reader }{strings.NewReader(text)},
				make([]byte, size))
			require.NoError(t, err)
			address, err := o.Await(t.Context(), "it", nil)
			require.NoError(t, err)
			require.Equal(t, "127.0.0.1:8", address)
			require.Equal(t, text, o.String())
		})
	}
}

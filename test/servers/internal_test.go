package servers

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAMissingServerSaysWhatToInstall(t *testing.T) {
	_, err := lookFor("no-such-server", "nor-this-one")
	require.EqualError(t, err, "this test needs no-such-server or nor-this-one, which is not installed: run `make deps`")
}

func TestAServerThatEndsWhileStartingSaysWhy(t *testing.T) {
	dir, err := subdir("broken")
	require.NoError(t, err)
	p := &Process{name: "broken", argv: []string{"sh", "-c", "echo cannot read my data; exit 3"}, dir: dir, ready: "never"}
	require.ErrorContains(t, p.start(), "cannot read my data")
	require.NoError(t, p.discard())
}

func TestATakenPortIsTriedAgainElsewhere(t *testing.T) {
	attempts := 0
	p, _, err := startOnFreePort("flaky", func(port int, dir string) (*Process, error) {
		attempts++
		script := "echo up; exec sleep 60"
		if attempts < 3 {
			script = "echo bind: Address already in use; exit 1"
		}
		return &Process{name: "flaky", argv: []string{"sh", "-c", script}, dir: dir, ready: "up"}, nil
	})
	require.NoError(t, err)
	require.Equal(t, 3, attempts)
	require.NoError(t, p.discard())
}

// TestMain lets the test below ask another process whether it gets a port.
func TestMain(m *testing.M) {
	if text := os.Getenv("TOOLBOUNDARY_TEST_RESERVE"); text != "" {
		port, _ := strconv.Atoi(text)
		got, err := ports.reserve(port)
		fmt.Print(got, err)
		return
	}
	os.Exit(m.Run())
}

func TestAPortIsReservedForThisProcess(t *testing.T) {
	port := FreePort(t)
	again, err := ports.reserve(port)
	require.NoError(t, err)
	require.False(t, again, "nor does this process get it twice")
	elsewhere := func(port int) string {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "TOOLBOUNDARY_TEST_RESERVE="+strconv.Itoa(port))
		out, err := cmd.Output()
		require.NoError(t, err)
		return string(out)
	}
	require.Equal(t, "false <nil>", elsewhere(port))
	free, err := net.Listen("tcp", "127.0.0.1:0") // outside the range: no test reserves it
	require.NoError(t, err)
	defer free.Close()
	require.Equal(t, "true <nil>", elsewhere(free.Addr().(*net.TCPAddr).Port), "a port that nobody has reserved")
}

func TestSweepRemovesOnlyWhatADeadProcessLeftLongAgo(t *testing.T) {
	tmp := t.TempDir()
	dead, alive := filepath.Join(tmp, workspacePrefix+"99999999-1"), filepath.Join(tmp, workspacePrefix+"1-1")
	other := filepath.Join(tmp, "mine")
	for _, dir := range []string{dead, alive, other} {
		require.NoError(t, os.Mkdir(dir, 0o700))
	}
	sweepStale(tmp, time.Now())
	require.DirExists(t, dead)
	sweepStale(tmp, time.Now().Add(2*staleAfter))
	require.NoDirExists(t, dead)
	require.DirExists(t, alive)
	require.DirExists(t, other)
}

package servers

import (
	"os"
	"path/filepath"
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

package servers_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
)

const victimEnv = "TOOLBOUNDARY_TEST_VICTIM"

// TestVictim is the body of the process that TestNothingOutlivesAKilledTestProcess kills; on its
// own it proves nothing and does nothing.
func TestVictim(t *testing.T) {
	if os.Getenv(victimEnv) == "" {
		return
	}
	// One running, one paused: both must go.
	redis, maria := servers.Redis(t, "--appendonly", "yes"), servers.SharedMariaDB(t)
	redis.Pause(t)
	for _, dir := range []string{redis.Dir(), maria.Dir()} {
		pid, err := os.ReadFile(filepath.Join(dir, "pid"))
		require.NoError(t, err)
		_, err = os.Stdout.WriteString("server " + string(pid) + " " + dir + "\n")
		require.NoError(t, err)
	}
	select {}
}

func TestNothingOutlivesAKilledTestProcess(t *testing.T) {
	victim := exec.Command(os.Args[0], "-test.run=^TestVictim$")
	victim.Env = append(os.Environ(), victimEnv+"=1", "TOOLBOUNDARY_TEST_MYSQL_DSN=")
	out, err := victim.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, victim.Start())
	var pids []int
	var dirs []string
	for lines := bufio.NewScanner(out); len(pids) < 2; {
		require.True(t, lines.Scan(), "the victim ended before it had started its servers")
		if word := strings.Fields(lines.Text()); len(word) == 3 && word[0] == "server" {
			pid, err := strconv.Atoi(word[1])
			require.NoError(t, err)
			require.NoError(t, syscall.Kill(pid, 0))
			pids, dirs = append(pids, pid), append(dirs, word[2])
		}
	}
	require.NoError(t, victim.Process.Kill())
	_ = victim.Wait()
	for i := range pids {
		require.Eventually(t, func() bool { return gone(pids[i]) },
			20*time.Second, 10*time.Millisecond, "server %d still runs", pids[i])
		require.Eventually(t, func() bool {
			_, err := os.Stat(filepath.Dir(dirs[i]))
			return errors.Is(err, os.ErrNotExist)
		}, 20*time.Second, 10*time.Millisecond, "%s is still there", dirs[i])
	}
}

// gone counts a zombie as gone: in a container nobody may reap it.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

package servers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// install runs install.sh on a PATH that holds the given programs only (and what the script itself
// adds: mariadbd may be there or not).
func install(t *testing.T, programs map[string]string) (string, error) {
	t.Helper()
	bin := t.TempDir()
	for name, body := range programs {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+body+"\n"), 0o700))
	}
	bash, err := exec.LookPath("bash")
	require.NoError(t, err)
	cmd := exec.Command(bash, "install.sh")
	cmd.Env = []string{"PATH=" + bin, "TOOLBOUNDARY_TEST_MYSQL_DSN=somewhere"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestInstallIsSilentWhenNothingIsMissing(t *testing.T) {
	out, err := install(t, map[string]string{
		"valkey-server": "", "cc": "", "prometheus": "", "promtool": "", "victoria-metrics": "", "xz": "", "zstd": "", "bzip2": "",
		"apt-get": "echo called; exit 1",
	})
	require.NoError(t, err, out)
	require.Empty(t, out)
}

func TestInstallSaysWhatToDoWithoutRoot(t *testing.T) {
	out, err := install(t, map[string]string{"apt-get": "echo called", "id": "echo 1000"})
	require.Error(t, err, out)
	require.NotContains(t, out, "called")
	require.Contains(t, out, "sudo apt-get install --no-install-recommends redis-server ")
	require.Contains(t, out, " gcc libc6-dev")
	require.NotContains(t, out, "mariadb-server", "a server is named by the environment")
}

func TestInstallSaysWhatToDoWithoutApt(t *testing.T) {
	out, err := install(t, map[string]string{"gcc": "", "id": "echo 0"})
	require.Error(t, err, out)
	require.Contains(t, out, "The tests need redis-server")
	require.Contains(t, out, "brew install redis")
}

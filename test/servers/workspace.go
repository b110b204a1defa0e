package servers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const workspacePrefix = "toolboundary-test-"

// staleAfter keeps the sweep away from directories of a live process that merely cannot be seen
// from here (another PID namespace, same /tmp).
const staleAfter = time.Hour

// workspace is the directory that holds everything this test process starts. A shell outside the
// process waits on a pipe that only this process holds open: the pipe closes however the process
// ends (return, panic, SIGKILL), and the shell then kills what is left and removes it.
type workspace struct {
	dir  string
	pipe *os.File // held open for the life of the process
}

// reaperScript runs with the workspace as $1. Each server's directory holds the id of its process
// group in the file `pid` while it runs.
const reaperScript = `trap '' INT TERM HUP; read -r _
for f in "$1"/*/pid; do [ -f "$f" ] && kill -s KILL -- "-$(cat "$f")" 2>/dev/null; done
rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }`

var openWorkspace = sync.OnceValues(func() (*workspace, error) {
	sweepStale(os.TempDir(), time.Now())
	dir, err := os.MkdirTemp("", workspacePrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	reaper := exec.Command("sh", "-c", reaperScript, "sh", dir)
	reaper.Dir = "/"
	reaper.Stdin = r
	reaper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := reaper.Start(); err != nil {
		return nil, fmt.Errorf("start the process that cleans up: %w", err)
	}
	return &workspace{dir: dir, pipe: w}, nil
})

// subdir makes a directory for one server.
func subdir(name string) (string, error) {
	ws, err := openWorkspace()
	if err != nil {
		return "", err
	}
	return os.MkdirTemp(ws.dir, name+"-")
}

// sweepStale removes workspaces whose process is gone and whose reaper was killed with it (a
// container that was torn down).
func sweepStale(tmp string, now time.Time) {
	dirs, err := filepath.Glob(filepath.Join(tmp, workspacePrefix+"*-*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		digits, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), workspacePrefix), "-")
		pid, err := strconv.Atoi(digits)
		if err != nil || pid <= 0 || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		if info, err := os.Stat(dir); err == nil && now.Sub(info.ModTime()) > staleAfter {
			os.RemoveAll(dir)
		}
	}
}

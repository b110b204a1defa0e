package servers

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	startLimit = 60 * time.Second // a server that is not ready by then never will be
	stopLimit  = 30 * time.Second
)

var errPortTaken = errors.New("the port was taken by another process")

// Process is the life of one server: it can be stopped, killed, frozen and started again on the
// same port and data directory. Its methods are for one goroutine at a time and fail the test when
// the server does not follow.
type Process struct {
	name  string
	argv  []string
	dir   string
	ready string // the text in its log that says it takes connections

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{} // closed when cmd has ended
}

// Start starts a stopped or killed server again and returns when it takes connections.
func (p *Process) Start(t testing.TB) {
	t.Helper()
	p.own(t)
	if err := p.start(); err != nil {
		t.Fatalf("start %s again: %v", p.name, err)
	}
}

// Stop ends the server as an administrator would (SIGTERM) and waits until it is gone. Stopping
// what has ended is not an error.
func (p *Process) Stop(t testing.TB) {
	t.Helper()
	p.own(t)
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Fatalf("stop %s: %v", p.name, err)
	}
}

// Kill ends the server as a crash would (SIGKILL) and waits until it is gone.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	p.own(t)
	if err := p.end(syscall.SIGKILL); err != nil {
		t.Fatalf("kill %s: %v", p.name, err)
	}
}

// Pause freezes the server (SIGSTOP): connections stay open and nothing answers, as with a hung machine.
func (p *Process) Pause(t testing.TB) {
	t.Helper()
	p.own(t)
	if err := p.signal(syscall.SIGSTOP); err != nil {
		t.Fatalf("pause %s: %v", p.name, err)
	}
	// The signal takes effect thread by thread: without waiting, one more request may be answered.
	pid := p.cmd.Process.Pid
	for deadline := time.Now().Add(stopLimit); !frozen(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("pause %s: it did not stop within %s", p.name, stopLimit)
		}
	}
}

// Resume ends a Pause.
func (p *Process) Resume(t testing.TB) {
	t.Helper()
	p.own(t)
	if err := p.signal(syscall.SIGCONT); err != nil {
		t.Fatalf("resume %s: %v", p.name, err)
	}
}

// Dir is the server's data directory; empty for a server that this package did not start.
func (p *Process) Dir() string { return p.dir }

// frozen reports whether every thread of a process is stopped.
func frozen(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, path := range threads {
		stat, err := os.ReadFile(path)
		if err == nil && !bytes.Contains(stat, []byte(") T ")) {
			return false
		}
	}
	if len(threads) > 0 {
		return true
	}
	state, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output() // a system without /proc
	return err == nil && bytes.HasPrefix(bytes.TrimSpace(state), []byte("T"))
}

func (p *Process) own(t testing.TB) {
	t.Helper()
	if len(p.argv) == 0 {
		t.Fatalf("%s was not started by this test (it is named by an environment variable), "+
			"so it cannot be stopped, paused or started", p.name)
	}
}

func (p *Process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		return errors.New("it is running already")
	}
	log, err := os.OpenFile(p.logPath(), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil {
		return err
	}
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := os.WriteFile(p.pidPath(), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
		return errors.Join(err, cmd.Process.Kill())
	}
	p.cmd, p.done = cmd, make(chan struct{})
	go func(done chan struct{}) {
		_ = cmd.Wait() // how it ended shows in its log
		close(done)
	}(p.done)
	if err := p.awaitReady(info.Size()); err != nil {
		return errors.Join(err, p.endLocked(syscall.SIGKILL))
	}
	return nil
}

// awaitReady reads the server's log from offset until it says that it takes connections. The log is
// the server's own, so this cannot be fooled by another server on the port, and needs no
// credentials.
func (p *Process) awaitReady(offset int64) error {
	deadline := time.Now().Add(startLimit)
	for time.Now().Before(deadline) {
		ended := false
		select {
		case <-p.done:
			ended = true
		case <-time.After(5 * time.Millisecond):
		}
		text, err := os.ReadFile(p.logPath())
		if err != nil {
			return err
		}
		text = text[min(offset, int64(len(text))):]
		switch {
		case bytes.Contains(bytes.ToLower(text), []byte("address already in use")):
			return errPortTaken
		case ended:
			return fmt.Errorf("it ended while starting; its log ends with:\n%s", tail(text))
		case bytes.Contains(text, []byte(p.ready)):
			return nil
		}
	}
	return fmt.Errorf("it was not ready within %s", startLimit)
}

func (p *Process) end(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.endLocked(sig)
}

func (p *Process) endLocked(sig syscall.Signal) error {
	if p.cmd == nil {
		return nil
	}
	group := -p.cmd.Process.Pid
	if err := syscall.Kill(group, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	_ = syscall.Kill(group, syscall.SIGCONT) // a paused server cannot act on SIGTERM
	select {
	case <-p.done:
	case <-time.After(stopLimit):
		_ = syscall.Kill(group, syscall.SIGKILL)
		<-p.done
		return fmt.Errorf("it ignored %s for %s and was killed", sig, stopLimit)
	}
	p.cmd = nil
	return os.Remove(p.pidPath())
}

func (p *Process) signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return errors.New("it is not running")
	}
	return p.cmd.Process.Signal(sig)
}

// discard ends the server and removes its data.
func (p *Process) discard() error {
	return errors.Join(p.end(syscall.SIGKILL), os.RemoveAll(p.dir))
}

func (p *Process) logPath() string { return filepath.Join(p.dir, "server.log") }
func (p *Process) pidPath() string { return filepath.Join(p.dir, "pid") }

// startOnFreePort starts what build makes for a free port, with a new port and directory each time
// another process was quicker.
func startOnFreePort(name string, build func(port int, dir string) (*Process, error)) (*Process, int, error) {
	for attempt := 0; ; attempt++ {
		port, err := freePort()
		if err != nil {
			return nil, 0, err
		}
		dir, err := subdir(name)
		if err != nil {
			return nil, 0, err
		}
		p, err := build(port, dir)
		if err == nil {
			err = p.start()
		}
		if err == nil {
			return p, port, nil
		}
		os.RemoveAll(dir)
		if !errors.Is(err, errPortTaken) || attempt == 5 {
			return nil, 0, err
		}
	}
}

// lookFor finds the first of the programs on PATH or where distributions put servers.
func lookFor(names ...string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
		for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/opt/homebrew/bin", "/usr/local/bin"} {
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("this test needs %s, which is not installed: run `make deps`", strings.Join(names, " or "))
}

func tail(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

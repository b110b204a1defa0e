// Package service starts the whole service for tests, in this process or as a process, and
// talks to it over HTTP: for what only the whole can show.
package service

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/cmd/app/bootstrap"
	"github.com/toolboundary/toolboundary/test/service/process"
)

// The keys of every service that a test starts.
const (
	HarnessKey = "canary-harness-key-0123456789abcdef"
	TokenKey   = "canary-token-key-0123456789abcdef0123456789"
)

// Version is the version that commands and services in this process report.
const Version = "v0.0.0-test"

// Head begins a configuration: a free port, and the keys that Keys sets.
const Head = `server: {listen: "127.0.0.1:0", shutdown_grace: 2s}
auth:
  harness_keys: [{name: test, key_env: TOOLBOUNDARY_HARNESS_KEY}]
  token_keys: [{id: k1, key_env: TOOLBOUNDARY_TOKEN_KEY}]
`

// Keys puts the keys that Head names into the environment, and returns their values.
func Keys(t testing.TB) []string {
	t.Helper()
	t.Setenv("TOOLBOUNDARY_HARNESS_KEY", HarnessKey)
	t.Setenv("TOOLBOUNDARY_TOKEN_KEY", TokenKey)
	return []string{HarnessKey, TokenKey}
}

// Write sets the keys, writes Head and the configuration to a file, and returns its path. The
// configuration starts with a section that Head does not have, such as data_sources.
func Write(t testing.TB, configuration string) string {
	t.Helper()
	Keys(t)
	return WriteFile(t, "toolboundary.yaml", Head+configuration)
}

// WriteFile writes a file into a directory of the test, and returns its path.
func WriteFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Result is what a command did.
type Result struct {
	Code        int
	Out, Stderr string
}

// Command runs a command line of the binary in this process, with in as its standard input. It
// ends what takes longer than a minute, such as a serve that should have failed.
func Command(t testing.TB, in string, args ...string) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	streams := cli.Streams{In: strings.NewReader(in), Out: &stdout, Err: &stderr}
	code := bootstrap.Execute(ctx, Version, args, streams)
	return Result{code, stdout.String(), stderr.String()}
}

// Service is a running service. It is stopped with its test, which fails unless the service then
// exits with 0, or was killed.
type Service struct {
	// URL is http://host:port.
	URL string

	t testing.TB
	*instance
}

// instance is what a Service and those that In returns share.
type instance struct {
	log    *process.Output
	stop   func() int // returns the exit code, any number of times
	kill   func()     // nil in this process
	killed bool
}

// In returns the same service for a subtest: what its methods require is required of t.
func (s *Service) In(t testing.TB) *Service { return &Service{s.URL, t, s.instance} }

// Start writes the configuration to a file, as Write does, serves it in this process and waits
// until the service listens.
func Start(t testing.TB, configuration string, options ...bootstrap.Option) *Service {
	t.Helper()
	args := []string{"serve", "--config", Write(t, configuration)}
	s := &Service{t: t, instance: &instance{log: process.NewOutput(process.Listening)}}
	ctx, cancel := context.WithCancel(context.Background())
	ended, code := make(chan struct{}), -1
	go func() {
		defer close(ended)
		streams := cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: s.log}
		code = bootstrap.Execute(ctx, Version, args, streams, options...)
	}()
	s.stop = func() int {
		cancel()
		select {
		case <-ended:
			return code
		case <-time.After(process.StopLimit):
			return -1 // still running: Stop's caller says so
		}
	}
	t.Cleanup(s.end)
	address, err := s.log.Await(t.Context(), "the service", ended)
	require.NoError(t, err)
	s.URL = "http://" + address
	return s
}

// Build builds the binary into a directory of the test, and returns its path.
func Build(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "toolboundary")
	build := exec.Command("go", "build", "-o", path, "github.com/toolboundary/toolboundary/cmd/app")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// StartBinary is Start in a process, which Kill can end without warning.
func StartBinary(t testing.TB, path, configuration string) *Service {
	t.Helper()
	cmd := exec.Command(path, "serve", "--config", Write(t, configuration))
	p, err := process.Start(t.Context(), cmd, process.Listening)
	require.NoError(t, err)
	s := &Service{"http://" + p.Address, t, &instance{log: p.Output, stop: p.Stop, kill: p.Kill}}
	t.Cleanup(s.end)
	return s
}

// Stop ends the service and returns its exit code; it may be called twice.
func (s *Service) Stop() int { return s.stop() }

// Kill ends the process at once, as kill -9 does, and waits until it is gone.
func (s *Service) Kill() {
	s.killed = true
	s.kill()
}

// end stops the service at the end of its test.
func (s *Service) end() {
	if code := s.stop(); code != 0 && !s.killed {
		s.t.Errorf("the service should stop within %v and exit with 0; its exit code is %d and its log:\n%s",
			process.StopLimit, code, s.log)
	}
}

// Logs returns everything that the service logged.
func (s *Service) Logs() string { return s.log.String() }

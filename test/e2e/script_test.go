package e2e

import (
	"crypto/rand"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
	"github.com/toolboundary/toolboundary/test/service/process"
)

// Scenarios of every command, success and failure. What commands print, and what they were
// started with, holds no secret.
//
// Each script has its own schema, $SCHEMA, and two accounts: $ADMIN_USER, and $AGENT_USER with
// SELECT on that schema. After await, $LISTEN is the address of the service that it started.
func TestScripts(t *testing.T) {
	m := servers.SharedMariaDB(t)
	redis := servers.Redis(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error { return setup(t, m, redis, env) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"load":   func(ts *testscript.TestScript, _ bool, args []string) { load(t, m, ts, args) },
			"expand": expand,
			"await":  await,
		},
	})
}

func setup(t *testing.T, m *servers.MySQL, redis *servers.RedisServer, env *testscript.Env) error {
	schema := strings.NewReplacer("script-", "e2e_", "-", "_").Replace(filepath.Base(env.WorkDir))
	m.Load(t, "DROP DATABASE IF EXISTS "+schema+"; CREATE DATABASE "+schema)
	user, password := m.Account(t, "SELECT ON "+schema+".*")
	host, port, err := net.SplitHostPort(m.Addr)
	if err != nil {
		return err
	}
	secrets := map[string]string{
		"ADMIN_PASSWORD":              m.AdminPassword,
		"AGENT_PASSWORD":              password,
		"TOOLBOUNDARY_QUERY_PASSWORD": password,
		"TOOLBOUNDARY_HARNESS_KEY":    "canary-harness-" + rand.Text(),
		"TOOLBOUNDARY_TOKEN_KEY":      "canary-token-" + rand.Text() + rand.Text(),
	}
	for name, value := range secrets {
		env.Setenv(name, value)
	}
	witness := filepath.Join(t.TempDir(), schema)
	for name, value := range map[string]string{
		witnessEnv:                  witness,
		"SCHEMA":                    schema,
		"DB_ADDR":                   m.Addr,
		"DB_HOST":                   host,
		"DB_PORT":                   port,
		"ADMIN_USER":                m.AdminUser,
		"AGENT_USER":                user,
		"REDIS_ADDR":                redis.Addr,
		"TOOLBOUNDARY_QUERY_HOST":   host,
		"TOOLBOUNDARY_QUERY_PORT":   port,
		"TOOLBOUNDARY_QUERY_USER":   user,
		"TOOLBOUNDARY_QUERY_SCHEMA": schema,
	} {
		env.Setenv(name, value)
	}
	env.Defer(func() {
		said, err := os.ReadFile(witness)
		require.NoError(t, err, "every script runs a command")
		for name, value := range secrets {
			if strings.Contains(string(said), value) {
				t.Errorf("%s: the value of %s was printed, logged or on a command line", schema, name)
			}
		}
	})
	return nil
}

// load runs an SQL file of the script as the administrator, with the script's variables.
func load(t *testing.T, m *servers.MySQL, ts *testscript.TestScript, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: load FILE")
	}
	m.Load(t, os.Expand(ts.ReadFile(args[0]), ts.Getenv))
}

// expand replaces $VARIABLES in files of the script.
func expand(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(os.Expand(ts.ReadFile(name), ts.Getenv)), 0o600))
	}
}

// await waits until the service of the script listens, and sets $LISTEN and $TOOLBOUNDARY_SERVER.
// Its log is in the witness.
func await(ts *testscript.TestScript, _ bool, _ []string) {
	for deadline := time.Now().Add(process.ReadyLimit); time.Now().Before(deadline); {
		for line := range strings.Lines(ts.ReadFile(ts.Getenv(witnessEnv))) {
			if address := process.Listening(line); address != "" {
				ts.Setenv("LISTEN", address)
				ts.Setenv("TOOLBOUNDARY_SERVER", "http://"+address)
				return
			}
		}
		time.Sleep(20 * time.Millisecond) // the log of another process: there is nothing to wait on
	}
	ts.Fatalf("the service did not listen within %v", process.ReadyLimit)
}

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/cmd/app/bootstrap"
	"github.com/toolboundary/toolboundary/test/servers"
)

const (
	corpusDir  = "../../adapters/mysql/sqlguard/testdata/"
	harnessKey = "canary-harness-key-0123456789"
	tokenKey   = "canary-token-key-0123456789-0123456789"
)

// result is what a command did.
type result struct {
	code        int
	out, stderr string
}

// command runs a command line in this process. Nothing that it prints may hold a secret.
func command(t testing.TB, in string, secrets []string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := bootstrap.Run(t.Context(), testVersion, args, cli.Streams{In: strings.NewReader(in), Out: &stdout, Err: &stderr})
	for _, s := range secrets {
		require.NotEmpty(t, s)
		require.NotContains(t, stdout.String()+stderr.String()+strings.Join(args, " "), s, "a secret in the output or the arguments of %v", args[0])
	}
	return result{code, stdout.String(), stderr.String()}
}

// write writes a file into a directory of the test.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// serviceKeys sets the keys that every configuration of these tests names.
func serviceKeys(t testing.TB) []string {
	t.Setenv("TOOLBOUNDARY_HARNESS_KEY", harnessKey)
	t.Setenv("TOOLBOUNDARY_TOKEN_KEY", tokenKey)
	return []string{harnessKey, tokenKey}
}

const head = `server: {listen: "127.0.0.1:0"}
auth:
  harness_keys: [{name: e2e, key_env: TOOLBOUNDARY_HARNESS_KEY}]
  token_keys: [{id: k1, key_env: TOOLBOUNDARY_TOKEN_KEY}]
`

// corpusOn loads the corpus's schema on the server of this package and returns the configuration
// of its data source, for an account named by SHOP_USER and SHOP_PASSWORD.
func corpusOn(t testing.TB, m *servers.MySQL) (config string) {
	t.Helper()
	schema, err := os.ReadFile(corpusDir + "schema.sql")
	require.NoError(t, err)
	m.Load(t, string(schema))
	text, err := os.ReadFile(corpusDir + "config.yaml")
	require.NoError(t, err)
	require.Contains(t, string(text), "127.0.0.1:3306")
	return write(t, "corpus.yaml", strings.Replace(string(text), "127.0.0.1:3306", m.Addr, 1))
}

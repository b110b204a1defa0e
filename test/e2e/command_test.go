package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
	"github.com/toolboundary/toolboundary/test/service"
)

const corpusDir = "../../adapters/mysql/sqlguard/testdata/"

// command runs a command line in this process. Nothing that it prints may hold a secret.
func command(t testing.TB, in string, secrets []string, args ...string) service.Result {
	t.Helper()
	r := service.Command(t, in, args...)
	for _, s := range secrets {
		require.NotEmpty(t, s, "a secret that is empty cannot be looked for")
		require.NotContains(t, r.Out+r.Stderr+strings.Join(args, " "), s,
			"a secret in the output or the arguments of %v", args[0])
	}
	return r
}

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
	return service.WriteFile(t, "corpus.yaml", strings.Replace(string(text), "127.0.0.1:3306", m.Addr, 1))
}

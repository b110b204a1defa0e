package service_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/cmd/app/bootstrap"
	"github.com/toolboundary/toolboundary/test/service"
)

// serve runs the command line with a configuration and returns exit code and standard error.
func serve(t *testing.T, configuration string) (int, string) {
	t.Helper()
	var stderr bytes.Buffer
	code := bootstrap.Run(t.Context(), "test", []string{"serve", "--config", service.Write(t, configuration)}, cli.Streams{In: strings.NewReader(""), Out: &stderr, Err: &stderr})
	return code, stderr.String()
}

func TestABrokenConfigurationNamesEveryFaultAndExitsWith2(t *testing.T) {
	t.Setenv("TOOLBOUNDARY_HARNESS_KEY", service.HarnessKey)
	t.Setenv("TOOLBOUNDARY_TOKEN_KEY", service.TokenKey)
	code, said := serve(t, `store: {kind: paper}
limits: {raw: many}
data_sources:
  shop:
    user_env: NO_SUCH_VARIABLE
    max_rowz: 5
    allow: {orders: [id]}
`)
	require.Equal(t, cli.Usage, code)
	for _, path := range []string{"store.kind", "limits.raw", "data_sources.shop.address", "data_sources.shop.user_env", "data_sources.shop.max_rowz", "data_sources.shop.allow.orders"} {
		require.Contains(t, said, path)
	}
	code, said = serve(t, "data_sources:\n  shop:\n    address: 127.0.0.1:1\n    user_env: TOOLBOUNDARY_HARNESS_KEY\n    functions: [NO_SUCH_FUNCTION]\n    allow: {shop.orders: [id]}\n")
	require.Equal(t, cli.Usage, code)
	require.Contains(t, said, "data_sources.shop")
	require.Contains(t, said, "NO_SUCH_FUNCTION")
	require.NotContains(t, said, service.HarnessKey)

	code, _ = serve(t, "")
	require.Equal(t, cli.Usage, code, "a service without a tool serves nothing")
}

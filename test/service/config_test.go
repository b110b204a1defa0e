package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/test/service"
)

// serve runs serve with a configuration that it should not accept.
func serve(t *testing.T, configuration string) service.Result {
	t.Helper()
	r := service.Command(t, "", "serve", "--config", service.Write(t, configuration))
	require.Equal(t, cli.Usage, r.Code, "%s%s", r.Out, r.Stderr)
	return r
}

func TestABrokenConfigurationNamesEveryFaultAndExitsWith2(t *testing.T) {
	r := serve(t, `store: {kind: paper}
limits: {raw: many}
data_sources:
  shop:
    user_env: NO_SUCH_VARIABLE
    max_rowz: 5
    allow: {orders: [id]}
`)
	for _, path := range []string{
		"store.kind", "limits.raw", "data_sources.shop.address", "data_sources.shop.user_env",
		"data_sources.shop.max_rowz", "data_sources.shop.allow.orders",
	} {
		require.Contains(t, r.Stderr, path)
	}

	r = serve(t, `data_sources:
  shop:
    address: 127.0.0.1:1
    user_env: TOOLBOUNDARY_HARNESS_KEY
    functions: [NO_SUCH_FUNCTION]
    allow: {shop.orders: [id]}
`)
	require.Contains(t, r.Stderr, "data_sources.shop")
	require.Contains(t, r.Stderr, "NO_SUCH_FUNCTION")
	require.NotContains(t, r.Stderr, service.HarnessKey)

	serve(t, "") // a service without a tool is refused
}

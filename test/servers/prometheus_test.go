package servers_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
)

func TestMetricsServersHoldTheirSamples(t *testing.T) {
	at := time.Now().Add(-3 * time.Hour).Unix()
	samples := fmt.Sprintf("# TYPE depth gauge\ndepth{queue=\"a\"} 7 %d\n# EOF\n", at)
	for name, start := range map[string]func(*testing.T) *servers.MetricsServer{
		"Prometheus":      func(t *testing.T) *servers.MetricsServer { return servers.Prometheus(t, samples) },
		"VictoriaMetrics": func(t *testing.T) *servers.MetricsServer { return servers.VictoriaMetrics(t, samples) },
	} {
		t.Run(name, func(t *testing.T) {
			query := url.Values{"query": {"depth"}, "time": {strconv.FormatInt(at+1, 10)}}
			response, err := http.PostForm(start(t).URL+"/api/v1/query", query)
			require.NoError(t, err)
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Contains(t, string(body), `"queue":"a"`)
			require.Contains(t, string(body), `"7"`)
		})
	}
}

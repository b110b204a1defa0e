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
	for _, s := range []*servers.MetricsServer{servers.Prometheus(t, samples), servers.VictoriaMetrics(t, samples)} {
		response, err := http.PostForm(s.URL+"/api/v1/query", url.Values{"query": {"depth"}, "time": {strconv.FormatInt(at+1, 10)}})
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Contains(t, string(body), `"queue":"a"`, s.Product)
		require.Contains(t, string(body), `"7"`, s.Product)
	}
}

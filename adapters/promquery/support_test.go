package promquery_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/promquery"
	"github.com/toolboundary/toolboundary/adapters/promquery/promguard"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/tool"
)

// clock stands at one moment.
type clock struct{ now time.Time }

func (c clock) Now() time.Time { return c.now }

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// policy is the one that promguard's testdata is judged by.
func policy() promguard.Policy {
	return promguard.Policy{Metrics: []string{"up", "node_load1", "http_*", "job:http_requests:rate5m"},
		Matchers: []string{`tenant="a"`}}
}

func newTool(t testing.TB, url string, now time.Time, change ...func(*promquery.Source)) *promquery.Executor {
	t.Helper()
	s := promquery.Source{ID: "metrics", URL: url, Policy: policy(), Timeout: 5 * time.Second}
	for _, c := range change {
		c(&s)
	}
	made, err := promquery.New([]promquery.Source{s}, clock{now})
	require.NoError(t, err)
	t.Cleanup(made.Close)
	return made
}

var scope = tool.Scope{DataSources: []string{"metrics", "unbuilt"}}

func prepare(t testing.TB, p *promquery.Executor, request map[string]any) tool.Plan {
	t.Helper()
	plan, err := p.Prepare(requestJSON(t, request), scope)
	require.NoError(t, err, "%v: %s", request, detail(err))
	return plan
}

func requestJSON(t testing.TB, request map[string]any) json.RawMessage {
	t.Helper()
	if _, named := request["data_source"]; !named {
		request["data_source"] = "metrics"
	}
	raw, err := json.Marshal(request)
	require.NoError(t, err)
	return raw
}

func detail(err error) string {
	if err == nil {
		return ""
	}
	return fault.Of(err).Detail
}

type judged struct{ Verdict, Query string }

func judgedQueries(t testing.TB, verdict string) []string {
	t.Helper()
	f, err := os.Open("promguard/testdata/queries.jsonl")
	require.NoError(t, err)
	defer f.Close()
	var all []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var q judged
		require.NoError(t, json.Unmarshal(lines.Bytes(), &q))
		if q.Verdict == verdict {
			all = append(all, q.Query)
		}
	}
	require.GreaterOrEqual(t, len(all), 30)
	return all
}

package promquery_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/promquery"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/test/servers"
)

// secretValue is the order of magnitude of every hidden sample: whatever is computed from one
// shows it, also an aggregation without labels.
const secretValue = 1e15

// family is one metric of the test's data.
type family struct {
	name   string
	labels []string // one series each
	at     func(i, minute int) float64
}

// dataset returns three hours of samples until end, one a minute: the allowed series alone, or
// with them those of another tenant and of metrics that are not allowed, all marked.
func dataset(end time.Time, hidden bool) string {
	counter := func(i, m int) float64 { return float64(100*(i+1) + m*(i+2)) }
	gauge := func(i, m int) float64 { return 1 + float64(i) + math.Round(math.Sin(float64(m)/9)*50)/100 }
	one := func(int, int) float64 { return 1 }
	allowed := []family{
		{"up", []string{`job="api",instance="h1:80"`, `job="api",instance="h2:80"`, `job="db",instance="h3:90"`}, one},
		{"node_load1", []string{`job="node",instance="h1:80"`, `job="node",instance="h2:80"`}, gauge},
		{"http_requests_total", []string{
			`job="api",instance="h1:80",handler="/a",code="200"`, `job="api",instance="h1:80",handler="/a",code="500"`,
			`job="api",instance="h2:80",handler="/b",code="200"`, `job="api",instance="h2:80",handler="/b",code="503"`},
			counter},
		{"http_build_info", []string{`job="api",instance="h1:80",version="1.0"`,
			`job="api",instance="h2:80",version="1.1"`}, one},
		{"http_request_duration_seconds_bucket", []string{
			`job="api",le="0.1"`, `job="api",le="1.0"`, `job="api",le="+Inf"`},
			func(i, m int) float64 { return float64(m * (i + 1) * 10) }},
		{"job:http_requests:rate5m", []string{`job="api"`, `job="db"`}, gauge},
	}
	big := func(i, m int) float64 { return secretValue + float64(m*(i+1))*secretValue/100 }
	var b strings.Builder
	write := func(f family, tenant, mark string, at func(i, m int) float64) {
		for i, l := range f.labels {
			for m := range 181 {
				t := end.Add(time.Duration(m-180) * time.Minute).Unix()
				fmt.Fprintf(&b, "%s{tenant=%q,%s%s} %v %d\n", f.name, tenant, l, mark, at(i, m), t)
			}
		}
	}
	for _, f := range allowed {
		fmt.Fprintf(&b, "# TYPE %s unknown\n", f.name)
		write(f, "a", "", f.at)
		if hidden {
			write(f, "b", `,canary="hidden"`, big)
		}
	}
	if hidden {
		for _, name := range []string{"httpx_secret", "secret_tokens_total"} {
			fmt.Fprintf(&b, "# TYPE %s unknown\n", name)
			write(family{name, []string{`job="api",token="t0ken"`}, nil}, "a", `,canary="hidden"`, big)
		}
	}
	return b.String() + "# EOF\n"
}

// seen is what the source returned, made comparable: one line per series and sample.
type seen struct {
	lines  []string
	labels []map[string]string
	values []float64
}

func (s *seen) add(labels map[string]string, samples [][2]any) {
	s.labels = append(s.labels, labels)
	for _, sample := range samples {
		v, _ := strconv.ParseFloat(sample[1].(string), 64)
		s.values = append(s.values, v)
		if v != 0 && !math.IsNaN(v) {
			v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 10, 64), 64) // summing order differs
		}
		s.lines = append(s.lines, fmt.Sprint(labels, sample[0], v))
	}
}

// ask sends a query to a server as it stands, without a guard.
func ask(t *testing.T, base, query string, form url.Values) seen {
	t.Helper()
	path := "/api/v1/query"
	if form.Has("start") {
		path += "_range"
	}
	form.Set("query", query)
	response, err := http.PostForm(base+path, form)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, 200, response.StatusCode, "%s: %s", query, body)
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  *[2]any
				Values [][2]any
			}
		}
	}
	require.NoError(t, json.Unmarshal(body, &answer))
	var s seen
	for _, r := range answer.Data.Result {
		if r.Value != nil {
			r.Values = append(r.Values, *r.Value)
		}
		s.add(r.Metric, r.Values)
	}
	return s
}

func execute(t *testing.T, p *promquery.Executor, request map[string]any) seen {
	t.Helper()
	raw, err := p.Execute(t.Context(), prepare(t, p, request), limits.Default().Raw)
	require.NoError(t, err, "%v: %s", request, detail(err))
	var answer struct {
		Series []struct {
			Labels  map[string]string
			Samples [][2]any
		}
	}
	require.NoError(t, json.Unmarshal(raw, &answer))
	var s seen
	for _, r := range answer.Series {
		s.add(r.Labels, r.Samples)
	}
	return s
}

func onlyAllowed(t *testing.T, query string, s seen) {
	t.Helper()
	for _, labels := range s.labels {
		require.NotContains(t, labels, "canary", query)
		require.NotContains(t, labels, "token", query)
		require.Contains(t, []string{"", "a"}, labels["tenant"], query)
		name := labels["__name__"]
		require.True(t, name == "" || name == "up" || name == "node_load1" || name == "job:http_requests:rate5m" ||
			strings.HasPrefix(name, "http_"), "%s returned %s", query, name)
	}
	for _, v := range s.values {
		require.False(t, math.Abs(v) > secretValue/1e4 && !math.IsInf(v, 0), "%s returned %v", query, v)
	}
}

// instants are the forms in which each query is asked.
func forms(end time.Time, query string) []map[string]any {
	list := []map[string]any{{"query": query, "time": end.Unix()}}
	if query != `http_requests_total[5m]` {
		list = append(list, map[string]any{"query": query, "start": end.Add(-30 * time.Minute).Unix(),
			"end": end.Unix(), "step": "5m"})
	}
	return list
}

// TestS33_RealPrometheus runs every accepted query of the corpus, and proves two things of it:
// only allowed series came back, and it means what the agent wrote: on a server that holds
// nothing but the allowed series, the agent's own text gives the same answer.
func TestS33_RealPrometheus(t *testing.T) {
	end := time.Now().Truncate(time.Hour).Add(-3 * time.Hour).UTC()
	full, alone := servers.Prometheus(t, dataset(end, true)), servers.Prometheus(t, dataset(end, false))
	p := newTool(t, full.URL, end)

	leaks := ask(t, full.URL, `sum(http_requests_total)`, url.Values{"time": {strconv.FormatInt(end.Unix(), 10)}})
	require.Greater(t, leaks.values[0], secretValue, "without the guard, the hidden values show")

	answered := 0
	for _, query := range judgedQueries(t, "accept") {
		for _, request := range forms(end, query) {
			got := execute(t, p, request)
			onlyAllowed(t, query, got)
			form := url.Values{}
			for k, v := range request {
				form.Set(k, fmt.Sprint(v))
			}
			plain := query
			if query == `{"up", job="api"}` { // 2.42 cannot read it; what the guard prints of it, it can
				plain = `up{job="api"}`
			}
			want := ask(t, alone.URL, plain, form)
			if strings.HasPrefix(query, "absent") { // its labels are made of the matchers
				for i := range want.labels {
					want.labels[i]["tenant"] = "a"
				}
				require.Equal(t, want.labels, got.labels)
				continue
			}
			slices.Sort(want.lines)
			slices.Sort(got.lines)
			require.Equal(t, want.lines, got.lines, query)
			answered += len(got.lines)
		}
	}
	require.Greater(t, answered, 500, "the queries found something")
}

// TestS33_RealVictoriaMetrics asks the same of a server with another engine, whose values
// differ by design: only what came back is judged.
func TestS33_RealVictoriaMetrics(t *testing.T) {
	end := time.Now().Truncate(time.Hour).Add(-3 * time.Hour).UTC()
	full := servers.VictoriaMetrics(t, dataset(end, true))
	p := newTool(t, full.URL, end)
	leaks := ask(t, full.URL, `sum(http_requests_total)`, url.Values{"time": {strconv.FormatInt(end.Unix(), 10)}})
	require.Greater(t, leaks.values[0], secretValue)
	answered := 0
	for _, query := range judgedQueries(t, "accept") {
		for _, request := range forms(end, query) {
			got := execute(t, p, request)
			onlyAllowed(t, query, got)
			answered += len(got.lines)
		}
	}
	require.Greater(t, answered, 500)
}

package promquery_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/promquery"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/executortest"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/contract/projectortest"
	"github.com/toolboundary/toolboundary/test/servers"
)

func asked(query string) json.RawMessage {
	text, _ := json.Marshal(map[string]string{"data_source": "metrics", "query": query})
	return text
}

var refused = []executortest.Refused{
	{Why: "no query", Request: json.RawMessage(`{"data_source":"metrics"}`), Code: fault.RequestInvalid},
	{Why: "both an instant and a range",
		Request: json.RawMessage(`{"data_source":"metrics","query":"up","time":1,"start":1}`),
		Code:    fault.RequestInvalid},
	{Why: "a hidden metric", Request: asked(`secret_tokens_total`), Code: fault.QueryRejected},
	{Why: "another tenant", Request: asked(`up{tenant="b"}`), Code: fault.QueryRejected},
	{Why: "no PromQL", Request: asked(`SELECT 1`), Code: fault.QueryRejected},
}

func build(t kit.T, s promquery.Source, now time.Time) ports.Executor {
	made, err := promquery.New([]promquery.Source{s}, clock{now})
	require.NoError(t, err)
	t.Cleanup(made.Close)
	return made
}

// refusing makes the server look as if it were down.
func refusing(t *testing.T, line *servers.FaultProxy) func(kit.T) func() {
	return func(kit.T) func() {
		line.Refuse()
		return func() { line.Pass(t) }
	}
}

func TestS26_ExecutorContractOnAFake(t *testing.T) {
	a := newAPI(t)
	line := servers.Proxy(t, strings.TrimPrefix(a.URL, "http://"))
	executortest.Test(t, executortest.Subject{
		New: func(t kit.T) ports.Executor {
			return build(t, promquery.Source{ID: "metrics", URL: "http://" + line.Addr, Policy: policy(),
				BearerToken: "t0ken"}, noon)
		},
		Scope:   scope,
		Echo:    func(text string) json.RawMessage { return asked(`up{job="` + text + `"}`) },
		Large:   asked(`up{job="flood"}`),
		Slow:    asked(`up{job="slow"}`),
		Failing: asked(`up{job="422:execution"}`), FailsWith: fault.ExecutionFailed,
		Refused: refused,
		Running: func(kit.T) int { return int(a.running.Load()) },
		Calls:   func(kit.T) int { return int(a.calls.Load()) },
		Secrets: []string{words, line.Addr, "127.0.0.1", "t0ken"},
		Break:   refusing(t, line),
	})
}

// wide returns a data set with many series, so that an answer can be large.
func wide(end time.Time) string {
	var b strings.Builder
	b.WriteString("# TYPE http_wide unknown\n")
	for i := range 100 {
		for m := range 180 {
			fmt.Fprintf(&b, "http_wide{tenant=\"a\",job=\"api\",number=\"%d\"} %d.%d %d\n", i, i, m,
				end.Add(time.Duration(m-180)*time.Minute).Unix())
		}
	}
	return b.String() + "# EOF\n"
}

func TestS26_ExecutorContractOnARealPrometheus(t *testing.T) {
	end := time.Now().Truncate(time.Hour).Add(-3 * time.Hour).UTC()
	server := servers.Prometheus(t, wide(end))
	line := servers.Proxy(t, strings.TrimPrefix(server.URL, "http://"))
	large, _ := json.Marshal(map[string]any{"data_source": "metrics", "query": "http_wide", // some 27 MiB
		"start": end.Add(-10_000 * time.Second).Unix(), "end": end.Unix(), "step": "1s"})
	// Prometheus looks whether a query was cancelled between the steps of operators, not within a
	// function over a long subquery.
	slow := asked(`sum_over_time((http_wide` + strings.Repeat(` + on (number) http_wide`, 9) + `)[3h:500ms])`)
	executortest.Test(t, executortest.Subject{
		New: func(t kit.T) ports.Executor {
			p := policy()
			p.MaxInner, p.MinStep = 100_000, time.Millisecond
			return build(t, promquery.Source{ID: "metrics", URL: "http://" + line.Addr, Policy: p, Timeout: time.Minute,
				MaxPoints: 11_000, MaxSeries: 2000}, end)
		},
		Scope:   scope,
		Echo:    func(text string) json.RawMessage { return asked(`absent(up{job="` + text + `"})`) },
		Large:   large,
		Slow:    slow,
		Failing: asked(`http_wide * on (job) http_wide`), FailsWith: fault.ExecutionFailed,
		Refused: refused,
		Running: func(t kit.T) int { return gauge(t, server.URL, `(?m)^prometheus_engine_queries (\S+)$`) },
		Calls: func(t kit.T) int {
			const requests = `(?m)^prometheus_http_requests_total\{code="\d+",handler="/api/v1/query(?:_range)?"\} (\S+)$`
			return gauge(t, server.URL, requests)
		},
		Secrets: []string{line.Addr, "127.0.0.1", "many-to-many", "number="},
		Break:   refusing(t, line),
	})
}

// gauge sums what a server says of itself.
func gauge(t kit.T, base, pattern string) int {
	response, err := http.Get(base + "/metrics")
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	sum := 0.0
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
		f, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		sum += f
	}
	return int(sum)
}

func rawAnswer(query, kind string, samples int, warnings string, texts ...string) json.RawMessage {
	type series struct {
		Labels  map[string]string `json:"labels"`
		Samples [][2]any          `json:"samples"`
	}
	list := []series{}
	for _, text := range texts {
		s := series{Labels: map[string]string{"text": text}}
		for i := range samples {
			s.Samples = append(s.Samples, [2]any{1796040000 + i*60, strconv.Itoa(i)})
		}
		list = append(list, s)
	}
	raw, _ := json.Marshal(map[string]any{
		"asked": map[string]string{"data_source": "metrics", "query": query}, "kind": kind, "series": list,
		"more": false,
	})
	if warnings != "" {
		quoted, _ := json.Marshal([]string{warnings})
		raw = append(raw[:len(raw)-1], `,"warnings":`+string(quoted)+`}`...)
	}
	return raw
}

func TestS26_ProjectorContract(t *testing.T) {
	for kind, samples := range map[string]int{"vector": 1, "matrix": 4} {
		t.Run(kind, func(t *testing.T) {
			projectortest.Test(t, projectortest.Subject{
				Projector: promquery.Projector{},
				Answer:    func(texts ...string) json.RawMessage { return rawAnswer("q", kind, samples, "", texts...) },
				Empty:     func(asked string) json.RawMessage { return rawAnswer(asked, kind, samples, "") },
				Sensitive: func(text string) json.RawMessage { return rawAnswer("q", kind, samples, text, "x") },
				Malformed: []json.RawMessage{
					json.RawMessage(`{}`), json.RawMessage(`null`), json.RawMessage(`[]`),
					json.RawMessage(`{"asked":{},"kind":"vector"}`),
					json.RawMessage(`{"asked":{},"kind":"other","series":[]}`),
					json.RawMessage(`{"asked":{},"kind":"vector","series":[{"labels":{},"samples":[]}]}`),
					json.RawMessage(`{"asked":{},"kind":"matrix","series":[{"labels":{},"samples":[[1,"x"]]}]}`),
					json.RawMessage(`{"asked":{},"kind":"matrix","series":[{"labels":{},"samples":[[1e99,"1"]]}]}`),
				},
			})
		})
	}
}

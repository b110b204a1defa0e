package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
	"github.com/toolboundary/toolboundary/test/service"
)

// subject is a tool on a real or fake source, and what must be asked of it to see each outcome.
type subject struct {
	tool, source, configuration string
	// found, none and failing are requests by outcome; rejected and invalid are refused.
	found, none, failing, rejected, invalid string
	// slow takes until it is stopped, which query_timeout does after a second; it is empty when
	// the data source has nothing that is slow. running returns how many of these the data
	// source executes.
	slow    string
	running func() int
	// secrets may not be in any answer or log line, foundText must be in the found result.
	secrets   []string
	foundText string
}

// subjects are the tools of this repository.
func subjects(t *testing.T) map[string]subject {
	t.Helper()
	return map[string]subject{
		"mysql_query on MariaDB":               onMariaDB(t),
		"prometheus_query on a fake":           onFakePrometheus(t),
		"prometheus_query on Prometheus":       onPrometheus(t, servers.Prometheus(t, samples())),
		"prometheus_query on VictoriaMetrics":  onPrometheus(t, servers.VictoriaMetrics(t, samples())),
		"log_search on a directory with files": onLogs(t),
	}
}

func onMariaDB(t *testing.T) subject {
	db := database(t)
	db.Load(t, "CREATE OR REPLACE VIEW shop.failing AS "+
		"SELECT id, (SELECT id FROM shop.customers) AS many FROM shop.customers")
	return subject{
		tool: "mysql_query", source: "shop",
		configuration: shop(db, "3s") + "      shop.failing: [id, many]\n",

		found:     `{"data_source":"shop","sql":"SELECT name FROM customers WHERE id = 18"}`,
		none:      `{"data_source":"shop","sql":"SELECT name FROM customers WHERE id = 0"}`,
		failing:   `{"data_source":"shop","sql":"SELECT many FROM failing"}`,
		rejected:  `{"data_source":"shop","sql":"SELECT ssn FROM customers"}`,
		invalid:   `{"data_source":"shop","sql":"SELECT id FROM customers","host":"x"}`,
		slow:      slowQuery,
		foundText: `"rows":[[`,
		running: func() int {
			n := 0
			for _, p := range db.Processlist(t) {
				if strings.Contains(p.Info, "`slow`") {
					n++
				}
			}
			return n
		},
		secrets: []string{db.Addr, os.Getenv("SHOP_PASSWORD"), "canary-ssn"},
	}
}

func metricsAt(url string) string {
	return fmt.Sprintf(`data_sources:
  metrics:
    kind: prometheus
    url: %q
    query_timeout: 3s
    metrics: [up, 'http_*']
    matchers: ['tenant="a"']
`, url)
}

func promQL(query string) string {
	text, _ := json.Marshal(map[string]string{"data_source": "metrics", "query": query})
	return string(text)
}

func onFakePrometheus(t *testing.T) subject {
	vector := func(series string) string {
		return `{"status":"success","data":{"resultType":"vector","result":[` + series + `]}}`
	}
	var running atomic.Int32
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		switch query := r.Form.Get("query"); {
		case strings.Contains(query, "slow"):
			running.Add(1)
			defer running.Add(-1)
			<-r.Context().Done()
		case strings.Contains(query, "failing"):
			said := `{"status":"error","errorType":"execution","error":"canary-words"}`
			http.Error(w, said, http.StatusUnprocessableEntity)
		case strings.Contains(query, "none"):
			fmt.Fprint(w, vector(""))
		default:
			fmt.Fprint(w, vector(`{"metric":{"tenant":"a","job":"found"},"value":[1,"2"]}`))
		}
	}))
	t.Cleanup(api.Close)
	return subject{
		tool: "prometheus_query", source: "metrics", configuration: metricsAt(api.URL),
		found:     promQL(`up{job="found"}`),
		none:      promQL(`up{job="none"}`),
		failing:   promQL(`up{job="failing"}`),
		rejected:  promQL(`secret_total`),
		invalid:   `{"data_source":"metrics","query":"up","tenant":"b"}`,
		slow:      promQL(`up{job="slow"}`),
		running:   func() int { return int(running.Load()) },
		foundText: `"job":"found"`,
		secrets:   []string{strings.TrimPrefix(api.URL, "http://"), "canary-words"},
	}
}

// samples hold two series that may be read, and two that may not.
func samples() string {
	var b strings.Builder
	at := time.Now().Add(-time.Hour).Unix()
	b.WriteString("# TYPE up gauge\n")
	for _, labels := range []string{
		`tenant="a",job="found"`, `tenant="a",job="db"`, `tenant="b",job="canary-tenant"`,
	} {
		fmt.Fprintf(&b, "up{%s} 1 %d\n", labels, at)
	}
	b.WriteString("# TYPE secret_total unknown\n")
	fmt.Fprintf(&b, "secret_total{tenant=\"a\",job=\"canary-metric\"} 1 %d\n# EOF\n", at)
	return b.String()
}

func onPrometheus(t *testing.T, server *servers.MetricsServer) subject {
	return subject{
		tool: "prometheus_query", source: "metrics", configuration: metricsAt(server.URL),
		found:     promQL(`last_over_time(up{job="found"}[2h])`),
		none:      promQL(`up{job="none"}`),
		failing:   promQL(`last_over_time(up[2h]) * on (tenant) last_over_time(up[2h])`), // many-to-many
		rejected:  promQL(`secret_total`),
		invalid:   `{"data_source":"metrics"}`,
		foundText: `"job":"found"`,
		secrets: []string{
			strings.TrimPrefix(server.URL, "http://"), "canary-tenant", "canary-metric", "many-to-many", "duplicate",
		},
	}
}

func onLogs(t *testing.T) subject {
	root := t.TempDir()
	for name, text := range map[string]string{
		"app.log":    "2026-11-30T11:00:00Z ERROR found password=canary-password\n",
		"app.log.gz": "not gzip",
		"other.log":  "canary-other\n",
		"slow.log":   "",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	slow := filepath.Join(root, "slow.log")
	require.NoError(t, os.Truncate(slow, 1<<38))
	return subject{
		tool: "log_search", source: "logs",
		configuration: fmt.Sprintf(`data_sources:
  logs:
    kind: logs
    root: %q
    files: ['app.log*', slow.log]
    query_timeout: 3s
    time_pattern: '^\S+'
    time_layout: rfc3339
    masks: ['password=(\S+)']
`, root),
		found:     `{"data_source":"logs","pattern":"ERROR","files":"app.log"}`,
		none:      `{"data_source":"logs","pattern":"FATAL","files":"app.log"}`,
		failing:   `{"data_source":"logs","pattern":"FATAL","files":"app.log*"}`,
		rejected:  `{"data_source":"logs","pattern":"("}`,
		invalid:   `{"data_source":"logs","path":"/etc/passwd"}`,
		slow:      `{"data_source":"logs","pattern":"FATAL","files":"slow.log"}`,
		foundText: `ERROR found password=[REDACTED]`,
		secrets:   []string{root, "canary-password", "canary-other"},
		running: func() int {
			n := 0
			links, _ := filepath.Glob("/proc/self/fd/*")
			for _, l := range links {
				if target, err := os.Readlink(l); err == nil && target == slow {
					n++
				}
			}
			return n
		},
	}
}

// scene is one subject behind a running service, with an open run.
type scene struct {
	*testing.T
	subject
	s          *service.Service
	run, token string
}

func (sc scene) ask(id, request string) service.Call {
	sc.Helper()
	c, err := sc.s.Invoke(sc.Context(), sc.token, sc.run, id, sc.tool, request)
	require.NoError(sc, err)
	for _, secret := range sc.secrets {
		require.NotContains(sc, string(c.AgentResult)+c.Error.Message+c.Error.Reason+c.Error.Detail, secret)
	}
	return c
}

// fails makes a call that must fail with the code.
func (sc scene) fails(id, request, code string) service.Call {
	sc.Helper()
	c := sc.ask(id, request)
	require.Equal(sc, code, c.Error.Code, "%s answered %v", request, c)
	return c
}

func (sc scene) awaitRunning(n int) {
	sc.Helper()
	require.Eventually(sc, func() bool { return sc.running() == n }, 20*time.Second, 5*time.Millisecond,
		"the data source should be executing %d slow requests", n)
}

// scenarios are what the boundary promises of every tool.
var scenarios = []struct {
	name string
	// slow scenarios need a slow request.
	slow bool
	body func(sc scene)
}{
	{"S11_S41_found", false, func(sc scene) {
		c := sc.ask("call_1", sc.found)
		require.Equal(sc, "READY EVIDENCE_FOUND", c.Status+" "+c.EvidenceStatus, "%v", c)
		require.Contains(sc, string(c.AgentResult), sc.foundText)
		record, found := sc.s.Record(sc.run, "call_1")
		require.True(sc, found)
		require.Equal(sc, sc.found, string(record["request"]), "byte for byte")
		require.Equal(sc, string(c.AgentResult), string(record["agent_result"]))
		require.NotEqual(sc, "null", string(record["raw_response"]))
		require.Contains(sc, sc.cite("call_1"), `"POSITIVE"`)
	}},
	{"S12_S17_S39_nothing_found", false, func(sc scene) {
		c := sc.ask("call_1", sc.none)
		require.Equal(sc, "READY NO_EVIDENCE", c.Status+" "+c.EvidenceStatus, "%v", c)
		var shown struct {
			Scope map[string]any `json:"scope"`
		}
		require.NoError(sc, json.Unmarshal(c.AgentResult, &shown), "%s", c.AgentResult)
		require.Equal(sc, sc.source, shown.Scope["data_source"], "what was asked can be cited: %s", c.AgentResult)
		require.Contains(sc, string(c.AgentResult), `"truncated":false`)
		require.Contains(sc, sc.cite("call_1"), `"NEGATIVE"`)
	}},
	{"S07_duplicate", false, func(sc scene) {
		first := sc.ask("call_1", sc.found)
		require.Equal(sc, "READY", first.Status, "%v", first)
		sc.fails("call_1", sc.none, "DUPLICATE_TOOL_CALL")
		record, found := sc.s.Record(sc.run, "call_1")
		require.True(sc, found)
		require.Equal(sc, string(first.AgentResult), string(record["agent_result"]), "the first is untouched")
	}},
	{"S32_S42_refused", false, func(sc scene) {
		for _, c := range []struct{ id, request, code string }{
			{"rejected", sc.rejected, "QUERY_REJECTED"}, {"invalid", sc.invalid, "REQUEST_INVALID"},
		} {
			said := sc.fails(c.id, c.request, c.code)
			require.NotEmpty(sc, said.Error.Reason, "%v", said)
			_, found := sc.s.Record(sc.run, c.id)
			require.False(sc, found, "a refused call has no record: %s", c.request)
		}
	}},
	{"S33_source_not_granted", false, func(sc scene) {
		elsewhere := strings.Replace(sc.found, `"`+sc.source+`"`, `"elsewhere"`, 1)
		sc.fails("call_1", elsewhere, "DATA_SOURCE_UNKNOWN")
		sc.run += "-none"
		sc.token = sc.s.Open(sc.run, fmt.Sprintf(`"tools":[%q],"data_sources":[]`, sc.tool))
		sc.fails("call_1", sc.found, "DATA_SOURCE_UNKNOWN")
	}},
	{"S08_budget_spent", false, func(sc scene) {
		sc.run += "-not"
		sc.token = sc.s.Open(sc.run,
			fmt.Sprintf(`"tools":[%q],"data_sources":[%q],"budget":{"max_calls":0}`, sc.tool, sc.source))
		sc.fails("call_1", sc.found, "RUN_BUDGET_EXHAUSTED")
	}},
	{"S23_failing", false, func(sc scene) {
		c := sc.fails("call_1", sc.failing, "EXECUTION_FAILED")
		require.Equal(sc, []any{"ERROR", "ERROR", 200}, []any{c.Status, c.EvidenceStatus, c.HTTP}, "%v", c)
		require.Contains(sc, sc.cite("call_1"), `"ERROR"`)
		c = sc.ask("call_2", sc.found)
		require.Equal(sc, "READY", c.Status, "the data source still answers: %v", c)
	}},
	{"S36_timeout", true, func(sc scene) {
		sc.fails("call_1", sc.slow, "EXECUTION_TIMEOUT")
		sc.awaitRunning(0)
	}},
	{"S25_caller_gone", true, func(sc scene) {
		ctx, leave := context.WithCancel(sc.Context())
		wait := sc.s.Send(ctx, sc.token, sc.run, "call_1", sc.tool, sc.slow)
		sc.awaitRunning(1)
		leave()
		_, err := wait()
		require.ErrorIs(sc, err, context.Canceled)
		sc.awaitRunning(0)
		code := awaitError(sc.T, sc.s, sc.run, "call_1")
		require.Contains(sc, []string{"EXECUTION_CANCELLED", "EXECUTION_TIMEOUT"}, code)
	}},
	{"S14_run_cancelled", true, func(sc scene) {
		wait := sc.s.Send(sc.Context(), sc.token, sc.run, "call_1", sc.tool, sc.slow)
		sc.awaitRunning(1)
		sc.s.Must(200, "POST", "/v1/runs/"+sc.run+"/cancel", "")
		c, err := wait()
		require.NoError(sc, err)
		require.Contains(sc, []string{"EXECUTION_CANCELLED", "EXECUTION_TIMEOUT"}, c.Error.Code, "%v", c)
		require.Nil(sc, c.AgentResult, "%v", c)
		sc.awaitRunning(0)
		sc.fails("call_2", sc.found, "RUN_INACTIVE")
	}},
}

// cite asks whether a call may be cited and returns the answer.
func (sc scene) cite(id string) string {
	sc.Helper()
	body := fmt.Sprintf(`{"references":[{"tool_call_id":%q}]}`, id)
	return string(sc.s.Must(200, "POST", "/v1/runs/"+sc.run+"/references", body))
}

// TestS26_TheScenariosOnEveryTool tests what the boundary promises of every tool on every tool of
// the repository.
func TestS26_TheScenariosOnEveryTool(t *testing.T) {
	for name, sub := range subjects(t) {
		t.Run(name, func(t *testing.T) {
			s := service.Start(t, sub.configuration)
			for i, c := range scenarios {
				if c.slow && sub.slow == "" {
					continue
				}
				t.Run(c.name, func(t *testing.T) {
					s, run := s.In(t), fmt.Sprint("r", i)
					token := s.Open(run, fmt.Sprintf(`"tools":[%q],"data_sources":[%q]`, sub.tool, sub.source))
					c.body(scene{t, sub, s, run, token})
				})
			}
			for _, secret := range sub.secrets {
				require.NotContains(t, s.Logs(), secret)
			}
		})
	}
}

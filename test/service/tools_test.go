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
	// slow runs until it is stopped, which query_timeout does after a second; empty when the
	// source of this subject has nothing that is slow. running tells what the source does.
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
	db.Load(t, "CREATE OR REPLACE VIEW shop.failing AS SELECT id, (SELECT id FROM shop.customers) AS many FROM shop.customers")
	return subject{
		tool: "mysql_query", source: "shop", configuration: strings.Replace(shop(db, "1s"), "shop.slow:", "shop.failing: [id, many]\n      shop.slow:", 1),
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
	return fmt.Sprintf("data_sources:\n  metrics: {kind: prometheus, url: %q, query_timeout: 1s, metrics: [up, 'http_*'], matchers: ['tenant=\"a\"']}\n", url)
}

func promQL(query string) string {
	text, _ := json.Marshal(map[string]string{"data_source": "metrics", "query": query})
	return string(text)
}

func onFakePrometheus(t *testing.T) subject {
	var running atomic.Int32
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		switch query := r.Form.Get("query"); {
		case strings.Contains(query, "slow"):
			running.Add(1)
			defer running.Add(-1)
			<-r.Context().Done()
		case strings.Contains(query, "failing"):
			http.Error(w, `{"status":"error","errorType":"execution","error":"canary-words"}`, http.StatusUnprocessableEntity)
		case strings.Contains(query, "none"):
			fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
		default:
			fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"tenant":"a","job":"found"},"value":[1,"2"]}]}}`)
		}
	}))
	t.Cleanup(api.Close)
	return subject{
		tool: "prometheus_query", source: "metrics", configuration: metricsAt(api.URL),
		found: promQL(`up{job="found"}`), none: promQL(`up{job="none"}`), failing: promQL(`up{job="failing"}`), slow: promQL(`up{job="slow"}`),
		rejected: promQL(`secret_total`), invalid: `{"data_source":"metrics","query":"up","tenant":"b"}`,
		foundText: `"job":"found"`, running: func() int { return int(running.Load()) }, secrets: []string{strings.TrimPrefix(api.URL, "http://"), "canary-words"},
	}
}

// samples hold two series that may be read, and two that may not.
func samples() string {
	var b strings.Builder
	b.WriteString("# TYPE up gauge\n")
	for _, tenant := range []string{`a",job="found`, `a",job="db`, `b",job="canary-tenant`} {
		fmt.Fprintf(&b, "up{tenant=\"%s\"} 1 %d\n", tenant, time.Now().Add(-time.Hour).Unix())
	}
	fmt.Fprintf(&b, "# TYPE secret_total unknown\nsecret_total{tenant=\"a\",job=\"canary-metric\"} 1 %d\n", time.Now().Add(-time.Hour).Unix())
	return b.String() + "# EOF\n"
}

func onPrometheus(t *testing.T, server *servers.MetricsServer) subject {
	return subject{
		tool: "prometheus_query", source: "metrics", configuration: metricsAt(server.URL),
		found: promQL(`last_over_time(up{job="found"}[2h])`), none: promQL(`up{job="none"}`), rejected: promQL(`secret_total`), invalid: `{"data_source":"metrics"}`,
		failing:   promQL(`last_over_time(up[2h]) * on (tenant) last_over_time(up[2h])`), // many-to-many
		foundText: `"job":"found"`, secrets: []string{strings.TrimPrefix(server.URL, "http://"), "canary-tenant", "canary-metric", "many-to-many", "duplicate"},
	}
}

func onLogs(t *testing.T) subject {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "app.log"), []byte("2026-11-30T11:00:00Z ERROR found password=canary-password\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, "app.log.gz"), []byte("not gzip"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, "other.log"), []byte("canary-other\n"), 0o600))
	slow := filepath.Join(root, "slow.log")
	require.NoError(t, os.WriteFile(slow, nil, 0o600))
	require.NoError(t, os.Truncate(slow, 1<<38))
	return subject{
		tool: "log_search", source: "logs",
		configuration: fmt.Sprintf("data_sources:\n  logs: {kind: logs, root: %q, files: ['app.log*', slow.log], query_timeout: 1s, time_pattern: '^\\S+', time_layout: rfc3339, masks: ['password=(\\S+)']}\n", root),
		found:         `{"data_source":"logs","pattern":"ERROR","files":"app.log"}`, none: `{"data_source":"logs","pattern":"FATAL","files":"app.log"}`,
		failing: `{"data_source":"logs","pattern":"FATAL","files":"app.log*"}`, slow: `{"data_source":"logs","pattern":"FATAL","files":"slow.log"}`,
		rejected: `{"data_source":"logs","pattern":"("}`, invalid: `{"data_source":"logs","path":"/etc/passwd"}`,
		foundText: `ERROR found password=[REDACTED]`, secrets: []string{root, "canary-password", "canary-other"},
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

func (sc scene) awaitRunning(n int) {
	sc.Helper()
	require.Eventually(sc, func() bool { return sc.running() == n }, 10*time.Second, 5*time.Millisecond, "at the source: %d", n)
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
		require.Equal(sc, "READY EVIDENCE_FOUND", c.Status+" "+c.EvidenceStatus, "%+v", c.Error)
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
		require.Equal(sc, "READY NO_EVIDENCE", c.Status+" "+c.EvidenceStatus, "%+v", c.Error)
		var shown struct {
			Scope map[string]any `json:"scope"`
		}
		require.NoError(sc, json.Unmarshal(c.AgentResult, &shown))
		require.Equal(sc, sc.source, shown.Scope["data_source"], "what was asked can be cited: %s", c.AgentResult)
		require.Contains(sc, string(c.AgentResult), `"truncated":false`)
		require.Contains(sc, sc.cite("call_1"), `"NEGATIVE"`)
	}},
	{"S07_duplicate", false, func(sc scene) {
		first := sc.ask("call_1", sc.found)
		require.Equal(sc, "READY", first.Status)
		require.Equal(sc, "DUPLICATE_TOOL_CALL", sc.ask("call_1", sc.none).Error.Code)
		record, _ := sc.s.Record(sc.run, "call_1")
		require.Equal(sc, string(first.AgentResult), string(record["agent_result"]), "the first is untouched")
	}},
	{"S32_S42_refused", false, func(sc scene) {
		for id, want := range map[string]string{"rejected": "QUERY_REJECTED", "invalid": "REQUEST_INVALID"} {
			request := map[string]string{"rejected": sc.rejected, "invalid": sc.invalid}[id]
			c := sc.ask(id, request)
			require.Equal(sc, want, c.Error.Code, request)
			require.NotEmpty(sc, c.Error.Reason)
			_, found := sc.s.Record(sc.run, id)
			require.False(sc, found)
		}
	}},
	{"S33_source_not_granted", false, func(sc scene) {
		elsewhere := strings.Replace(sc.found, `"`+sc.source+`"`, `"elsewhere"`, 1)
		require.Equal(sc, "DATA_SOURCE_UNKNOWN", sc.ask("call_1", elsewhere).Error.Code)
		sc.token = sc.s.Open(sc.run+"-none", fmt.Sprintf(`"tools":[%q],"data_sources":[]`, sc.tool))
		sc.run += "-none"
		require.Equal(sc, "DATA_SOURCE_UNKNOWN", sc.ask("call_1", sc.found).Error.Code)
	}},
	{"S08_budget_spent", false, func(sc scene) {
		token := sc.s.Open(sc.run+"-not", fmt.Sprintf(`"tools":[%q],"data_sources":[%q],"budget":{"max_calls":0}`, sc.tool, sc.source))
		c, err := sc.s.Invoke(sc.Context(), token, sc.run+"-not", "call_1", sc.tool, sc.found)
		require.NoError(sc, err)
		require.Equal(sc, "RUN_BUDGET_EXHAUSTED", c.Error.Code)
	}},
	{"S23_failing", false, func(sc scene) {
		c := sc.ask("call_1", sc.failing)
		require.Equal(sc, []any{"ERROR", "ERROR", "EXECUTION_FAILED", 200}, []any{c.Status, c.EvidenceStatus, c.Error.Code, c.HTTP})
		require.Contains(sc, sc.cite("call_1"), `"ERROR"`)
		require.Equal(sc, "READY", sc.ask("call_2", sc.found).Status, "the source goes on")
	}},
	{"S36_timeout", true, func(sc scene) {
		require.Equal(sc, "EXECUTION_TIMEOUT", sc.ask("call_1", sc.slow).Error.Code)
		sc.awaitRunning(0)
	}},
	{"S25_caller_gone", true, func(sc scene) {
		ctx, leave := context.WithCancel(sc.Context())
		gone := make(chan error, 1)
		go func() { _, err := sc.s.Invoke(ctx, sc.token, sc.run, "call_1", sc.tool, sc.slow); gone <- err }()
		sc.awaitRunning(1)
		leave()
		require.Error(sc, <-gone)
		sc.awaitRunning(0)
		require.Eventually(sc, func() bool {
			record, found := sc.s.Record(sc.run, "call_1")
			return found && string(record["status"]) == `"ERROR"`
		}, 10*time.Second, 10*time.Millisecond)
	}},
	{"S14_run_cancelled", true, func(sc scene) {
		ended := make(chan service.Call, 1)
		go func() {
			c, _ := sc.s.Invoke(context.Background(), sc.token, sc.run, "call_1", sc.tool, sc.slow)
			ended <- c
		}()
		sc.awaitRunning(1)
		sc.s.Must(200, "POST", "/v1/runs/"+sc.run+"/cancel", "")
		c := <-ended
		require.Contains(sc, []string{"EXECUTION_CANCELLED", "EXECUTION_TIMEOUT"}, c.Error.Code)
		require.Nil(sc, c.AgentResult)
		sc.awaitRunning(0)
		require.Equal(sc, "RUN_INACTIVE", sc.ask("call_2", sc.found).Error.Code)
	}},
}

// cite asks whether a call may be cited and returns the answer.
func (sc scene) cite(id string) string {
	sc.Helper()
	return string(sc.s.Must(200, "POST", "/v1/runs/"+sc.run+"/references", fmt.Sprintf(`{"references":[{"tool_call_id":%q}]}`, id)))
}

// TestS26_TheScenariosOnEveryTool runs what the boundary promises on every tool of the
// repository, by table.
func TestS26_TheScenariosOnEveryTool(t *testing.T) {
	for name, sub := range subjects(t) {
		t.Run(name, func(t *testing.T) {
			s := service.Start(t, sub.configuration)
			for i, c := range scenarios {
				if c.slow && sub.slow == "" {
					continue
				}
				t.Run(c.name, func(t *testing.T) {
					run := fmt.Sprint("r", i)
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

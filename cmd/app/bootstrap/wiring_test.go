package bootstrap

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/agenttoken"
	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/toolset"
	"github.com/toolboundary/toolboundary/test/servers"
)

// keys are what every configuration of these tests begins with.
const keys = `server: {listen: "127.0.0.1:0"}
auth:
  harness_keys: [{name: tests, key_env: HARNESS_KEY}]
  token_keys: [{id: k1, key_env: TOKEN_KEY}]
`

// configured reads a configuration; env adds to the environment of the keys.
func configured(t *testing.T, text string, env map[string]string, kinds ...config.Kind) config.Config {
	t.Helper()
	c, err := config.Parse([]byte(keys+text), func(name string) (string, bool) {
		switch name {
		case "HARNESS_KEY":
			return "harness-key-of-the-wiring-tests", true
		case "TOKEN_KEY":
			return strings.Repeat("k", 32), true
		}
		value, ok := env[name]
		return value, ok
	}, config.WithKinds(kinds...))
	require.NoError(t, err)
	return c
}

// fakes is a builder of the tool probe, whose executor is scripted.
func fakes(toolset.Deps) (toolset.Set, error) {
	schema := json.RawMessage(`{"type":"object"}`)
	about := tool.Description{Name: "probe", ReadOnly: true, InputSchema: schema, OutputSchema: schema}
	return toolset.Set{Entries: []toolset.Entry{
		{Executor: fake.NewExecutor(about, tool.Plan{}), Projector: fake.Projector{}},
	}}, nil
}

var harness = application.Caller{Harness: "tests"}

// served is what the tests look at.
type served struct {
	fx.In

	Service   *application.Service
	Catalogue *application.Catalogue
	Store     ports.Store
	Tokens    *agenttoken.Tokens
	Handlers  handlers
}

// start starts the service's graph and stops it when the test ends. more are options of fx.
func start(t *testing.T, c config.Config, options []Option, more ...fx.Option) served {
	t.Helper()
	p := &parts{version: "test"}
	for _, o := range options {
		o(p)
	}
	var s served
	app := fxtest.New(t, p.service(c, zap.NewNop()), fx.Invoke(watch, listen, func(in served) { s = in }),
		fx.Options(more...))
	app.RequireStart()
	t.Cleanup(app.RequireStop)
	return s
}

// call opens the run with every grant, if it is new, and makes one call as its agent.
func (s served) call(t *testing.T, id run.ID, toolName, request string) application.Result {
	t.Helper()
	_, token, err := s.Service.Open(t.Context(), harness, application.OpenRequest{RunID: id, Grants: s.Catalogue.All()})
	require.NoError(t, err)
	agent, err := s.Service.Authenticate(token)
	require.NoError(t, err)
	return s.Service.Invoke(t.Context(), agent,
		application.Call{RunID: id, ToolCallID: "call_1", ToolName: toolName, Request: json.RawMessage(request)})
}

// get returns the status and the body of a path.
func (s served) get(path string) (int, string) {
	w := httptest.NewRecorder()
	s.Handlers.API.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

func TestTheGraphsAreComplete(t *testing.T) {
	p := &parts{version: "test"}
	require.NoError(t, fx.ValidateApp(p.commandLine(
		cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}),
		fx.Invoke(func(cli.Functions, ports.Clock) {})))
	require.NoError(t, fx.ValidateApp(p.service(config.Default(), zap.NewNop()),
		fx.Invoke(watch, listen, func(served) {})))
}

func TestWiringMemoryAndFakes(t *testing.T) {
	s := start(t, configured(t, "", nil), []Option{WithTools(fakes)})
	res := s.call(t, "r1", "probe", `{"answer":["x"]}`)
	require.Nil(t, res.Fault)
	require.JSONEq(t, `{"items":["x"],"truncated":false}`, string(res.AgentResult))
	record, err := s.Service.Record(t.Context(), harness, "r1", "call_1")
	require.NoError(t, err)
	require.JSONEq(t, `["x"]`, string(record.RawResponse))

	code, body := s.get("/readyz")
	require.Equal(t, http.StatusOK, code)
	require.JSONEq(t, `{"status":"ready","data_sources_down":0}`, body)
	_, page := s.get("/metrics")
	for _, name := range []string{
		"toolboundary_tool_calls_in_flight 0\n", "go_goroutines ", "process_start_time_seconds ",
		`toolboundary_invocations_total{code="",evidence_status="EVIDENCE_FOUND",recorded="true",status="READY",tool_name="probe"} 1`,
	} {
		require.Contains(t, page, name)
	}
	code, _ = s.get("/mcp")
	require.Equal(t, http.StatusUnauthorized, code, "the MCP server answers")
}

func TestWiringRedisAndMySQL(t *testing.T) {
	db, redis := servers.SharedMariaDB(t), servers.Redis(t)
	db.Load(t, "CREATE DATABASE wired; CREATE TABLE wired.t (id INT PRIMARY KEY); INSERT INTO wired.t VALUES (7)")
	user, password := db.Account(t, "SELECT ON wired.*")
	text := fmt.Sprintf(`store: {kind: redis, redis: {addrs: [%q], key_prefix: "wired:"}}
data_sources:
  shop: {address: %q, user_env: SHOP_USER, password_env: SHOP_PASSWORD, default_schema: wired, allow: {wired.t: [id]}}
`, redis.Addr, db.Addr)
	c := configured(t, text, map[string]string{"SHOP_USER": user, "SHOP_PASSWORD": password})
	s := start(t, c, nil)
	res := s.call(t, "r1", "mysql_query", `{"data_source":"shop","sql":"SELECT id FROM t"}`)
	require.Nil(t, res.Fault)
	require.Contains(t, string(res.AgentResult), `"rows":[[7]]`)
	res = s.call(t, "r2", "mysql_schema", `{"data_source":"shop"}`)
	require.Nil(t, res.Fault)
	require.Contains(t, string(res.AgentResult), `"rows":[["t","id"]]`)

	another := start(t, c, nil)
	found, err := another.Service.Result(t.Context(), harness, "r1", "call_1")
	require.NoError(t, err, "the store is shared")
	require.Contains(t, string(found.AgentResult), `"rows":[[7]]`)

	_, body := s.get("/readyz")
	require.JSONEq(t, `{"status":"ready","data_sources_down":0}`, body)
	away := servers.Proxy(t, db.Addr)
	away.Refuse()
	c = configured(t, strings.ReplaceAll(text, db.Addr, away.Addr),
		map[string]string{"SHOP_USER": user, "SHOP_PASSWORD": password})
	code, body := start(t, c, nil).get("/readyz")
	require.Equal(t, http.StatusOK, code)
	require.JSONEq(t, `{"status":"degraded","data_sources_down":1}`, body)
}

// metricsAPI is a Prometheus that finds nothing and keeps the times at which it was asked.
func metricsAPI(t *testing.T) (url string, asked <-chan string) {
	t.Helper()
	times := make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		times <- r.FormValue("time")
		fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
	}))
	t.Cleanup(s.Close)
	return s.URL, times
}

func TestWiringAReplacedClock(t *testing.T) {
	noon := time.Date(2031, 5, 6, 12, 0, 0, 0, time.UTC)
	clock := fake.NewClock(noon)
	replaced := fx.Replace(fx.Annotate(clock, fx.As(new(ports.Clock))))
	api, asked := metricsAPI(t)
	dir := t.TempDir()
	before, after := noon.Add(-time.Minute).Format(time.RFC3339), noon.Add(time.Minute).Format(time.RFC3339)
	log := filepath.Join(dir, "app.log")
	require.NoError(t, os.WriteFile(log, fmt.Appendf(nil, "%s one\n%s two\n", before, after), 0o600))
	require.NoError(t, os.Chtimes(log, noon, noon.Add(time.Minute)))
	var given ports.Clock
	outside := WithTools(func(d toolset.Deps) (toolset.Set, error) {
		given = d.Clock
		return toolset.Set{}, nil
	})
	s := start(t, configured(t, fmt.Sprintf(`data_sources:
  metrics: {kind: prometheus, url: %q, metrics: [up]}
  logs: {kind: logs, root: %q, files: [app.log], time_pattern: '^\S+', time_layout: rfc3339}
`, api, dir), nil), []Option{outside}, replaced)

	require.Equal(t, noon, given.Now(), "an outside builder gets it")
	r, token, err := s.Service.Open(t.Context(), harness,
		application.OpenRequest{RunID: "r1", Grants: s.Catalogue.All()})
	require.NoError(t, err)
	require.Equal(t, noon, r.CreatedAt, "the store")
	res := s.call(t, "r2", "prometheus_query", `{"data_source":"metrics","query":"up"}`)
	require.Nil(t, res.Fault)
	seconds, err := strconv.ParseFloat(<-asked, 64)
	require.NoError(t, err)
	require.Equal(t, noon.Unix(), int64(seconds), "prometheus_query")
	res = s.call(t, "r3", "log_search", `{"data_source":"logs","start":"now-30s"}`)
	require.Nil(t, res.Fault)
	require.Contains(t, string(res.AgentResult), `"matched":1`, "log_search")
	require.Contains(t, string(res.AgentResult), "two")

	clock.Advance(48 * time.Hour)
	_, err = s.Service.Authenticate(token)
	require.Error(t, err, "the token has expired")
	_, err = s.Service.Find(t.Context(), harness, "r1")
	require.Error(t, err, "the run is forgotten")
	require.Equal(t, noon.Add(48*time.Hour), given.Now())
}

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
	"github.com/toolboundary/toolboundary/test/service"
)

// entry is one line of the corpus.
type entry struct {
	ID      string            `json:"id"`
	SQL     string            `json:"sql"`
	Params  []json.RawMessage `json:"params"`
	Verdict string            `json:"verdict"`
	Reason  string            `json:"reason"`
	Why     string            `json:"why"`
}

// accepted is what the design decides: see the SQL guard's own corpus test.
func (e entry) accepted() bool {
	lost := strings.Contains(e.Why, "[alias-hides-hidden]") ||
		strings.Contains(e.Why, "[ast-lost]") && !strings.Contains(e.SQL, "||")
	return e.Verdict == "accept" || lost
}

func corpus(t testing.TB) []entry {
	t.Helper()
	data, err := os.ReadFile(corpusDir + "handed.jsonl")
	require.NoError(t, err)
	var entries []entry
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var e entry
		require.NoError(t, json.Unmarshal(lines.Bytes(), &e), lines.Text())
		entries = append(entries, e)
	}
	require.NoError(t, lines.Err())
	require.Len(t, entries, 633)
	return entries
}

// queryArgs are the arguments of query for an entry; the statement comes from standard input,
// where it may be anything.
func (e entry) queryArgs(flags ...string) []string {
	args := append([]string{"query", "--output", "json"}, flags...)
	args = append(args, "--", "-")
	for _, p := range e.Params {
		args = append(args, string(p))
	}
	return args
}

// tripwire listens where the query command would connect to, and counts who does.
func tripwire(t testing.TB) (connections *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	connections = &atomic.Int64{}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			conn.Close()
		}
	}()
	host, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	queryEnv(t, host+":"+port, "reader", "canary-query-password", "shop")
	return connections
}

func queryEnv(t testing.TB, address, user, password, schema string) {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	t.Setenv("TOOLBOUNDARY_QUERY_HOST", host)
	t.Setenv("TOOLBOUNDARY_QUERY_PORT", port)
	t.Setenv("TOOLBOUNDARY_QUERY_USER", user)
	t.Setenv("TOOLBOUNDARY_QUERY_PASSWORD", password)
	t.Setenv("TOOLBOUNDARY_QUERY_SCHEMA", schema)
}

// S43: the 40 worst of the corpus are refused by query before a connection is opened, with an
// allowlist and without.
func TestQueryRefusesTheWorstWithoutAConnectionS43(t *testing.T) {
	text, err := os.ReadFile("testdata/worst.txt")
	require.NoError(t, err)
	worst := strings.Fields(string(text))
	require.Len(t, worst, 40)
	byID := map[string]entry{}
	for _, e := range corpus(t) {
		byID[e.ID] = e
	}
	config, err := os.ReadFile(corpusDir + "config.yaml")
	require.NoError(t, err)
	ways := map[string][]string{
		"without an allowlist": nil,
		"with an allowlist":    {"--config", service.WriteFile(t, "c.yaml", string(config)), "--data-source", "shop"},
	}
	connections := tripwire(t)
	secrets := []string{"canary-query-password"}
	for _, id := range worst {
		e, ok := byID[id]
		require.True(t, ok, "the corpus has no statement %s", id)
		for way, flags := range ways {
			t.Run(id+" "+way, func(t *testing.T) { e.refused(t, secrets, flags...) })
		}
	}
	require.Zero(t, connections.Load(), "a refused statement opened a connection")

	// The tripwire works: what is accepted connects.
	r := command(t, "SELECT id FROM customers", secrets, "query", "-")
	require.Equal(t, 1, r.Code, "%s%s", r.Out, r.Stderr)
	require.Contains(t, r.Stderr, "DATA_SOURCE_UNAVAILABLE")
	require.Positive(t, connections.Load())
}

// refused runs the statement through query, which must reject it.
func (e entry) refused(t *testing.T, secrets []string, flags ...string) {
	t.Helper()
	r := command(t, e.SQL, secrets, e.queryArgs(flags...)...)
	require.Equal(t, 1, r.Code, "%s%s", r.Out, r.Stderr)
	require.Contains(t, r.Out, `"code":"QUERY_REJECTED"`, r.Stderr)
}

// S43: with an allowlist every reject of the corpus is refused before a connection is opened.
func TestQueryAppliesTheAllowlistS43(t *testing.T) {
	config, err := os.ReadFile(corpusDir + "config.yaml")
	require.NoError(t, err)
	path := service.WriteFile(t, "c.yaml", string(config))
	connections := tripwire(t)
	for _, e := range corpus(t) {
		if e.accepted() {
			continue
		}
		t.Run(e.ID, func(t *testing.T) { e.refused(t, nil, "--config", path, "--data-source", "shop") })
	}
	require.Zero(t, connections.Load(), "a rejected statement opened a connection")
}

// S43: nothing is committed, rows and time are bounded, and the account's password is not shown.
func TestQueryOnAServerS43(t *testing.T) {
	m := servers.SharedMariaDB(t)
	m.Load(t, `DROP DATABASE IF EXISTS e2e_query; CREATE DATABASE e2e_query; USE e2e_query;
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20)); INSERT INTO t VALUES (1,'v1'),(2,'v2'),(3,NULL),(4,'');
CREATE FUNCTION evil() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO t VALUES (99, 'x'); RETURN 1; END;
CREATE VIEW sneaky AS SELECT evil() AS x; CREATE VIEW slow AS SELECT SLEEP(20) AS x;`)
	user, password := m.Account(t, "ALL ON e2e_query.*")
	secrets := []string{password}
	queryEnv(t, m.Addr, user, password, "e2e_query")
	r := command(t, "", secrets, "query", "SELECT * FROM t WHERE id <= ? ORDER BY id", "4")
	require.Zero(t, r.Code, r.Stderr)
	require.Equal(t, "id  v\n1   v1\n2   v2\n3   NULL\n4\n4 row(s)\n", r.Out)

	r = command(t, "", secrets, "query", "SELECT id FROM t ORDER BY id", "--max-rows", "2", "-o", "csv")
	require.Zero(t, r.Code, r.Stderr)
	require.Equal(t, "id\r\n1\r\n2\r\n", r.Out)
	require.Contains(t, r.Stderr, "cut by rows")

	r = command(t, "", secrets, "query", "SELECT x FROM sneaky")
	require.Equal(t, 1, r.Code, "a write behind a view is refused by the session: %s", r.Out)
	r = command(t, "", secrets, "query", "SELECT COUNT(*) AS n FROM t", "-o", "json")
	require.JSONEq(t, `{"columns":["n"],"rows":[[4]],"returned":1,"truncated":false}`, r.Out)

	r = command(t, "", secrets, "query", "SELECT x FROM slow", "--timeout", "300ms")
	require.Equal(t, 1, r.Code, "%s%s", r.Out, r.Stderr)
	require.Contains(t, r.Stderr, "EXECUTION_TIMEOUT")
	require.Eventually(t, func() bool {
		sleeps := func(s servers.Statement) bool { return strings.Contains(s.Info, "SLEEP") }
		return !slices.ContainsFunc(m.Processlist(t), sleeps)
	}, 20*time.Second, 10*time.Millisecond, "the statement is stopped on the server")

	r = command(t, "", secrets, "query", "SELECT nope FROM t")
	require.Equal(t, 1, r.Code, "%s%s", r.Out, r.Stderr)
	require.Contains(t, r.Stderr, "There is no such column. (server error 1054)")
	t.Setenv("TOOLBOUNDARY_QUERY_PASSWORD", "canary-wrong")
	r = command(t, "", append(secrets, "canary-wrong", user), "query", "SELECT 1")
	require.Equal(t, 1, r.Code, "%s%s", r.Out, r.Stderr)
	require.Contains(t, r.Stderr, "LOGIN")
}

// What allowlist grants prints can be executed, every accepted statement of the corpus can be
// executed under that account, through query, and nothing beside the allowlist can.
func TestGrantsEnforceTheAllowlist(t *testing.T) {
	m := servers.MariaDB(t, "--skip-ssl") // not the shared one: the corpus fixes the names of the schemas
	config := corpusOn(t, m)
	grants := command(t, "", nil,
		"allowlist", "grants", "--config", config, "--data-source", "shop", "--account", "least")
	require.Zero(t, grants.Code, grants.Stderr)
	const password = `canary '\" password`
	for range 2 { // it can be repeated
		m.Load(t, "SET @password = 'canary ''\\\\\" password';\n"+grants.Out)
	}
	queryEnv(t, m.Addr, "least", password, "shop")
	secrets := []string{password}
	for _, e := range corpus(t) {
		if e.Verdict != "accept" {
			continue
		}
		t.Run(e.ID, func(t *testing.T) {
			r := command(t, e.SQL, secrets, e.queryArgs("--config", config, "--data-source", "shop")...)
			require.Zero(t, r.Code, "%s%s\n%.300s", r.Out, r.Stderr, e.SQL)
		})
	}
	for _, hidden := range []string{
		"SELECT password_hash FROM customers", "SELECT * FROM customers", "SELECT v FROM secrets",
		"SELECT id FROM v_customer_pii", "SELECT supplier_cost FROM products",
	} {
		t.Run(hidden, func(t *testing.T) {
			r := command(t, "", secrets, "query", hidden)
			require.Equal(t, 1, r.Code, "%s%s", r.Out, r.Stderr)
			require.Regexp(t, `server error 114[23]`, r.Stderr)
		})
	}
}

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
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
	lost := strings.Contains(e.Why, "[alias-hides-hidden]") || strings.Contains(e.Why, "[ast-lost]") && !strings.Contains(e.SQL, "||")
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
		require.NoError(t, json.Unmarshal(lines.Bytes(), &e))
		entries = append(entries, e)
	}
	require.NoError(t, lines.Err())
	require.Len(t, entries, 633)
	return entries
}

// queryArgs are the arguments of query for an entry; the statement stands on standard input,
// where it may hold anything.
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
	allowlist := []string{"--config", write(t, "c.yaml", string(config)), "--data-source", "shop"}
	connections := tripwire(t)
	secrets := []string{"canary-query-password"}
	for _, id := range worst {
		e, ok := byID[id]
		require.True(t, ok, id)
		for _, flags := range [][]string{nil, allowlist} {
			r := command(t, e.SQL, secrets, e.queryArgs(flags...)...)
			require.Equal(t, 1, r.code, "%s %v: %s%s", id, flags, r.out, r.stderr)
			require.Contains(t, r.out, `"code":"QUERY_REJECTED"`, id)
		}
	}
	require.Zero(t, connections.Load(), "a refused statement opened a connection")

	// The tripwire works: what is accepted connects.
	r := command(t, "SELECT id FROM customers", secrets, "query", "-")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.stderr, "DATA_SOURCE_UNAVAILABLE")
	require.Positive(t, connections.Load())
}

// S43: with an allowlist every reject of the corpus is refused before a connection is opened.
func TestQueryAppliesTheAllowlistS43(t *testing.T) {
	config, err := os.ReadFile(corpusDir + "config.yaml")
	require.NoError(t, err)
	path := write(t, "c.yaml", string(config))
	connections := tripwire(t)
	refused := 0
	for _, e := range corpus(t) {
		if e.accepted() {
			continue
		}
		refused++
		r := command(t, e.SQL, nil, e.queryArgs("--config", path, "--data-source", "shop")...)
		require.Equal(t, 1, r.code, "%s: %s%s", e.ID, r.out, r.stderr)
		require.Contains(t, r.out, `"code":"QUERY_REJECTED"`, "%s: %s", e.ID, r.stderr)
	}
	require.Zero(t, connections.Load())
	t.Logf("%d statements refused without a connection", refused)
}

// S43: nothing is committed, rows and time are bounded, and the account's password shows nowhere.
func TestQueryOnAServerS43(t *testing.T) {
	m := servers.SharedMariaDB(t)
	m.Load(t, `DROP DATABASE IF EXISTS e2e_query; CREATE DATABASE e2e_query; USE e2e_query; CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20)); INSERT INTO t VALUES (1,'v1'),(2,'v2'),(3,NULL),(4,'');
CREATE FUNCTION evil() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO t VALUES (99, 'x'); RETURN 1; END;
CREATE VIEW sneaky AS SELECT evil() AS x; CREATE VIEW slow AS SELECT SLEEP(20) AS x;`)
	user, password := m.Account(t, "ALL ON e2e_query.*")
	secrets := []string{password}
	queryEnv(t, m.Addr, user, password, "e2e_query")
	r := command(t, "", secrets, "query", "SELECT * FROM t WHERE id <= ? ORDER BY id", "4")
	require.Zero(t, r.code, r.stderr)
	require.Equal(t, "id  v\n1   v1\n2   v2\n3   NULL\n4\n4 row(s)\n", r.out)

	r = command(t, "", secrets, "query", "SELECT id FROM t ORDER BY id", "--max-rows", "2", "-o", "csv")
	require.Zero(t, r.code)
	require.Equal(t, "id\r\n1\r\n2\r\n", r.out)
	require.Contains(t, r.stderr, "cut by rows")

	r = command(t, "", secrets, "query", "SELECT x FROM sneaky")
	require.Equal(t, 1, r.code, "a write behind a view is refused by the session: %s", r.out)
	r = command(t, "", secrets, "query", "SELECT COUNT(*) AS n FROM t", "-o", "json")
	require.JSONEq(t, `{"columns":["n"],"rows":[[4]],"returned":1,"truncated":false}`, r.out)

	r = command(t, "", secrets, "query", "SELECT x FROM slow", "--timeout", "300ms")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.stderr, "EXECUTION_TIMEOUT")
	for _, s := range m.Processlist(t) {
		require.NotContains(t, s.Info, "SLEEP", "the statement is stopped on the server")
	}

	r = command(t, "", secrets, "query", "SELECT nope FROM t")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.stderr, "There is no such column. (server error 1054)")
	t.Setenv("TOOLBOUNDARY_QUERY_PASSWORD", "canary-wrong")
	r = command(t, "", append(secrets, "canary-wrong", user), "query", "SELECT 1")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.stderr, "LOGIN")
}

// Must show 4 of the grants: what allowlist grants prints runs, the whole accept corpus runs under
// that account, through query, and nothing beside the allowlist does.
func TestGrantsEnforceTheAllowlist(t *testing.T) {
	m := servers.MariaDB(t, "--skip-ssl") // schemas of the corpus's own names, so a server of its own
	config := corpusOn(t, m)
	grants := command(t, "", nil, "allowlist", "grants", "--config", config, "--data-source", "shop", "--account", "least")
	require.Zero(t, grants.code, grants.stderr)
	const password = `canary '\" password`
	for range 2 { // it can be repeated
		m.Load(t, "SET @password = 'canary ''\\\\\" password';\n"+grants.out)
	}
	queryEnv(t, m.Addr, "least", password, "shop")
	secrets := []string{password}
	for _, flags := range [][]string{{"--config", config, "--data-source", "shop"}} {
		ran := 0
		for _, e := range corpus(t) {
			if e.Verdict != "accept" {
				continue
			}
			r := command(t, e.SQL, secrets, e.queryArgs(flags...)...)
			require.Zero(t, r.code, "%s: %s%s\n%.300s", e.ID, r.out, r.stderr, e.SQL)
			ran++
		}
		t.Logf("%d accepted statements ran under the account", ran)
	}
	for _, hidden := range []string{"SELECT password_hash FROM customers", "SELECT * FROM customers", "SELECT v FROM secrets", "SELECT id FROM v_customer_pii", "SELECT supplier_cost FROM products"} {
		r := command(t, "", secrets, "query", hidden)
		require.Equal(t, 1, r.code, hidden)
		require.Regexp(t, `server error 114[23]`, r.stderr, hidden)
	}
}

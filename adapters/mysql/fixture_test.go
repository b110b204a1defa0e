package mysql_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/toolboundary/toolboundary/adapters/mysql"
	"github.com/toolboundary/toolboundary/adapters/mysql/operator"
	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/test/servers"
)

// extra adds to the corpus's schema what only these tests need: statements that are slow, large
// or failing although the guard accepts them, and values of every type.
const extra = `
USE shop;
CREATE VIEW v_slow AS SELECT id, SLEEP(30) AS nap FROM customers WHERE id = 1;
CREATE VIEW v_busy AS SELECT SUM(seq % 7) AS nap FROM seq_1_to_100000000000;
CREATE VIEW v_large AS SELECT seq AS id, REPEAT('x', 10240) AS body FROM seq_1_to_100000;
CREATE VIEW v_giant AS SELECT REPEAT('x', 100 * 1024 * 1024) AS body FROM customers WHERE id = 1;
CREATE VIEW v_denied AS SELECT k FROM secrets;
CREATE TABLE odd (
  n INT PRIMARY KEY, ti TINYINT, tu TINYINT UNSIGNED, si SMALLINT, mi MEDIUMINT UNSIGNED, i INT, bi BIGINT, bu BIGINT UNSIGNED,
  de DECIMAL(65,30), fl FLOAT, dbl DOUBLE, bt BIT(10), yr YEAR,
  d DATE, dt DATETIME, dt6 DATETIME(6), ts TIMESTAMP(3) NULL, tm TIME, tm3 TIME(3),
  c CHAR(5), v VARCHAR(50), tx TEXT, l1 VARCHAR(20) CHARACTER SET latin1, en ENUM('a','b'), st SET('x','y','z'),
  bin BINARY(4), vb VARBINARY(10), bl BLOB, js JSON, ge POINT);
INSERT INTO odd (n, ti, tu, si, mi, i, bi, bu, de, fl, dbl, bt, yr, d, dt, dt6, ts, tm, tm3, c, v, tx, l1, en, st, bin, vb, bl, js, ge) VALUES
 (1, -128, 255, -32768, 16777215, -2147483648, -9223372036854775808, 18446744073709551615, '12345678901234567890123456789012345.123456789012345678901234567890',
  1.1, 1.7976931348623157e308, b'1010101010', 2155, '9999-12-31', '9999-12-31 23:59:59', '2024-02-29 23:59:59.123456', '2024-02-29 23:59:59.120', '-838:59:59', '838:59:58.999',
  'abcde', 'Ünï 😀 "q" \\ <&>', 'line\nline\ttab', 'café', 'b', 'x,z', x'00ff10', x'80', x'fffe', '{"a": [1.50, 9007199254740993], "b": null}', POINT(1, 2)),
 (2, 0, 0, 0, 0, 0, 9007199254740992, 9007199254740993, 0, -0.0, 5e-324, b'0', 1901, '0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00', NULL, '00:00:00', '00:00:00',
  '', '', '', '', 'a', '', x'', x'', '', '[]', NULL),
 (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (4, 1, 1, 1, 1, 1, -9007199254740993, 1, 1.5, 16777216, 1e21, b'1', 2000, '2024-00-00', '2024-01-02 03:04:05', '2024-01-02 03:04:05', '2024-01-02 03:04:05', '01:02:03', '-00:00:00.5',
  'a', 'a', 'a', 'a', 'a', 'x', x'01', x'01', 'a', '"s"', NULL);
`

// events are rows whose texts are not always numbers and times.
const events = `
USE shop;
CREATE TABLE ev (id INT PRIMARY KEY, at DATETIME NOT NULL, d DATE, ts TIMESTAMP NULL, lvl VARCHAR(10), code VARCHAR(20), n INT, f FLOAT, uid BINARY(16),
  city VARCHAR(40) CHARACTER SET latin1, ci1 VARCHAR(20) COLLATE utf8mb4_general_ci, ci2 VARCHAR(20) COLLATE utf8mb4_unicode_ci,
  KEY (at), KEY (d), KEY (code), KEY (n));
INSERT INTO ev VALUES
 (1, '2024-01-01 01:05:00', '2024-01-01', '2024-01-01 01:05:00', 'info', '5abc', 0, 0.7, UNHEX('c4ca4238a0b923820dcc509a6f75849b'), 'Köln', 'a', 'a'),
 (2, '2024-01-01 00:05:00', '2024-01-01', '2024-01-01 00:05:00', 'error', '7', 2, 0.5, UNHEX('c81e728d9d4c2f636f067f89cc14862c'), 'Paris', 'b', 'b'),
 (3, '2024-01-02 00:00:00', '2024-01-02', '2024-01-02 00:00:00', 'info', '2024-01-01T00:05:00Z', 3, 1.5, UNHEX('eccbc87e4b5ce2fe28308fd9f2a7baf3'), 'Bonn', 'c', 'c');
CREATE TABLE texts (id INT PRIMARY KEY, t VARCHAR(20));
INSERT INTO texts SELECT seq, CONCAT('row', seq) FROM seq_1_to_2000;
`

var oddColumns = strings.Fields("n ti tu si mi i bi bu de fl dbl bt yr d dt dt6 ts tm tm3 c v tx l1 en st bin vb bl js ge")

var loadOnce sync.Once

// shop returns a server with the corpus's schema and extra, loaded once for this package.
func shop(t testing.TB) *servers.MySQL {
	t.Helper()
	m := servers.SharedMariaDB(t)
	loadOnce.Do(func() { load(t, m) })
	return m
}

func load(t testing.TB, m *servers.MySQL) {
	t.Helper()
	schema, err := os.ReadFile("sqlguard/testdata/schema.sql")
	require.NoError(t, err)
	m.Load(t, string(schema))
	m.Load(t, "SET NAMES utf8mb4; SET SESSION sql_mode = 'STRICT_TRANS_TABLES', time_zone = '+00:00';"+extra+events)
}

func policy() sqlguard.Policy {
	table := func(schema, name string, columns ...string) sqlguard.Table {
		t := sqlguard.Table{Schema: schema, Name: name}
		for _, c := range columns {
			t.Columns = append(t.Columns, sqlguard.Column{Name: c, Sensitive: c == "email"})
		}
		return t
	}
	return sqlguard.Policy{DefaultSchema: "shop", MaxRows: 200000, Tables: []sqlguard.Table{
		table("shop", "customers", "id", "name", "email", "country", "created_at", "vip"),
		table("shop", "orders", "id", "customer_id", "status", "total", "placed_at", "note"),
		table("archive", "orders", "id", "customer_id", "status", "total", "placed_at"),
		table("shop", "v_slow", "id", "nap"), table("shop", "v_busy", "nap"), table("shop", "v_large", "id", "body"),
		table("shop", "v_giant", "body"),
		table("shop", "v_denied", "k"), table("shop", "secrets", "k"), table("shop", "odd", oddColumns...),
		table("shop", "ev", "id", "at", "d", "ts", "lvl", "code", "n", "f", "uid", "city", "ci1", "ci2"), table("shop", "texts", "id", "t"),
	}}
}

func guard(t testing.TB, p sqlguard.Policy) *sqlguard.Guard {
	t.Helper()
	g, err := sqlguard.New(p)
	require.NoError(t, err)
	return g
}

// grants let the account read what the policy allows, but neither shop.secrets nor v_denied.
var grants = []string{
	"SELECT ON archive.*", "SELECT ON shop.customers", "SELECT ON shop.orders", "SELECT ON shop.v_slow",
	"SELECT ON shop.v_busy", "SELECT ON shop.v_large",
	"SELECT ON shop.v_giant", "SELECT ON shop.odd", "SELECT ON shop.ev", "SELECT ON shop.texts",
}

// rig is a tool on a server, with its log.
type rig struct {
	*mysql.Executor
	logs     *observer.ObservedLogs
	user     string
	password string
}

type tweak func(*mysql.Source, *mysql.Options)

// newRig returns mysql_query over one source, shop, with an account of its own.
func newRig(t testing.TB, m *servers.MySQL, tweaks ...tweak) *rig {
	t.Helper()
	user, password := m.Account(t, grants...)
	return rigFor(t, m.Addr, user, password, tweaks...)
}

// rigFor returns a rig for the account. It is patient: a test of a timeout sets that timeout.
func rigFor(t testing.TB, addr, user, password string, tweaks ...tweak) *rig {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	source := mysql.Source{Source: server.Source{
		ID: "shop", Address: addr, QueryTimeout: 20 * time.Second,
		Account: func() (string, string, error) { return user, password, nil },
	}, Guard: guard(t, policy())}
	options := mysql.Options{SlotWait: patience, ConnectTimeout: patience, KillTimeout: patience}
	for _, f := range tweaks {
		f(&source, &options)
	}
	made, err := mysql.New([]mysql.Source{source}, options, zap.New(core))
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, made.Close(ctx))
	})
	return &rig{made, logs, user, password}
}

// operator returns the operator's view of the source's sessions.
func (r *rig) operator() *operator.Database { return operator.New(r.Pool("shop")) }

var scope = tool.Scope{DataSources: []string{"shop"}}

func request(t testing.TB, sql string, params ...any) json.RawMessage {
	t.Helper()
	members := map[string]any{"data_source": "shop", "sql": sql}
	if params != nil {
		members["params"] = params
	}
	b, err := json.Marshal(members)
	require.NoError(t, err)
	return b
}

func (r *rig) plan(t testing.TB, sql string, params ...any) tool.Plan {
	t.Helper()
	p, err := r.Prepare(request(t, sql, params...), scope)
	require.NoError(t, err)
	return p
}

// ask runs a statement and returns its rows.
func (r *rig) ask(t testing.TB, sql string, params ...any) [][]json.RawMessage {
	t.Helper()
	raw, err := r.Execute(t.Context(), r.plan(t, sql, params...), 16<<20)
	require.NoError(t, err, "%s", sql)
	var set struct{ Rows [][]json.RawMessage }
	require.NoError(t, json.Unmarshal(raw, &set))
	return set.Rows
}

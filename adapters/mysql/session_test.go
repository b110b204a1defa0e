package mysql_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/mysql"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/test/servers"
)

func TestS35_TheSessionIsPinned(t *testing.T) {
	m := servers.MariaDB(t, "--init-connect=SET sql_mode='ANSI_QUOTES', time_zone='+05:00', autocommit=0, NAMES latin1", "--sql-mode=ORACLE", "--skip-character-set-client-handshake")
	load(t, m)
	r := newRig(t, m, func(s *mysql.Source, _ *mysql.Options) { s.SQLModeExtra = []string{"NO_ZERO_DATE"} })
	var got []string
	require.NoError(t, r.operator().Query(t.Context(), "SELECT @@sql_mode, @@time_zone, @@autocommit, @@tx_read_only, @@character_set_results, @@max_statement_time + 0",
		func(row []string) error { got = row; return nil }))
	require.Equal(t, []string{"STRICT_TRANS_TABLES,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION", "+00:00", "1", "1", "utf8mb4", "20"}, got)
	require.Equal(t, `"Søren Å"`, string(r.ask(t, "SELECT name FROM customers WHERE id = 7")[0][0]))
}

// What would change answers is pinned, whatever the server's configuration says.
func TestS35_WhatChangesAnswersIsPinned(t *testing.T) {
	m := servers.MariaDB(t)
	load(t, m)
	m.Load(t, "SET GLOBAL div_precision_increment=10, lc_time_names='de_DE', group_concat_max_len=10, tx_isolation='READ-UNCOMMITTED', default_week_format=3, "+
		"max_error_count=0, old_mode='ZERO_DATE_TIME_CAST', lc_messages='de_DE', default_regex_flags='DOTALL', "+
		"init_connect=\"SET sql_select_limit=1, sql_auto_is_null=1, sql_notes=1, system_versioning_asof='2001-01-01 00:00:00'\"")
	r := newRig(t, m, func(s *mysql.Source, _ *mysql.Options) { s.QueryTimeout = 5 * time.Second })
	got := map[string]string{}
	want := map[string]string{
		"div_precision_increment": "4", "lc_time_names": "en_US", "group_concat_max_len": "1048576", "tx_isolation": "REPEATABLE-READ",
		"default_week_format": "0", "max_error_count": "1024", "old_mode": "", "lc_messages": "en_US", "default_regex_flags": "",
		"sql_auto_is_null": "0", "sql_notes": "0", "system_versioning_asof": "DEFAULT", "lock_wait_timeout": "4",
	}
	for name := range want {
		require.NoError(t, r.operator().Query(t.Context(), "SELECT @@"+name, func(row []string) error { got[name] = row[0]; return nil }))
	}
	require.Equal(t, want, got)
	require.Equal(t, `"0.3333"`, string(r.ask(t, "SELECT 1 / 3 AS q FROM ev WHERE id = 1")[0][0]))
	require.Equal(t, `"Monday"`, string(r.ask(t, "SELECT DATE_FORMAT(at, '%W') AS day FROM ev WHERE id = 1")[0][0]))
	require.Len(t, r.ask(t, "SELECT id FROM ev"), 3)
}

// The grants are the last line; the read-only session is the one before it.
func TestS35_TheSessionReadsOnly(t *testing.T) {
	m := shop(t)
	user, password := m.Account(t, "ALL ON shop.*")
	r := rigFor(t, m.Addr, user, password)
	for _, write := range []string{"INSERT INTO shop.secrets VALUES ('a', 'b')", "CREATE TABLE shop.mine (a INT)", "UPDATE shop.customers SET vip = 1", "DROP TABLE shop.secrets"} {
		err := r.operator().Query(t.Context(), write, nil)
		require.Equal(t, fault.ExecutionFailed, fault.CodeOf(err), write)
		require.Equal(t, "POLICY_MISMATCH", fault.Of(err).Reason, write)
	}
}

func TestTheAccountIsChecked(t *testing.T) {
	m := shop(t)
	m.Load(t, "CREATE ROLE IF NOT EXISTS reader; GRANT SELECT ON shop.* TO reader; CREATE ROLE IF NOT EXISTS writer; GRANT INSERT ON shop.* TO writer")
	for name, c := range map[string]struct {
		grants []string
		after  string
		beyond []string
	}{
		"reads":           {grants: grants},
		"reads columns":   {grants: []string{"SELECT (id, name) ON shop.customers", "SELECT ON archive.*"}},
		"reads all":       {grants: []string{"SELECT ON *.*"}},
		"writes":          {grants: []string{"SELECT, INSERT, UPDATE (note) ON shop.orders"}, beyond: []string{"INSERT", "UPDATE"}},
		"writes globally": {grants: []string{"SELECT, FILE, PROCESS ON *.*"}, beyond: []string{"FILE", "PROCESS"}},
		"executes":        {grants: []string{"SELECT ON shop.*", "EXECUTE ON FUNCTION shop.peek_secret"}, beyond: []string{"EXECUTE"}},
		"everything":      {grants: []string{"ALL ON shop.*"}, beyond: []string{"ALL PRIVILEGES"}},
		"grants":          {grants: []string{"SELECT ON shop.*"}, after: "GRANT SELECT ON shop.* TO '%s'@'%%' WITH GRANT OPTION", beyond: []string{"GRANT OPTION"}},
		"a reading role":  {grants: []string{"SELECT ON shop.*"}, after: "GRANT reader TO '%[1]s'@'%%'; SET DEFAULT ROLE reader FOR '%[1]s'@'%%'"},
		"a writing role":  {grants: []string{"SELECT ON shop.*"}, after: "GRANT writer TO '%[1]s'@'%%'; SET DEFAULT ROLE writer FOR '%[1]s'@'%%'", beyond: []string{"INSERT"}},
	} {
		t.Run(name, func(t *testing.T) {
			user, password := m.Account(t, c.grants...)
			if c.after != "" {
				m.Load(t, fmt.Sprintf(c.after, user))
			}
			lenient := rigFor(t, m.Addr, user, password)
			report, err := lenient.operator().Inspect(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.beyond, report.BeyondRead)
			require.Equal(t, "MariaDB", report.Product)
			warnings := lenient.logs.FilterMessage("the account may do more than SELECT").Len()
			require.Equal(t, len(c.beyond) > 0, warnings == 1)
			lenient.safe(t, nil)

			strict := rigFor(t, m.Addr, user, password, func(s *mysql.Source, _ *mysql.Options) { s.RequireReadOnlyAccount = true })
			err = strict.operator().Ping(t.Context())
			if len(c.beyond) == 0 {
				require.NoError(t, err)
				return
			}
			require.Equal(t, fault.DataSourceUnavailable, fault.CodeOf(err))
			require.Equal(t, "ACCOUNT_NOT_READ_ONLY", fault.Of(err).Reason)
			strict.safe(t, err)
		})
	}
}

// A bound on one statement's rows must not be left to the next one.
func TestABoundEndsWithItsStatement(t *testing.T) {
	r := newRig(t, shop(t), func(s *mysql.Source, _ *mysql.Options) { connections(s, 1) })
	_, err := r.Execute(t.Context(), r.plan(t, simple), 1<<10)
	require.NoError(t, err)
	n := 0
	require.NoError(t, r.operator().Query(t.Context(), "SELECT body FROM shop.v_large LIMIT 100", func([]string) error { n++; return nil }))
	require.Equal(t, 100, n)
}

// What the server says of a statement that the guard accepts.
func TestS23_ServerErrorsBecomeReasons(t *testing.T) {
	r := newRig(t, shop(t))
	for sql, reason := range map[string]string{
		"SELECT 18446744073709551615 * id FROM orders":                      "OUT_OF_RANGE",
		"SELECT CONCAT(l1, v) FROM odd WHERE l1 = CAST(v AS CHAR)":          "",
		"SELECT k FROM secrets":                                             "POLICY_MISMATCH",
		"SELECT k FROM v_denied":                                            "POLICY_MISMATCH",
		"SELECT id FROM customers WHERE GREATEST(name, country) = name":     "",
		"SELECT bi - bu FROM odd":                                           "OUT_OF_RANGE",
		"SELECT id FROM orders WHERE id = 1 / 0 OR DATE('nonsense') = 'no'": "VALUE_INVALID",
		"SELECT id FROM orders WHERE id = 1 / 0":                            "PARTIAL_ANSWER",
	} {
		raw, err := r.Execute(t.Context(), r.plan(t, sql), 1<<20)
		if reason == "" {
			require.NoError(t, err, sql)
			require.NotNil(t, raw)
			continue
		}
		require.Equal(t, fault.ExecutionFailed, fault.CodeOf(err), sql)
		require.Equal(t, reason, fault.Of(err).Reason, sql)
		require.NotEmpty(t, fault.Of(err).Detail)
		r.safe(t, err, "secrets", "v_denied", "shop.")
	}
	alarms := r.logs.FilterLevelExact(zap.ErrorLevel)
	require.Equal(t, 2, alarms.Len(), "guard and grants disagree about secrets and v_denied")
	require.Len(t, r.ask(t, simple), 1, "the session is still good")
}

// Two round trips a call: prepare and execute. The close is not answered, and nothing is set
// again on a session that lies in the pool.
func TestACallIsTwoRoundTrips(t *testing.T) {
	m := shop(t)
	user, password := m.Account(t, grants...)
	through := newRelay(t, m.Addr)
	r := rigFor(t, through.addr, user, password)
	r.ask(t, simple)
	require.Empty(t, r.Ready(t.Context())) // its answer means that what was sent before has passed the relay
	first := through.take()
	require.LessOrEqual(t, first[comQuery], 7, "pinning a session: %v", first)
	for range 10 {
		r.ask(t, "SELECT name FROM customers WHERE id = ?", 3)
	}
	require.Empty(t, r.Ready(t.Context()))
	require.Equal(t, map[byte]int{comStmtPrepare: 10, comStmtExecute: 10, comStmtClose: 10, comPing: 1}, through.take())
}

func TestS37_S38_MoreRowsThanAreAllowed(t *testing.T) {
	m := shop(t)
	p := policy()
	p.MaxRows = 5
	through := newRelay(t, m.Addr)
	r := newRig(t, m, func(s *mysql.Source, _ *mysql.Options) {
		s.Guard, s.MaxCell, s.Address = guard(t, p), 100, through.addr
	})
	for sql, more := range map[string]string{
		"SELECT id FROM customers ORDER BY id":         "true",
		"SELECT id FROM customers ORDER BY id LIMIT 5": "false",
		"SELECT id FROM customers WHERE id <= 5":       "false",
		"SELECT id FROM customers WHERE id <= 6":       "true",
	} {
		plan := r.plan(t, sql)
		require.Equal(t, tool.Bounds{Rows: 5, CellBytes: 100}, plan.Bounds)
		raw, err := r.Execute(t.Context(), plan, 1<<20)
		require.NoError(t, err)
		require.Contains(t, string(raw), `"rows":[[1],[2],[3],[4],[5]],"more":`+more, sql)
	}
	require.LessOrEqual(t, through.take()[comQuery], 7, "one session did it all: nothing had to be stopped")
}

func TestS41_RawHoldsSensitiveValuesAndSaysSo(t *testing.T) {
	r := newRig(t, shop(t))
	raw, err := r.Execute(t.Context(), r.plan(t, "SELECT email AS harmless, id FROM customers WHERE id = 1"), 1<<20)
	require.NoError(t, err)
	const statement = "SELECT `customers`.`email` AS `harmless`, `customers`.`id` FROM `shop`.`customers` WHERE (`customers`.`id` = 1) LIMIT 200001"
	const executed = "SELECT `_t1`.`email` AS `_o1`, `_t1`.`id` AS `_o2` FROM `shop`.`customers` AS `_t1` WHERE (`_t1`.`id` = 1) ORDER BY `_o2` LIMIT 200001"
	require.JSONEq(t, `{
		"asked": {"data_source": "shop", "statement": "`+statement+`"},
		"executed": "`+executed+`",
		"columns": [
			{"name": "harmless", "type": "VARCHAR", "sources": ["shop.customers.email"], "sensitive": true},
			{"name": "id", "type": "UNSIGNED INT", "sources": ["shop.customers.id"]}
		],
		"rows": [["user01@mail.example", 1]],
		"more": false
	}`, string(raw))
	r.safe(t, nil, "user01@mail.example")
}

// Limits see the same bytes whatever a sensitive column holds: a text of any length, or NULL.
func TestS40_SensitiveCellsCountAlike(t *testing.T) {
	r := newRig(t, shop(t), func(s *mysql.Source, _ *mysql.Options) { s.Guard = guard(t, sensitive("odd", "v")) })
	execute := func(row int, limit limits.RawBytes) (json.RawMessage, error) {
		return r.Execute(t.Context(), r.plan(t, "SELECT v, 'padding' AS p, v AS again FROM odd WHERE n = ?", row), limit)
	}
	first, err := execute(1, 1<<20)
	require.NoError(t, err)
	values := map[string]bool{}
	for row := 1; row <= 4; row++ { // a long text, an empty one, NULL, and "a"
		raw, err := execute(row, 1<<20)
		require.NoError(t, err)
		require.Len(t, raw, len(first), "row %d", row)
		values[strings.Join(strings.Fields(string(raw)), "")] = true
		for limit := len(first) - 3; limit <= len(first); limit++ { // one limit lets all of them pass, or none
			_, err := execute(row, limits.RawBytes(limit))
			require.Equal(t, limit < len(first), fault.CodeOf(err) == fault.ResultTooLarge, "row %d with a limit of %d", row, limit)
		}
	}
	require.Len(t, values, 4)
}

// sensitive returns the policy with a column that is sensitive.
func sensitive(table, column string) sqlguard.Policy {
	p := policy()
	for _, t := range p.Tables {
		for i := range t.Columns {
			if t.Name == table && t.Columns[i].Name == column {
				t.Columns[i].Sensitive = true
			}
		}
	}
	return p
}

// A longer value cannot be counted alike: the call fails, whatever the limit.
func TestS40_ALongSensitiveCell(t *testing.T) {
	r := newRig(t, shop(t), func(s *mysql.Source, _ *mysql.Options) { s.Guard = guard(t, sensitive("v_large", "body")) })
	_, err := r.Execute(t.Context(), r.plan(t, "SELECT body FROM v_large WHERE id = 1"), 4<<20)
	require.Equal(t, fault.ResultTooLarge, fault.CodeOf(err))
	require.Contains(t, fault.Of(err).Detail, "longer than 1024 bytes")
	require.Len(t, r.ask(t, simple), 1)
}

func TestASourceWithoutAnAllowlistRefusesEverything(t *testing.T) {
	r := rigFor(t, "127.0.0.1:1", "u", "p", func(s *mysql.Source, _ *mysql.Options) { s.Guard = nil })
	_, err := r.Prepare(request(t, simple), scope)
	require.Equal(t, fault.QueryRejected, fault.CodeOf(err))
	require.Equal(t, "UNKNOWN_TABLE", fault.Of(err).Reason)
}

func TestS33_RefusalsCarryTheGuardsReason(t *testing.T) {
	r := rigFor(t, "127.0.0.1:1", "u", "p")
	_, err := r.Prepare(request(t, "SELECT ssn FROM customers"), scope)
	require.Equal(t, fault.QueryRejected, fault.CodeOf(err))
	require.Equal(t, "UNKNOWN_COLUMN", fault.Of(err).Reason)
	require.Contains(t, fault.Of(err).Detail, "ssn")
}

package mysql_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/mysql"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/test/servers"
)

// broken are tables that are there and cannot be read.
const broken = `
USE shop;
CREATE USER gone@'%' IDENTIFIED BY 'x'; GRANT SELECT ON shop.* TO gone@'%';
CREATE DEFINER=gone@'%' SQL SECURITY DEFINER VIEW orphan AS SELECT id FROM ev;
CREATE TABLE away (id INT PRIMARY KEY); ALTER TABLE away DISCARD TABLESPACE;
CREATE TABLE child (id INT PRIMARY KEY) ENGINE=MyISAM; CREATE TABLE merged (id INT PRIMARY KEY) ENGINE=MERGE UNION=(child); DROP TABLE child;
DROP USER gone@'%'; FLUSH TABLES;
`

// What is broken at the source has a reason for the agent, and a line with the server's error number
// and the statement for the operator.
func TestS23_WhatTheOperatorMustRepair(t *testing.T) {
	m := servers.MariaDB(t)
	load(t, m)
	m.Load(t, broken)
	p := policy()
	for _, name := range []string{"orphan", "away", "merged"} {
		p.Tables = append(p.Tables, sqlguard.Table{Schema: "shop", Name: name, Columns: []sqlguard.Column{{Name: "id"}}})
	}
	user, password := m.Account(t, "SELECT ON shop.*")
	r := rigFor(t, m.Addr, user, password, func(s *mysql.Source, _ *mysql.Options) { s.Guard = guard(t, p) })
	for table, c := range map[string]struct {
		reason string
		number uint16
	}{
		"orphan": {"POLICY_MISMATCH", 1045}, "away": {"TABLE_DAMAGED", 1814}, "merged": {"TABLE_DAMAGED", 1168},
	} {
		r.logs.TakeAll()
		_, err := r.Execute(t.Context(), r.plan(t, "SELECT id FROM "+table), 1<<20)
		require.Equal(t, fault.ExecutionFailed, fault.CodeOf(err), table)
		require.Equal(t, c.reason, fault.Of(err).Reason, table)
		require.Contains(t, fault.Of(err).Detail, "the operator has been told")
		lines := r.logs.FilterLevelExact(zap.ErrorLevel).All()
		require.Len(t, lines, 1, table)
		fields := lines[0].ContextMap()
		require.EqualValues(t, c.number, fields["mysql_error"], table)
		require.Contains(t, fields["statement"], "FROM `shop`.`"+table+"`")
		r.safe(t, err, "gone", "engine")
	}
	require.Len(t, r.ask(t, simple), 1)
}

// An agent's mistake is told to the operator, too, but not as an error.
func TestS23_AFailedStatementIsInTheLog(t *testing.T) {
	r := newRig(t, shop(t))
	_, err := r.Execute(t.Context(), r.plan(t, "SELECT bi - bu AS d FROM odd"), 1<<20)
	require.Equal(t, "OUT_OF_RANGE", fault.Of(err).Reason)
	require.Zero(t, r.logs.FilterLevelExact(zap.ErrorLevel).Len())
	fields := r.logs.FilterMessage("a statement failed").All()[0].ContextMap()
	require.EqualValues(t, 1690, fields["mysql_error"])
	require.Equal(t, "OUT_OF_RANGE", fields["reason"])
	require.Contains(t, fields["statement"], "`bi` - ")
}

func TestS23_LimitsOfTheServer(t *testing.T) {
	m := servers.MariaDB(t)
	load(t, m)
	fresh := func(t *testing.T) *rig {
		user, password := m.Account(t, grants...)
		return rigFor(t, m.Addr, user, password, func(s *mysql.Source, _ *mysql.Options) { s.QueryTimeout = 3 * time.Second })
	}
	t.Run("prepared statements", func(t *testing.T) {
		r := fresh(t)
		m.Load(t, "SET GLOBAL max_prepared_stmt_count = 0")
		r.fails(t, simple, fault.DataSourceBusy, "PREPARED_STATEMENTS")
		require.Equal(t, 1, r.logs.FilterLevelExact(zap.ErrorLevel).Len())
		m.Load(t, "SET GLOBAL max_prepared_stmt_count = 16382")
		require.Len(t, r.ask(t, simple), 1)
	})
	t.Run("queries of an hour", func(t *testing.T) {
		r := fresh(t)
		m.Load(t, "ALTER USER '"+r.user+"'@'%' WITH MAX_QUERIES_PER_HOUR 2")
		r.fails(t, simple, fault.DataSourceUnavailable, "HOURLY_LIMIT")
	})
	t.Run("connections of an account", func(t *testing.T) {
		r := fresh(t)
		m.Load(t, "ALTER USER '"+r.user+"'@'%' WITH MAX_USER_CONNECTIONS 1")
		other := rigFor(t, m.Addr, r.user, r.password)
		other.ask(t, simple)
		r.fails(t, simple, fault.DataSourceBusy, "SERVER_FULL")
	})
	t.Run("init_connect", func(t *testing.T) {
		r := fresh(t)
		m.Load(t, "SET GLOBAL init_connect = 'SET bogus = 1'")
		r.fails(t, simple, fault.DataSourceUnavailable, "INIT_CONNECT")
		m.Load(t, "SET GLOBAL init_connect = ''")
		require.Len(t, r.ask(t, simple), 1)
	})
	t.Run("a lock", func(t *testing.T) {
		r := fresh(t)
		conn, err := m.Admin(t).Conn(t.Context())
		require.NoError(t, err)
		defer conn.Close()
		_, err = conn.ExecContext(t.Context(), "LOCK TABLES shop.ev WRITE")
		require.NoError(t, err)
		r.fails(t, "SELECT id FROM ev", fault.ExecutionFailed, "LOCKED")
		_, err = conn.ExecContext(t.Context(), "UNLOCK TABLES")
		require.NoError(t, err)
		require.Len(t, r.ask(t, "SELECT id FROM ev"), 3)
	})
}

// What a limit is stands in the detail.
func TestS20_S36_LimitsNameTheirNumbers(t *testing.T) {
	m := shop(t)
	r := newRig(t, m, func(s *mysql.Source, _ *mysql.Options) { s.QueryTimeout = time.Second })
	_, err := r.Execute(t.Context(), r.plan(t, "SELECT nap FROM v_slow"), 1<<20)
	require.Equal(t, fault.ExecutionTimeout, fault.CodeOf(err))
	require.Equal(t, "a query may take 1s", fault.Of(err).Detail)
	_, err = newRig(t, m).Execute(t.Context(), r.plan(t, "SELECT body FROM v_large LIMIT 2"), 9999)
	require.Equal(t, fault.ResultTooLarge, fault.CodeOf(err))
	require.Contains(t, fault.Of(err).Detail, "the rows may take 9999 bytes")
}

// The advice for texts that cannot be compared works.
func TestS23_TheAdviceForCollationsWorks(t *testing.T) {
	r := newRig(t, shop(t))
	for _, c := range []struct {
		fails, works string
		rows         int
	}{
		{"SELECT id FROM ev WHERE city = '東京'", "SELECT id FROM ev WHERE CAST(city AS CHAR) = '東京'", 0},
		{"SELECT id FROM ev WHERE ci1 = ci2", "SELECT id FROM ev WHERE CAST(ci1 AS CHAR) = CAST(ci2 AS CHAR)", 3},
		{"SELECT id FROM ev WHERE city IN ('東京', 'Köln')", "SELECT id FROM ev WHERE CAST(city AS CHAR) IN ('東京', 'Köln')", 1},
	} {
		_, err := r.Execute(t.Context(), r.plan(t, c.fails), 1<<20)
		require.Equal(t, "COLLATION", fault.Of(err).Reason)
		require.Contains(t, fault.Of(err).Detail, "CAST(column AS CHAR)")
		got, status := r.answer(t, c.works)
		require.Len(t, got.Rows, c.rows, c.works)
		require.Equal(t, c.rows == 0, status == evidence.None)
	}
}

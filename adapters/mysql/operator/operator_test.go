package operator_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/mysql/operator"
	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/test/servers"
)

const schema = "CREATE DATABASE IF NOT EXISTS operated; CREATE TABLE IF NOT EXISTS operated.t (id INT PRIMARY KEY, " +
	"v TEXT); " +
	"REPLACE INTO operated.t VALUES (1, 'a'), (2, NULL), (3, 'c')"

// patience is how long a step may take on a busy machine.
const patience = 20 * time.Second

// open returns the database at addr for the account.
func open(t *testing.T, addr, user, password string) *operator.Database {
	t.Helper()
	pool, err := server.Open(server.Source{
		ID: "shop", Address: addr, QueryTimeout: patience,
		Account: func() (string, string, error) { return user, password, nil },
	}, server.Options{ConnectTimeout: patience, KillTimeout: patience}, zap.NewNop())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close(context.Background())) })
	return operator.New(pool)
}

func shop(t *testing.T, grants ...string) (m *servers.MySQL, user, password string) {
	t.Helper()
	m = servers.SharedMariaDB(t)
	m.Load(t, schema)
	user, password = m.Account(t, grants...)
	return m, user, password
}

func TestInspect(t *testing.T) {
	m, user, password := shop(t, "SELECT, INSERT ON operated.*")
	db := open(t, m.Addr, user, password)
	report, err := db.Inspect(t.Context())
	require.NoError(t, err)
	require.Equal(t, "MariaDB", report.Product)
	require.Contains(t, m.Version, report.Version)
	require.False(t, report.Encrypted)
	require.Equal(t, []string{"INSERT"}, report.BeyondRead)
	require.NoError(t, db.Ping(t.Context()))
}

func TestQuery(t *testing.T) {
	m, user, password := shop(t, "SELECT ON operated.*")
	db := open(t, m.Addr, user, password)
	var rows [][]string
	collect := func(row []string) error { rows = append(rows, row); return nil }
	require.NoError(t, db.Query(t.Context(), "SELECT id, v FROM operated.t ORDER BY id", collect))
	require.Equal(t, [][]string{{"1", "a"}, {"2", ""}, {"3", "c"}}, rows)

	enough := errors.New("enough")
	require.ErrorIs(t, db.Query(t.Context(), "SELECT id FROM operated.t", func([]string) error { return enough }),
		enough)

	err := db.Query(t.Context(), "SELECT nothing FROM operated.t", collect)
	require.Equal(t, fault.ExecutionFailed, fault.CodeOf(err))
	require.Equal(t, uint16(1054), server.ErrorNumber(err))

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- db.Query(ctx, "SELECT SLEEP(30)", collect) }()
	sleeping := func() bool {
		for _, s := range m.Processlist(t) {
			if s.User == user && strings.Contains(s.Info, "SLEEP(30)") {
				return true
			}
		}
		return false
	}
	require.Eventually(t, sleeping, patience, 10*time.Millisecond)
	cancel()
	require.Equal(t, fault.ExecutionCancelled, fault.CodeOf(<-ended))
	require.Eventually(t, func() bool { return !sleeping() }, patience, 10*time.Millisecond)
}

func TestAsk(t *testing.T) {
	m, user, password := shop(t, "ALL ON operated.*")
	db := open(t, m.Addr, user, password)
	raw, err := db.Ask(t.Context(), operator.Question{Schema: "operated", SQL: "SELECT id, v AS w FROM t ORDER BY id",
		MaxRows: 2}, 1<<20)
	require.NoError(t, err)
	var answer struct {
		Columns []struct{ Name string }
		Rows    [][]any
		More    bool
	}
	require.NoError(t, json.Unmarshal(raw, &answer))
	require.Equal(t, []struct{ Name string }{{"id"}, {"w"}}, answer.Columns)
	require.Equal(t, [][]any{{1.0, "a"}, {2.0, nil}}, answer.Rows)
	require.True(t, answer.More)

	for name, q := range map[string]struct {
		question operator.Question
		number   uint16
	}{
		"an unknown schema": {operator.Question{Schema: "no`such", SQL: "SELECT 1", MaxRows: 1}, 1044},
		"a write":           {operator.Question{Schema: "operated", SQL: "DELETE FROM t", MaxRows: 1}, 1792},
		"an unknown column": {operator.Question{Schema: "operated", SQL: "SELECT nothing FROM t", MaxRows: 1}, 1054},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := db.Ask(t.Context(), q.question, 1<<20)
			require.Equal(t, q.number, server.ErrorNumber(err), "%v", err)
		})
	}
}

func TestTheServersPromisesAreProved(t *testing.T) {
	m, user, password := shop(t, "ALL ON operated.*")
	db := open(t, m.Addr, user, password)
	byAccount, err := db.ProveReadOnly(t.Context(), "operated")
	require.NoError(t, err)
	require.False(t, byAccount, "the session refuses")
	require.NoError(t, db.ProveTimeLimit(t.Context()))
	require.NoError(t, db.ProveKill(t.Context()))

	// MariaDB looks at the session first; here the statement is one that the account may not run.
	_, user, password = shop(t)
	denied := servers.Rewriting(t, m.Addr, "DROP TABLE IF EXISTS ", "SELECT 1 FROM        ")
	byAccount, err = open(t, denied, user, password).ProveReadOnly(t.Context(), "operated")
	require.NoError(t, err)
	require.True(t, byAccount, "the account's privileges refuse first")
}

func TestBrokenPromisesAreFound(t *testing.T) {
	m, user, password := shop(t, "ALL ON operated.*")
	through := func(old, new string) *operator.Database {
		return open(t, servers.Rewriting(t, m.Addr, old, new), user, password)
	}
	t.Run("a write that is not refused", func(t *testing.T) {
		_, err := through("DROP TABLE IF EXISTS ", "SELECT 1 -- 12345678 ").ProveReadOnly(t.Context(), "operated")
		require.ErrorIs(t, err, operator.ErrWritable)
	})
	t.Run("a time limit that does not hold", func(t *testing.T) {
		err := through("max_statement_time = 0.300", "max_statement_time = 9.300").ProveTimeLimit(t.Context())
		require.ErrorIs(t, err, operator.ErrNotLimited)
	})
	t.Run("a kill that reaches nobody", func(t *testing.T) {
		pool, err := server.Open(server.Source{
			ID: "shop", Address: servers.Rewriting(t, m.Addr, "KILL ", "DO 1+"),
			Account: func() (string, string, error) { return user, password, nil },
		}, server.Options{ConnectTimeout: patience}, zap.NewNop())
		require.NoError(t, err)
		defer pool.Close(context.Background())
		require.ErrorIs(t, operator.New(pool).ProveKill(t.Context()), operator.ErrNotKilled)
		m.Load(t, "KILL USER "+user)
	})
}

package servers_test

import (
	"context"
	"database/sql"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
)

// failure runs a function that is expected to fail its test, on a test double that ends it as t.Fatal would.
func failure(t *testing.T, f func(t testing.TB)) string {
	t.Helper()
	double := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(double)
	}()
	<-done
	return double.message
}

func TestMariaDBAnswersItsAdministratorOnly(t *testing.T) {
	m := servers.SharedMariaDB(t)
	require.Same(t, m, servers.SharedMariaDB(t))
	require.NotEmpty(t, m.Version)
	host, _, err := net.SplitHostPort(m.Addr)
	require.NoError(t, err)
	require.True(t, net.ParseIP(host).IsLoopback())

	var one int
	require.NoError(t, m.Admin(t).QueryRow("SELECT 1").Scan(&one))

	for name, user := range map[string]string{"root": "root", "nobody": "", "administrator": m.AdminUser} {
		t.Run(name+" without a password", func(t *testing.T) {
			cfg := mysql.NewConfig()
			cfg.Net, cfg.Addr, cfg.User = "tcp", m.Addr, user
			connector, err := mysql.NewConnector(cfg)
			require.NoError(t, err)
			db := sql.OpenDB(connector)
			defer db.Close()
			require.Error(t, db.Ping())
		})
	}
}

func TestMariaDBLoadsAWholeFileOrFails(t *testing.T) {
	m := servers.SharedMariaDB(t)
	t.Cleanup(func() { m.Load(cleanupTB{t}, "DROP DATABASE IF EXISTS loaded") })
	m.Load(t, `DROP DATABASE IF EXISTS loaded; CREATE DATABASE loaded; -- a comment; with a semicolon
USE loaded;
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20)); INSERT INTO t VALUES (1, 'a;b'), (2, '''');
CREATE FUNCTION f(x INT) RETURNS INT DETERMINISTIC RETURN x + 1;`)
	var n int
	require.NoError(t, m.Admin(t).QueryRow("SELECT COUNT(*) + loaded.f(1) FROM loaded.t").Scan(&n))
	require.Equal(t, 4, n)

	said := failure(t, func(t testing.TB) { m.Load(t, "SELECT 1; SELECT nonsense FROM nowhere; SELECT 2") })
	require.Contains(t, said, "load SQL", "a statement that fails in the middle must fail the test")
}

func TestMariaDBAccountHasItsGrantsAndNoMore(t *testing.T) {
	m := servers.SharedMariaDB(t)
	m.Load(t, "DROP DATABASE IF EXISTS granted; CREATE DATABASE granted; "+
		"CREATE TABLE granted.t (id INT, hidden INT); INSERT INTO granted.t VALUES (7, 8)")
	user, password := m.Account(t, "SELECT (id) ON granted.t")
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd = "tcp", m.Addr, user, password
	connector, err := mysql.NewConnector(cfg)
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	defer db.Close()
	var id int
	require.NoError(t, db.QueryRow("SELECT id FROM granted.t").Scan(&id))
	require.Equal(t, 7, id)
	require.Error(t, db.QueryRow("SELECT hidden FROM granted.t").Scan(&id))
	_, err = db.Exec("INSERT INTO granted.t VALUES (1, 2)")
	require.Error(t, err)
}

func TestMariaDBProcesslistShowsWhatRuns(t *testing.T) {
	m := servers.SharedMariaDB(t)
	db := m.Admin(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = db.ExecContext(ctx, "SELECT SLEEP(60) /* seen */")
	}()
	var id uint64
	require.Eventually(t, func() bool {
		for _, s := range m.Processlist(t) {
			if strings.Contains(s.Info, "/* seen */") && s.Command != "Sleep" && s.User == m.AdminUser {
				id = s.ID
				return true
			}
		}
		return false
	}, 20*time.Second, 10*time.Millisecond, "the statement should be on the process list")
	m.Load(t, "KILL "+uintText(id))
	require.Eventually(t, func() bool {
		for _, s := range m.Processlist(t) {
			if s.ID == id {
				return false
			}
		}
		return true
	}, 20*time.Second, 10*time.Millisecond, "the killed connection %d should leave the process list", id)
	cancel()
	<-ended
}

func TestPrivateMariaDBStopsAndStartsOnItsDataAndPort(t *testing.T) {
	m := servers.MariaDB(t, "--max-connections=17")
	require.NotEqual(t, servers.SharedMariaDB(t).Addr, m.Addr)
	db := m.Admin(t)
	var limit int
	require.NoError(t, db.QueryRow("SELECT @@max_connections").Scan(&limit))
	require.Equal(t, 17, limit)
	m.Load(t, "CREATE DATABASE kept; CREATE TABLE kept.t (id INT); INSERT INTO kept.t VALUES (5)")

	m.Stop(t)
	require.Error(t, db.Ping())
	m.Start(t)
	var id int
	require.NoError(t, db.QueryRow("SELECT id FROM kept.t").Scan(&id))
	require.Equal(t, 5, id)

	m.Pause(t)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, db.QueryRowContext(ctx, "SELECT 1").Scan(&id), context.DeadlineExceeded)
	m.Resume(t)
	require.NoError(t, db.QueryRow("SELECT 1").Scan(&id))

	m.Kill(t)
	require.Error(t, db.Ping())
}

func TestEveryStartIsReported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	t.Setenv("TOOLBOUNDARY_TEST_REPORT", path)
	r := servers.Redis(t, "--maxmemory", "64mb")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "real server: "+r.Product+" "+r.Version+" at "+r.Addr+" for test/servers\n", string(text))
}

package servers

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	mysqlEnv    = "TOOLBOUNDARY_TEST_MYSQL_DSN"
	adminName   = "toolboundary_admin"
	adminBudget = time.Minute // no single administrative statement of a test takes longer
)

// MySQL is a running MariaDB (or whatever server TOOLBOUNDARY_TEST_MYSQL_DSN names) and its administrator's account.
type MySQL struct {
	*Process
	Addr          string // host:port, always TCP
	AdminUser     string
	AdminPassword string
	Version       string // as SELECT VERSION() says it
}

// MariaDB starts a private server that ends with the test; extra are further mariadbd options
// (`--max-connections=5`). Without extra options it returns the server of
// TOOLBOUNDARY_TEST_MYSQL_DSN when that is set.
func MariaDB(t testing.TB, extra ...string) *MySQL {
	t.Helper()
	if len(extra) == 0 && os.Getenv(mysqlEnv) != "" {
		return SharedMariaDB(t)
	}
	m, err := startMariaDB(extra)
	if err != nil {
		t.Fatalf("MariaDB: %v", err)
	}
	t.Cleanup(func() {
		if err := m.discard(); err != nil {
			t.Errorf("stop MariaDB: %v", err)
		}
	})
	report(t, m.product(), m.Version, m.Addr)
	return m
}

var sharedMariaDB = sync.OnceValues(func() (*MySQL, error) {
	if dsn := os.Getenv(mysqlEnv); dsn != "" {
		return namedMySQL(dsn)
	}
	return startMariaDB(nil)
})

var reportSharedMariaDB sync.Once

// SharedMariaDB returns the one server of this test process (so: of this package), started at the
// first call and ended with the process. Tests that use it in parallel must use different schemas.
func SharedMariaDB(t testing.TB) *MySQL {
	t.Helper()
	m, err := sharedMariaDB()
	if err != nil {
		t.Fatalf("MariaDB: %v", err)
	}
	reportSharedMariaDB.Do(func() { report(t, m.product(), m.Version, m.Addr) })
	return m
}

func (m *MySQL) product() string {
	if strings.Contains(m.Version, "MariaDB") {
		return "MariaDB"
	}
	return "MySQL"
}

func startMariaDB(extra []string) (*MySQL, error) {
	binary, err := lookFor("mariadbd")
	if err != nil {
		return nil, err
	}
	version, err := exec.Command(binary, "--no-defaults", "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --version: %w", binary, err)
	}
	template, err := mariadbTemplate(string(version))
	if err != nil {
		return nil, err
	}
	password := rand.Text()
	process, port, err := startOnFreePort("mariadb", func(port int, dir string) (*Process, error) {
		return mariadbProcess(binary, template, dir, port, password, extra)
	})
	if err != nil {
		return nil, err
	}
	m := &MySQL{Process: process, Addr: loopback(port), AdminUser: adminName, AdminPassword: password}
	return m, m.readVersion()
}

func mariadbProcess(binary, template, dir string, port int, password string, extra []string) (*Process, error) {
	data := filepath.Join(dir, "data")
	if err := os.CopyFS(data, os.DirFS(template)); err != nil {
		return nil, err
	}
	// Run at every start, so it must bear repetition. The template's accounts have no passwords:
	// only the administrator stays.
	accounts := fmt.Sprintf("DELETE FROM mysql.global_priv WHERE User IN ('', 'root');\nFLUSH PRIVILEGES;\n"+
		"CREATE OR REPLACE USER '%[1]s'@'%%' IDENTIFIED BY '%[2]s';\n"+
		"GRANT ALL ON *.* TO '%[1]s'@'%%' WITH GRANT OPTION;\n", adminName, password)
	initFile := filepath.Join(dir, "accounts.sql")
	if err := os.WriteFile(initFile, []byte(accounts), 0o600); err != nil {
		return nil, err
	}
	argv := append([]string{binary}, mariadbBase()...)
	argv = append(argv,
		"--datadir="+data, "--tmpdir="+dir, "--init-file="+initFile,
		"--socket="+filepath.Join(dir, "s"), "--pid-file="+filepath.Join(dir, "mariadbd.pid"),
		"--bind-address=127.0.0.1", fmt.Sprintf("--port=%d", port),
		"--skip-log-bin", "--character-set-server=utf8mb4")
	return &Process{name: "MariaDB", argv: append(argv, extra...), dir: dir, ready: "ready for connections"}, nil
}

// namedMySQL uses a server that somebody else runs. Packages are tested in parallel and load the
// same schemas, so the first one in holds an advisory lock on that server until its process ends.
func namedMySQL(dsn string) (*MySQL, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, errors.New(mysqlEnv + " is not a DSN of the form user:password@tcp(host:port)/")
	}
	m := &MySQL{
		Process: &Process{name: "the server of " + mysqlEnv},
		Addr:    cfg.Addr, AdminUser: cfg.User, AdminPassword: cfg.Passwd,
	}
	if err := m.readVersion(); err != nil {
		return nil, err
	}
	db, err := m.open(false)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	var got sql.NullInt64
	const lock = "SELECT GET_LOCK('toolboundary_tests', 1800)"
	if err := conn.QueryRowContext(context.Background(), lock).Scan(&got); err != nil {
		return nil, err
	}
	if got.Int64 != 1 {
		return nil, errors.New("another test run holds the lock toolboundary_tests on the server of " + mysqlEnv)
	}
	return m, nil
}

func (m *MySQL) readVersion() error {
	db, err := m.open(false)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), adminBudget)
	defer cancel()
	return db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&m.Version)
}

func (m *MySQL) open(multi bool) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd = "tcp", m.Addr, m.AdminUser, m.AdminPassword
	cfg.MultiStatements = multi
	cfg.Logger = &mysql.NopLogger{} // killed connections are what these tests are about
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

package mysql_test

import (
	"bufio"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/executortest"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/servers"
)

// demoSeed is what the contract needs of a source, in the embedded engine's SQL. The ghost
// table of the policy is missing on purpose.
const demoSeed = `
CREATE DATABASE shop;
USE shop;
CREATE TABLE customers (id INT PRIMARY KEY, name VARCHAR(80) NOT NULL);
INSERT INTO customers VALUES (1, 'Ada Lovelace'), (2, 'Grace Hopper');
CREATE TABLE digits (d INT PRIMARY KEY, body TEXT NOT NULL);
INSERT INTO digits VALUES (0, REPEAT('x', 10240)), (1, REPEAT('x', 10240)), (2, REPEAT('x', 10240)),
  (3, REPEAT('x', 10240)), (4, REPEAT('x', 10240)), (5, REPEAT('x', 10240)), (6, REPEAT('x', 10240)),
  (7, REPEAT('x', 10240)), (8, REPEAT('x', 10240)), (9, REPEAT('x', 10240));
`

// demo starts the demo's embedded engine, a program of a module of its own.
func demo(t *testing.T, user, password string) (addr string) {
	t.Helper()
	dir := t.TempDir()
	program, seed := filepath.Join(dir, "demodb"), filepath.Join(dir, "seed.sql")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = filepath.Join("..", "..", "test", "demodb")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-p=2")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "build test/demodb: %s", out)
	require.NoError(t, os.WriteFile(seed, []byte(demoSeed), 0o600))

	run := exec.Command(program, "--seed", seed, "--stdin-eof")
	run.Env = append(os.Environ(), "DEMO_DB_USER="+user, "DEMO_DB_PASSWORD="+password)
	run.Stderr = os.Stderr
	stdin, err := run.StdinPipe() // closed with this process, however that ends
	require.NoError(t, err)
	stdout, err := run.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, run.Start())
	t.Cleanup(func() {
		_ = stdin.Close()
		_, _ = io.Copy(io.Discard, stdout)
		require.NoError(t, run.Wait())
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

func demoPolicy() sqlguard.Policy {
	return sqlguard.Policy{DefaultSchema: "shop", MaxRows: 200000, Tables: []sqlguard.Table{
		{Schema: "shop", Name: "customers", Columns: []sqlguard.Column{{Name: "id"}, {Name: "name"}}},
		{Schema: "shop", Name: "digits", Columns: []sqlguard.Column{{Name: "d"}, {Name: "body", Sensitive: true}}},
		{Schema: "shop", Name: "ghost", Columns: []sqlguard.Column{{Name: "k"}}},
	}}
}

// digits joins the table with itself: ten to the power of n rows.
func digits(n int) string {
	from := "digits a"
	for i := 1; i < n; i++ {
		from += fmt.Sprintf(" JOIN digits %[1]c ON %[1]c.d >= 0", 'a'+i)
	}
	return from
}

func TestS26_S36_ContractOnTheEmbeddedEngine(t *testing.T) {
	user, password := "demo", rand.Text()
	addr := demo(t, user, password)
	line := servers.Proxy(t, addr)
	through := newRelay(t, line.Addr)
	r := rigFor(t, through.addr, user, password, func(s *mysql.Source, _ *mysql.Options) {
		s.Guard = guard(t, demoPolicy())
	})
	beside := driver.Config{
		Net: "tcp", Addr: addr, User: user, Passwd: password, AllowNativePasswords: true, Logger: &driver.NopLogger{},
	}
	watcher, err := sql.Open("mysql", beside.FormatDSN())
	require.NoError(t, err)
	defer watcher.Close()
	report, err := r.operator().Inspect(t.Context())
	require.NoError(t, err)
	t.Logf("embedded engine: %s %s, beyond reading: %v", report.Product, report.Version, report.BeyondRead)
	t.Log("the whole contract runs here; test/demodb/GAPS.md says what the engine does otherwise")
	require.Empty(t, report.BeyondRead)
	require.NoError(t, r.operator().ProveKill(t.Context()))

	executortest.Test(t, executortest.Subject{
		New:   func(kit.T) ports.Executor { return r },
		Scope: scope,
		Echo: func(text string) json.RawMessage {
			return request(t, "SELECT CONCAT(?, name) AS e FROM customers WHERE id = 1", text)
		},
		Large: request(t, "SELECT e.body FROM "+digits(5)), Slow: request(t, "SELECT COUNT(*) FROM "+digits(9)),
		Failing: request(t, "SELECT k FROM ghost"), FailsWith: fault.ExecutionFailed,
		Refused: refused(t)[:1],
		Running: func(kit.T) int {
			var n int
			const busy = "SELECT COUNT(*) FROM information_schema.PROCESSLIST " +
				"WHERE INFO LIKE '%digits%' AND ID <> CONNECTION_ID()"
			require.NoError(t, watcher.QueryRow(busy).Scan(&n))
			return n
		},
		Calls:    func(kit.T) int { return through.sent() },
		Secrets:  []string{password, addr, "127.0.0.1", "ghost"},
		Patience: patience,
		Break:    refusing(t, line),
	})
}

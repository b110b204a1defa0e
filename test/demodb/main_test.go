package main

import (
	"bufio"
	"context"
	"database/sql"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

const asProgram = "DEMODB_TEST_AS_PROGRAM"

// TestMain lets the test binary stand in for the program, so that tests of signals need no second build.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var reader = account{user: "demo", password: `p'w\"ü`}

func env(name string) string {
	return map[string]string{"DEMO_DB_USER": reader.user, "DEMO_DB_PASSWORD": reader.password}[name]
}

// serve runs demodb in this process until the test ends and returns its address.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, args, env, nil, in)
		in.CloseWithError(io.ErrUnexpectedEOF)
		ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

func connect(t *testing.T, addr string, who account) *sql.DB {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd = "tcp", addr, who.user, who.password
	cfg.Params = map[string]string{"charset": "utf8mb4"}
	connector, err := mysql.NewConnector(cfg)
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}

func seedFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "seed.sql")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestEmbeddedShopIsConsistent(t *testing.T) {
	db := connect(t, serve(t), reader)
	for query, want := range map[string]int{
		"shop.customers": 24,
		"shop.products":  16,
		"shop.orders":    44,
		"archive.orders": 22,

		"shop.orders o LEFT JOIN shop.customers c ON c.id = o.customer_id WHERE c.id IS NULL": 0,
		"shop.order_items i LEFT JOIN shop.orders o ON o.id = i.order_id WHERE o.id IS NULL":  0,
		"shop.order_items i LEFT JOIN shop.products p ON p.sku = i.sku WHERE p.sku IS NULL":   0,
		`(SELECT o.id FROM shop.orders o JOIN shop.order_items i ON i.order_id = o.id
			GROUP BY o.id, o.total HAVING ABS(SUM(i.qty * i.unit_price) - o.total) > 0.001) wrong`: 0,
	} {
		var got int
		require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM "+query).Scan(&got), query)
		require.Equal(t, want, got, query)
	}
}

func TestOnlyTheAccountGetsIn(t *testing.T) {
	addr := serve(t)
	require.NoError(t, connect(t, addr, reader).Ping())
	for _, who := range []account{{}, {user: reader.user}, {reader.user, "wrong"}, {user: "root"}, {user: owner.User}} {
		require.Contains(t, []int{1045, 2012}, number(connect(t, addr, who).Ping()), who.user)
	}
}

func TestTheAccountReadsAndNothingElse(t *testing.T) {
	db := connect(t, serve(t), reader)
	secret := seedFile(t, "a file of this machine")
	for _, statement := range []string{
		"INSERT INTO shop.api_keys VALUES ('a', 'b')", "UPDATE shop.customers SET vip = 1",
		"DELETE FROM shop.orders", "DROP TABLE shop.orders", "CREATE TABLE shop.mine (id INT PRIMARY KEY)",
		"CREATE DATABASE mine", "SELECT user FROM mysql.user", "CREATE USER u IDENTIFIED BY 'p'",
		"GRANT ALL ON *.* TO '" + reader.user + "'@'%'",
		"SET GLOBAL secure_file_priv = ''", "SET SESSION secure_file_priv = ''",
		"SELECT 'x' INTO OUTFILE '" + secret + ".out'", "LOAD DATA INFILE '" + secret + "' INTO TABLE shop.api_keys",
	} {
		_, err := db.Exec(statement)
		require.Error(t, err, statement)
	}
	require.NoFileExists(t, secret+".out")
	var content sql.NullString
	require.NoError(t, db.QueryRow("SELECT LOAD_FILE(?)", secret).Scan(&content))
	require.False(t, content.Valid, "LOAD_FILE read %s", secret)
}

func TestAnotherSeedGivesOtherRows(t *testing.T) {
	changed := strings.Replace(embedded, "Ada Lovelace", "Ada Byron", 1)
	require.NotEqual(t, embedded, changed)
	var name string
	db := connect(t, serve(t, "--seed", seedFile(t, changed)), reader)
	require.NoError(t, db.QueryRow("SELECT name FROM shop.customers WHERE id = 1").Scan(&name))
	require.Equal(t, "Ada Byron", name)
}

func TestABrokenSeedNamesItsStatement(t *testing.T) {
	for text, want := range map[string]string{
		"CREATE DATABASE a; CREATE TABLE a.t (id INT PRIMARY KEY); INSERT INTO a.t VALUES ('x')": "seed: statement 3:",
		"CREATE DATABASE a; CREATE TABLE;": "seed: statement 2:",
	} {
		err := run(t.Context(), []string{"--seed", seedFile(t, text)}, env, nil, io.Discard)
		require.ErrorContains(t, err, want)
	}
	require.Error(t, run(t.Context(), []string{"--seed", "no-such-file.sql"}, env, nil, io.Discard))
}

func TestSeedTakesCommentsAndSemicolonsInText(t *testing.T) {
	addr := serve(t, "--seed", seedFile(t, `-- first
CREATE DATABASE a;
/* two; */ CREATE TABLE a.t (v VARCHAR(20) PRIMARY KEY);

INSERT INTO a.t VALUES ('x;y'), ('it''s'); # last

-- end
`))
	var n int
	db := connect(t, addr, reader)
	require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM a.t WHERE v = 'x;y' OR v = 'it''s'").Scan(&n))
	require.Equal(t, 2, n)
}

func TestUsageErrors(t *testing.T) {
	for _, args := range [][]string{{"--nonsense"}, {"stray"}} {
		require.ErrorIs(t, run(t.Context(), args, env, nil, io.Discard), errUsage)
	}
	require.ErrorIs(t, run(t.Context(), nil, func(string) string { return "" }, nil, io.Discard), errUsage)
}

func TestEndsWithItsStandardInput(t *testing.T) {
	stdin, feed := io.Pipe()
	stdout, printed := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(t.Context(), []string{"--stdin-eof"}, env, stdin, printed) }()
	_, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	feed.Close()
	require.NoError(t, <-ended)
}

func TestEndsOnSIGTERM(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asProgram+"=1", "DEMO_DB_USER=u", "DEMO_DB_PASSWORD=p")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, connect(t, strings.TrimSpace(line), account{"u", "p"}).Ping())
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait(), "it must end with exit code 0")
}

package servers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
)

func TestRedisOfTheEnvironmentIsUsedAndNeverStopped(t *testing.T) {
	named := servers.Redis(t, "--maxmemory", "64mb")
	t.Setenv("TOOLBOUNDARY_TEST_REDIS_ADDR", named.Addr)
	r := servers.Redis(t)
	require.Equal(t, named.Addr, r.Addr)
	require.Equal(t, named.Version, r.Version)
	require.Equal(t, named.Product, r.Product)
	private := servers.Redis(t, "--maxmemory", "32mb")
	require.NotEqual(t, named.Addr, private.Addr, "a server with options is always a private one")

	for name, end := range map[string]func(testing.TB){
		"stop": r.Stop, "kill": r.Kill, "pause": r.Pause, "resume": r.Resume, "start": r.Start,
	} {
		t.Run(name, func(t *testing.T) { require.Contains(t, failure(t, end), "was not started by this test") })
	}
	require.NoError(t, named.Client(t).Ping(t.Context()).Err())
}

func TestRedisOfTheEnvironmentThatDoesNotAnswerFails(t *testing.T) {
	down := servers.Redis(t, "--maxmemory", "64mb")
	down.Stop(t)
	t.Setenv("TOOLBOUNDARY_TEST_REDIS_ADDR", down.Addr)
	said := failure(t, func(t testing.TB) { servers.Redis(t) })
	require.Contains(t, said, "TOOLBOUNDARY_TEST_REDIS_ADDR does not answer")
}

// The server of the environment is chosen once for each process, so this takes another one.
func TestMySQLOfTheEnvironmentIsUsed(t *testing.T) {
	named := servers.MariaDB(t, "--max-connections=50")
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd = "tcp", named.Addr, named.AdminUser, named.AdminPassword
	path := filepath.Join(t.TempDir(), "report")
	other := exec.Command(os.Args[0], "-test.v",
		"-test.run=^(TestMariaDBLoadsAWholeFileOrFails|TestMariaDBAnswersItsAdministratorOnly)$")
	other.Env = append(os.Environ(), "TOOLBOUNDARY_TEST_MYSQL_DSN="+cfg.FormatDSN(), "TOOLBOUNDARY_TEST_REPORT="+path)
	out, err := other.CombinedOutput()
	require.NoError(t, err, string(out))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "real server: MariaDB "+named.Version+" at "+named.Addr+" for test/servers\n", string(text))
}

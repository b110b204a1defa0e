package settings

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/domain/run"
)

func TestAllKeepsTheOrderAndJoinsTheErrors(t *testing.T) {
	sources := map[string]int{"c": 3, "a": 1, "b": 2, "d": 4}
	got, err := All(sources, func(id string, n int) (int, error) { return 10 * n, nil })
	require.NoError(t, err)
	require.Equal(t, []int{10, 20, 30, 40}, got)
	_, err = All(sources, func(id string, n int) (int, error) {
		if n%2 == 0 {
			return 0, errors.New("even")
		}
		return n, nil
	})
	require.EqualError(t, err, "data_sources.b: even\ndata_sources.d: even")
}

func TestCertPool(t *testing.T) {
	pool, err := CertPool("ca_file", "")
	require.NoError(t, err)
	require.Nil(t, pool, "the system's")
	_, err = CertPool("--ca-file", filepath.Join(t.TempDir(), "secret-name"))
	require.EqualError(t, err, "--ca-file cannot be read")
	file := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(file, []byte("not PEM"), 0o600))
	_, err = CertPool("ca_file", file)
	require.EqualError(t, err, "ca_file holds no certificate in PEM")
}

func TestClientTLS(t *testing.T) {
	c, err := clientTLS(config.TLSDisabled, "h:1", "")
	require.NoError(t, err)
	require.Nil(t, c)
	c, err = clientTLS(config.TLSVerify, "db.example.com:3306", "")
	require.NoError(t, err)
	require.Equal(t, "db.example.com", c.ServerName)
	require.False(t, c.InsecureSkipVerify)
	c, err = clientTLS(config.TLSRequired, "", "")
	require.NoError(t, err)
	require.Empty(t, c.ServerName)
	require.True(t, c.InsecureSkipVerify)
	_, err = clientTLS(config.TLSVerify, "db.example.com", "")
	require.EqualError(t, err, "the address must be host:port")
	_, err = clientTLS(config.TLSVerify, "h:1", "/no/such/file")
	require.EqualError(t, err, "ca_file cannot be read")
}

func TestStoreTimeoutCoversTheStoresRetries(t *testing.T) {
	c := config.Default()
	require.Equal(t, 5*time.Second, storeTimeout(c))
	c.Store.Kind, c.Store.Redis.Timeout = config.StoreRedis, 10*time.Second
	require.Greater(t, storeTimeout(c), redisPatience(c))
}

func TestRedisPoolFollowsTheNumberOfCalls(t *testing.T) {
	for calls, want := range map[int]int{1: 16, 100: 125, 100000: 512} {
		c := config.Default()
		c.Server.MaxConcurrent = calls
		opt, err := Redis(c)
		require.NoError(t, err)
		require.Equal(t, want, opt.PoolSize, "%d calls", calls)
	}
	c := config.Default()
	c.Store.Redis.PoolSize = 7
	opt, err := Redis(c)
	require.NoError(t, err)
	require.Equal(t, 7, opt.PoolSize)
}

// The run of a stdio process is its own ceiling, and no token leaves the process.
func TestStdio(t *testing.T) {
	c := config.Default()
	c.MCP.Run.TTL, c.MCP.Run.Budget.MaxCalls = 48*time.Hour, 5000
	got := Stdio(c)
	opt := Service(got)
	require.Equal(t, 48*time.Hour, opt.Ceilings.MaxTTL)
	require.Equal(t, run.Budget{MaxCalls: 5000, MaxBytes: 512 << 20, MaxRefusals: 250}, opt.Ceilings.Budget)
	keys := TokenKeys(got)
	require.Len(t, keys, 1)
	require.GreaterOrEqual(t, len(keys[0].Secret), 32)
	require.NotEqual(t, keys, TokenKeys(Stdio(c)), "each process makes up its own")
	require.Empty(t, TokenKeys(c), "the configuration given is not changed")

	c.Auth.TokenKeys = []config.TokenKey{{ID: "k1", Key: config.NewSecret("configured-key-0123456789abcdefgh", "")}}
	require.Equal(t, "k1", TokenKeys(Stdio(c))[0].ID)
}

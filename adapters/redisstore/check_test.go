package redisstore_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/test/contract/storetest"
	"github.com/toolboundary/toolboundary/test/servers"
)

func TestOptionsAreChecked(t *testing.T) {
	for name, opt := range map[string]redisstore.Options{
		"no address":        {},
		"braces in prefix":  {Addrs: []string{"a:1"}, KeyPrefix: "{x}"},
		"blank in prefix":   {Addrs: []string{"a:1"}, KeyPrefix: "a b"},
		"cluster database":  {Addrs: []string{"a:1", "b:1"}, DB: 1},
		"cluster database ": {Addrs: []string{"a:1"}, Cluster: true, DB: 1},
		"cluster, sentinel": {Addrs: []string{"a:1"}, Cluster: true, MasterName: "m"},
		"patience":          {Addrs: []string{"a:1"}, Patience: time.Millisecond},
		"negative":          {Addrs: []string{"a:1"}, PoolSize: -1},
	} {
		_, err := redisstore.New(opt)
		require.Error(t, err, name)
	}
}

func TestCheckAcceptsAndWarns(t *testing.T) {
	r := servers.Redis(t, "--appendonly", "yes", "--maxmemory", "100mb", "--maxmemory-policy", "noeviction")
	warnings, err := open(t, quick(r.Addr)).Check(t.Context())
	require.NoError(t, err)
	require.Empty(t, warnings)

	bare := servers.Redis(t, "--appendonly", "no")
	warnings, err = open(t, quick(bare.Addr)).Check(t.Context())
	require.NoError(t, err)
	require.Len(t, warnings, 2)
	require.Contains(t, strings.Join(warnings, " "), "maxmemory is not set")
	require.Contains(t, strings.Join(warnings, " "), "append-only file is off")
}

func TestCheckRefusesEvictionUnlessTold(t *testing.T) {
	r := servers.Redis(t, "--appendonly", "yes", "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
	_, err := open(t, quick(r.Addr)).Check(t.Context())
	require.ErrorContains(t, err, "allkeys-lru")
	opt := quick(r.Addr)
	opt.AllowEviction = true
	warnings, err := open(t, opt).Check(t.Context())
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "allkeys-lru")
}

func TestCheckLooksAtEveryMasterOfACluster(t *testing.T) {
	group := servers.RedisCluster(t, "--appendonly", "yes", "--maxmemory", "100mb", "--maxmemory-policy", "noeviction")
	s := open(t, quick(group.Addrs...))
	warnings, err := s.Check(t.Context())
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.NoError(t, group.Nodes[2].Client(t).ConfigSet(t.Context(), "maxmemory-policy", "volatile-ttl").Err())
	_, err = s.Check(t.Context())
	require.ErrorContains(t, err, "volatile-ttl")
}

func TestCheckThroughSentinel(t *testing.T) {
	group := servers.Sentinel(t, "--appendonly", "yes", "--maxmemory", "100mb")
	opt := quick(group.Addrs...)
	opt.MasterName = group.MasterName
	warnings, err := open(t, opt).Check(t.Context())
	require.NoError(t, err)
	require.Empty(t, warnings)
}

func TestCheckSaysWhatIsWrongAndNothingElse(t *testing.T) {
	const secret = "c4nary-s3cret"
	r := servers.Redis(t, "--appendonly", "no", "--requirepass", secret+"-right",
		"--user", "weak", "on", ">"+secret, "~*", "&*", "-@all", "+hello", "+auth", "+info")
	for name, c := range map[string]struct {
		user, password, addr, says string
	}{
		"wrong password": {"", secret, r.Addr, "not accepted"},
		"unknown user":   {"nobody-" + secret, secret, r.Addr, "not accepted"},
		"no password":    {"", "", r.Addr, "not accepted"},
		"weak user":      {"weak", secret, r.Addr, "permission"},
		"no server":      {"", secret, "127.0.0.1:1", "no answer"},
	} {
		opt := quick(c.addr)
		opt.Username, opt.Password = c.user, c.password
		s := open(t, opt)
		_, err := s.Check(t.Context())
		require.ErrorContains(t, err, c.says, name)
		for _, word := range []string{secret, "127.0.0.1", "nobody"} {
			require.NotContains(t, err.Error(), word, name)
		}
		_, err = s.Open(t.Context(), run.Run{ID: "r1", TTL: time.Hour, RecordTTL: time.Hour})
		requireFault(t, fault.StoreUnavailable, err)
	}
}

// leastPrivileges is what docs/store.md tells operators to grant.
var leastPrivileges = []string{
	"~toolboundary:*", "&toolboundary:*", "-@all", "+hello", "+auth", "+ping", "+info", "+evalsha", "+eval",
	"+time", "+get", "+getrange", "+set", "+setrange", "+exists", "+unlink", "+rename",
	"+persist", "+pexpireat", "+pexpiretime", "+hget", "+hmget", "+hgetall", "+hset",
	"+publish", "+subscribe", "+unsubscribe",
}

func TestStoreContractAsTheLeastPrivilegedUser(t *testing.T) {
	doc, err := os.ReadFile("../../docs/store.md")
	require.NoError(t, err)
	require.Contains(t, string(doc), strings.Join(leastPrivileges, " "), "the document tells the same")
	user := append([]string{"--appendonly", "no", "--user", "toolboundary", "on", ">pw"}, leastPrivileges...)
	r := servers.Redis(t, user...)
	opt := redisstore.Options{Addrs: []string{r.Addr}, Username: "toolboundary", Password: "pw"}
	s := open(t, opt)
	_, err = s.Check(t.Context())
	require.NoError(t, err)
	for _, forbidden := range []string{
		"KEYS *", "SCAN 0", "FLUSHALL", "CONFIG GET *", "MONITOR", "DEL toolboundary:x", "GET other",
	} {
		args := strings.Fields(forbidden)
		cmd := make([]any, len(args))
		for i := range args {
			cmd[i] = args[i]
		}
		require.ErrorContains(t, s.Client().Do(t.Context(), cmd...).Err(), "NOPERM", forbidden)
	}
	storetest.Test(t, subject(opt, 500*time.Millisecond))
}

func TestStoreOverTLS(t *testing.T) {
	cert, key, pool := certificate(t)
	port := strconv.Itoa(servers.FreePort(t))
	addr := net.JoinHostPort("127.0.0.1", port)
	servers.Redis(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key,
		"--tls-ca-cert-file", cert, "--tls-auth-clients", "no")
	opt := patient(addr)
	opt.TLS = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	s := open(t, opt)
	_, err := s.Check(t.Context())
	require.NoError(t, err)
	warm(t, s)
	opt = quick(addr)
	opt.TLS = &tls.Config{MinVersion: tls.VersionTLS12} // does not know the authority
	_, err = open(t, opt).Check(t.Context())
	require.Error(t, err)
}

// certificate makes a self-signed certificate for loopback.
func certificate(t *testing.T) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.NoError(t, os.WriteFile(certFile, certPEM, 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
	pool = x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(certPEM))
	return certFile, keyFile, pool
}

func TestClusterAndSentinelAsTheLeastPrivilegedUser(t *testing.T) {
	doc, err := os.ReadFile("../../docs/store.md")
	require.NoError(t, err)
	inCluster := []string{"+cluster|slots", "+cluster|shards", "+command", "+asking"}
	require.Contains(t, string(doc), strings.Join(inCluster, " "), "the document tells the same")
	user := append([]string{"--user", "toolboundary", "on", ">pw"}, leastPrivileges...)
	group := servers.RedisCluster(t, append(user, inCluster...)...)
	opt := patient(group.Addrs...)
	opt.Username, opt.Password = "toolboundary", "pw"
	s := open(t, opt)
	_, err = s.Check(t.Context())
	require.NoError(t, err)
	for range 10 { // runs on every node
		warm(t, s)
	}

	sentinels := servers.Sentinel(t, user...)
	onSentinels := []string{
		"+hello", "+auth", "+ping", "+subscribe", "+unsubscribe",
		"+sentinel|get-master-addr-by-name", "+sentinel|sentinels", "+sentinel|replicas",
	}
	require.Contains(t, string(doc), strings.Join(onSentinels, " "), "the document tells the same")
	for _, addr := range sentinels.Addrs {
		c := redis.NewClient(&redis.Options{Addr: addr})
		args := []any{"ACL", "SETUSER", "watcher", "on", ">pw", "&*", "-@all"}
		for _, a := range onSentinels {
			args = append(args, a)
		}
		require.NoError(t, c.Do(t.Context(), args...).Err())
		require.NoError(t, c.Close())
	}
	opt.Addrs, opt.MasterName = sentinels.Addrs, sentinels.MasterName
	opt.SentinelUsername, opt.SentinelPassword = "watcher", "pw"
	s = open(t, opt)
	_, err = s.Check(t.Context())
	require.NoError(t, err)
	warm(t, s)
}

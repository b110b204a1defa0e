package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/config/strictyaml"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/run"
)

const (
	harnessKey = "canary-harness-key-0123456789"
	tokenKey   = "canary-token-key-0123456789-0123456789"
	password   = "canary-password"
)

// environment is one in which every secret of the test files is set.
func environment(name string) (string, bool) {
	values := map[string]string{
		"TOOLBOUNDARY_HARNESS_KEY": harnessKey, "TOOLBOUNDARY_TOKEN_KEY": tokenKey,
		"SHOP_USER": "reader", "SHOP_PASSWORD": password,
		"SHORT": "short", "SHORTISH": "canary-24-bytes-not-32-bytes", "BLANKS": "canary blanks in the harness key",
		"REDIS_PASSWORD": "canary-redis",
	}
	value, ok := values[name]
	return value, ok
}

func pathsOf(list []Problem) []string {
	paths := make([]string, len(list))
	for i, p := range list {
		paths[i] = p.Path
	}
	return paths
}

func empty(string) (string, bool) { return "", false }

func TestCorpusConfigurationLoads(t *testing.T) {
	cfg, err := Load("testdata/corpus.yaml", environment, ForServe())
	require.NoError(t, err)
	require.Equal(t, []string{"data_sources.shop.require_read_only_account"}, pathsOf(cfg.Warnings()))
	shop := SourcesOf[*MySQL](cfg.DataSources)["shop"]
	require.NotNil(t, shop)
	require.Equal(t, "127.0.0.1:3306", shop.Address)
	require.Equal(t, password, shop.Password.Reveal())
	require.Equal(t, "reader", shop.User.Reveal())
	require.Equal(t, 5*time.Second, shop.QueryTimeout)
	require.Equal(t, 8, shop.MaxConnections)
	require.Equal(t, ByteSize(4096), shop.MaxCell)
	require.False(t, shop.Functions.Default)
	require.Len(t, shop.Functions.Names, 49)
	require.Len(t, shop.Allow, 5)
	require.Equal(t, Table{Schema: "shop", Name: "customers", Columns: []Column{
		{Name: "id"}, {Name: "name"}, {Name: "email", Sensitive: true}, {Name: "country"}, {Name: "created_at"},
		{Name: "vip"},
	}}, shop.Allow[0])
	require.Equal(t, harnessKey, cfg.Auth.HarnessKeys[0].Key.Reveal())
	require.Equal(t, tokenKey, cfg.Auth.TokenKeys[0].Key.Reveal())
}

func TestDesignExampleLoadsWithItsDefaults(t *testing.T) {
	cfg, err := Load("testdata/design.yaml", environment, ForServe())
	require.NoError(t, err)
	require.Equal(t, []string{"data_sources.shop.require_read_only_account"}, pathsOf(cfg.Warnings()))
	require.True(t, SourcesOf[*MySQL](cfg.DataSources)["shop"].Functions.Default)

	bare, err := Parse([]byte("data_sources: {}"), empty)
	require.NoError(t, err)
	cfg.Auth, bare.DataSources = Auth{}, cfg.DataSources
	require.Equal(t, 1, cfg.Line("server.listen"))
	require.Positive(t, cfg.Line("data_sources.shop.allow.shop.customers[1]"))
	require.Equal(t, cfg.Line("data_sources.shop"), cfg.Line("data_sources.shop.no_such_key"))
	require.Zero(t, cfg.Line("nothing"))
	cfg.report, bare.report = nil, nil
	require.Equal(t, bare, cfg, "the design's example writes out the defaults")
	require.Equal(t, limits.Default(), cfg.Limits.Domain())
	require.Equal(t, run.Budget{MaxCalls: 50, MaxBytes: 32 << 20, MaxRefusals: 25}, cfg.Runs.Budget.Domain())
	require.Equal(t, 24*time.Hour, cfg.Runs.RecordTTL)
	require.Equal(t, time.Hour, cfg.Runs.MaxTTL)
	require.Equal(t, 12*time.Hour, cfg.MCP.Run.TTL)
	require.Equal(t, []string{"claudecode/toolUseId", "toolboundary/toolCallId"}, cfg.MCP.ToolCallIDKeys)
}

func TestEveryKeyIsRead(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"cert.pem": "c", "key.pem": "k", "ca.pem": "a", "password": "canary-file\r\n",
		"full.yaml": read(t, "testdata/full.yaml"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	cfg, err := Load(filepath.Join(dir, "full.yaml"), environment, ForServe())
	require.NoError(t, err)
	require.Equal(t, Server{
		Listen: ":8443", AdminListen: "127.0.0.1:9090",
		TLS: ServerTLS{
			CertFile: File(filepath.Join(dir, "cert.pem")), KeyFile: File(filepath.Join(dir, "key.pem")),
		},
		LogLevel: LogDebug, ShutdownGrace: 30 * time.Second, MaxConcurrent: 64,
	}, cfg.Server)
	redis := cfg.Store.Redis
	require.Equal(t, StoreRedis, cfg.Store.Kind)
	require.Equal(t, "canary-redis", redis.Password.Reveal())
	require.Equal(t, []string{"redis-1:26379", "[::1]:26379"}, redis.Addrs)
	require.Equal(t, "main", redis.MasterName)
	require.False(t, redis.Cluster())
	require.Equal(t, 3, redis.DB)
	require.Equal(t, TLSVerify, redis.TLS)
	require.Equal(t, File(filepath.Join(dir, "ca.pem")), redis.CAFile)
	require.Equal(t, 40, redis.PoolSize)
	require.Equal(t, ByteSize(2<<20), cfg.Limits.Raw)
	require.Equal(t, ByteSize(1000), cfg.Limits.Request)
	require.Equal(t, map[string]int64{"mysql_query": 20, "mysql_schema": 0}, cfg.Runs.Budget.MaxCallsPerTool)
	shop := SourcesOf[*MySQL](cfg.DataSources)["shop-2"]
	require.Equal(t, "canary-file", shop.Password.Reveal(), "line ends at the end of a file are not part of the secret")
	require.Equal(t, "file "+filepath.Join(dir, "password"), shop.Password.Origin())
	require.Equal(t, "environment variable SHOP_USER", shop.User.Origin())
	require.Equal(t, []string{"ONLY_FULL_GROUP_BY", "NO_ZERO_DATE"}, shop.SQLModeExtra)
	require.True(t, shop.RequireReadOnlyAccount)
	require.Equal(t, Allowlist{
		{Schema: "shop", Name: "old.orders", Columns: []Column{{Name: "id", Type: "bigint", Comment: "the order"}}},
		{Schema: "a`b", Name: "t", Columns: []Column{{Name: "x"}, {Name: "null"}}},
	}, shop.Allow)
	require.Equal(t, []string{"shop-2"}, cfg.MCP.Run.DataSources)
	require.Equal(t, []string{"mysql_query"}, cfg.MCP.Run.Tools)
	require.False(t, cfg.MCP.StdioRequestID)
	require.False(t, cfg.MCP.ToolCallIDArgument)
	require.Equal(t, []string{"example/id"}, cfg.MCP.ToolCallIDKeys)
}

func TestWithoutSecretsNothingIsLookedUp(t *testing.T) {
	refuse := func(name string) (string, bool) { t.Errorf("%s was looked up", name); return "", false }
	cfg, err := Load("testdata/full.yaml", refuse, WithoutSecrets(), ForServe())
	require.NoError(t, err, "neither the variables nor the files of full.yaml exist here")
	shop := SourcesOf[*MySQL](cfg.DataSources)["shop-2"]
	require.False(t, shop.Password.IsSet())
	require.Empty(t, shop.Password.Reveal())
	require.Equal(t, "environment variable SHOP_USER", shop.User.Origin())
	for _, w := range cfg.Warnings() {
		require.NotContains(t, w.Message, "without a password")
	}
}

func TestLoadErrorsAreAlwaysProblems(t *testing.T) {
	for _, name := range []string{"testdata/absent.yaml", "testdata"} {
		_, err := Load(name, empty)
		var problems *Problems
		require.ErrorAs(t, err, &problems)
		require.Equal(t, name, problems.File)
		require.Len(t, problems.List, 1)
	}
}

func TestAnEmptyFileNeedsADataSource(t *testing.T) {
	require.Equal(t, []Problem{{Message: "The configuration is empty.", Fix: "Write at least one data source."}},
		problemsOf(t, "# nothing"))
}

func TestTooLargeFilesAreNotRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "large.yaml")
	require.NoError(t, os.WriteFile(name, []byte(strings.Repeat("#", strictyaml.MaxBytes+1)), 0o600))
	_, err := Load(name, empty)
	require.ErrorContains(t, err, "The configuration is larger than 4MiB.")
}

func TestAliasOfItselfEnds(t *testing.T) {
	for _, file := range []string{
		"&x [*x]", "limits: &x {raw: *x}", "data_sources: &x {a: *x}", "auth: {harness_keys: &x [*x]}",
		"store: &x {redis: *x}", "data_sources: {a: {functions: &x [*x]}}",
		"data_sources: {a: {allow: &x {s.t: *x}}}", "data_sources: {a: {allow: {s.t: &x [*x]}}}",
	} {
		require.NotEmpty(t, problemsOf(t, file), file)
	}
}

func TestAuthIsDemandedForServeOnly(t *testing.T) {
	const file = "data_sources: {}"
	_, err := Parse([]byte(file), empty)
	require.NoError(t, err)
	require.Equal(t, []string{"auth.harness_keys", "auth.token_keys"}, paths(t, file, ForServe()))
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(data)
}

// paths returns the paths of everything that is wrong with the file, in order.
func paths(t *testing.T, file string, opts ...Option) []string {
	t.Helper()
	var list []string
	for _, p := range problemsOf(t, file, opts...) {
		list = append(list, p.Path)
	}
	return list
}

func problemsOf(t *testing.T, file string, opts ...Option) []Problem {
	t.Helper()
	cfg, err := Parse([]byte(file), environment, opts...)
	if err == nil {
		return nil
	}
	require.Equal(t, Config{}, cfg)
	var problems *Problems
	require.ErrorAs(t, err, &problems)
	for _, p := range problems.List {
		require.NotEmpty(t, p.Fix)
		require.True(t, strings.HasSuffix(p.Message, "."), p.Message)
		require.NotContains(t, p.Message+p.Fix+p.Path, "canary")
	}
	return problems.List
}

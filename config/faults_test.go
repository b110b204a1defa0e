package config

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// valid is a whole configuration; each row of the table below breaks one line of it.
const valid = `server:
  listen: 127.0.0.1:8080
auth:
  harness_keys: [{name: diagnosis, key_env: TOOLBOUNDARY_HARNESS_KEY}]
  token_keys: [{id: k1, key_env: TOOLBOUNDARY_TOKEN_KEY}]
store:
  kind: memory
limits: {request: 64KiB}
runs:
  record_ttl: 24h
  budget: {max_calls: 50}
data_sources:
  shop:
    address: 127.0.0.1:3306
    user_env: SHOP_USER
    password_env: SHOP_PASSWORD
    max_rows: 200
    functions: default
    allow:
      shop.customers: [id, name, {column: email, sensitive: true}]
    require_read_only_account: true
mcp:
  run: {ttl: 12h}
`

func TestValidIsValid(t *testing.T) {
	require.Empty(t, problemsOf(t, valid, ForServe()))
}

// TestEachFaultAloneIsOneProblem proves path and line, and that no fault is reported twice under
// another name.
func TestEachFaultAloneIsOneProblem(t *testing.T) {
	rows := []struct{ name, old, new, path string }{
		{"unknown section", "mcp:\n", "mpc:\n", "mpc"},
		{"unknown key", "listen: 127", "listn: 127", "server.listn"},
		{"unknown key without a likely one", "listen: 127.0.0.1:8080", "colour: red", "server.colour"},
		{"unknown key in a list", "name: diagnosis", "name: diagnosis, colour: red", "auth.harness_keys[0].colour"},
		{"unknown key of a source", "max_rows", "max_row", "data_sources.shop.max_row"},
		{"required key misspelt", "address:", "adress:", "data_sources.shop.adress"},
		{"required list misspelt", "harness_keys", "harness_key", "auth.harness_key"},
		{"duplicate key", "    max_rows: 200", "    max_rows: 200\n    max_rows: 201", "data_sources.shop.max_rows"},
		{"duplicate section", "limits: {request: 64KiB}", "limits: {request: 64KiB}\nlimits: {}", "limits"},
		{"auth that is text", "auth:\n", "auth: none\nserver_:\n", "auth|server_"},
		{"number too small", "max_rows: 200", "max_rows: 0", "data_sources.shop.max_rows"},
		{"number too large", "max_rows: 200", "max_rows: 1000001", "data_sources.shop.max_rows"},
		{"negative", "max_calls: 50", "max_calls: -1", "runs.budget.max_calls"},
		{"size of zero", "64KiB", "0", "limits.request"},
		{"duration of zero", "record_ttl: 24h", "record_ttl: 0s", "runs.record_ttl"},
		{"listen without a port", "listen: 127.0.0.1:8080", "listen: 127.0.0.1", "server.listen"},
		{"listen on a port that cannot be", "127.0.0.1:8080", "127.0.0.1:80800", "server.listen"},
		{"admin on the same address", "  listen: 127.0.0.1:8080",
			"  listen: 127.0.0.1:8080\n  admin_listen: 127.0.0.1:8080", "server.admin_listen"},
		{"certificate without its key", "  listen: 127.0.0.1:8080", "  tls: {cert_file: faults_test.go}",
			"server.tls.key_file"},
		{"key without its certificate", "  listen: 127.0.0.1:8080", "  tls: {key_file: faults_test.go}",
			"server.tls.cert_file"},
		{"file that does not exist", "  listen: 127.0.0.1:8080",
			"  tls: {cert_file: absent.pem, key_file: faults_test.go}", "server.tls.cert_file"},
		{"secret in the file", "password_env: SHOP_PASSWORD", "password: canary", "data_sources.shop.password"},
		{"secret missing", "    user_env: SHOP_USER\n", "", "data_sources.shop.user_env"},
		{"variable not set", "user_env: SHOP_USER", "user_env: ABSENT", "data_sources.shop.user_env"},
		{"secret in place of a variable", "user_env: SHOP_USER", "user_env: canary-password!",
			"data_sources.shop.user_env"},
		{"harness key short", "TOOLBOUNDARY_HARNESS_KEY", "SHORT", "auth.harness_keys[0].key_env"},
		{"harness key with blanks", "TOOLBOUNDARY_HARNESS_KEY", "BLANKS", "auth.harness_keys[0].key_env"},
		{"token key short", "TOOLBOUNDARY_TOKEN_KEY", "SHORT", "auth.token_keys[0].key_env"},
		{"token key as long as a harness key", "TOOLBOUNDARY_TOKEN_KEY", "SHORTISH", "auth.token_keys[0].key_env"},
		{"one key for both", "TOOLBOUNDARY_HARNESS_KEY", "TOOLBOUNDARY_TOKEN_KEY", "auth.token_keys[0].key_env"},
		{"key's id twice", "KEY}]\n  token_keys: [{id: k1, ",
			"KEY}]\n  token_keys: [{id: k1, key_env: BLANKS_AND_LONG_ENOUGH}, {id: k1, ",
			"auth.token_keys[0].key_env|auth.token_keys[1].id"},
		{"no harness key", "[{name: diagnosis, key_env: TOOLBOUNDARY_HARNESS_KEY}]", "[]", "auth.harness_keys"},
		{"no token key", "  token_keys: [{id: k1, key_env: TOOLBOUNDARY_TOKEN_KEY}]\n", "", "auth.token_keys"},
		{"name of a key", "name: diagnosis", "name: a b", "auth.harness_keys[0].name"},
		{"name missing", "name: diagnosis, ", "", "auth.harness_keys[0].name"},
		{"store unknown", "kind: memory", "kind: memroy", "store.kind"},
		{"redis without addresses", "kind: memory", "kind: redis", "store.redis.addrs"},
		{"redis section for memory", "kind: memory", "redis: {addrs: [a:1]}", "store.kind"},
		{"redis address", "kind: memory", "kind: redis\n  redis: {addrs: [localhost:6379, canary]}",
			"store.redis.addrs[1]"},
		{"redis database of a cluster", "kind: memory", "kind: redis\n  redis: {addrs: [a:1, b:1], db: 1, tls: true}",
			"store.redis.db"},
		{"redis key prefix with a hash tag", "kind: memory",
			"kind: redis\n  redis: {addrs: [a:1], tls: true, key_prefix: 'a{b}'}", "store.redis.key_prefix"},
		{"sentinel password alone", "kind: memory",
			"kind: redis\n  redis: {addrs: [a:1], tls: true, sentinel_password_env: REDIS_PASSWORD}",
			"store.redis.master_name"},
		{"tls mode", "max_rows: 200", "tls: preferred", "data_sources.shop.tls"},
		{"authority without tls", "max_rows: 200", "ca_file: faults_test.go", "data_sources.shop.ca_file"},
		{"limit above the record", "{request: 64KiB}", "{agent_result: 9MiB}", "limits.agent_result"},
		{"record below the limits", "{request: 64KiB}", "{record: 1MiB}", "limits.raw"},
		{"budget of a tool", "max_calls: 50", "max_calls_per_tool: {mysql_query: some}",
			"runs.budget.max_calls_per_tool.mysql_query"},
		{"tool's name", "max_calls: 50", "max_calls_per_tool: {Mysql Query: 5}",
			"runs.budget.max_calls_per_tool.Mysql Query"},
		{"source's id", "  shop:\n", "  Shop:\n", "data_sources.Shop"},
		{"source that is text", "data_sources:\n  shop:", "data_sources:\n  b: text\n  shop:", "data_sources.b"},
		{"kind unknown", "address: 127", "kind: mysqll\n    address: 127", "data_sources.shop.kind"},
		{"kind unknown of a source that is granted", "data_sources:\n",
			"mcp: {run: {data_sources: [b, shop]}}\ndata_sources:\n  b: {kind: postgres}\n", "data_sources.b.kind|mcp"},
		{"kind that is a list", "address: 127", "kind: [mysql]\n    address: 127", "data_sources.shop.kind"},
		{"address missing", "    address: 127.0.0.1:3306\n", "", "data_sources.shop.address"},
		{"address that is a DSN", "address: 127.0.0.1:3306", "address: 'root:canary@tcp(db:3306)/shop'",
			"data_sources.shop.address"},
		{"address without a port", "address: 127.0.0.1:3306", "address: localhost", "data_sources.shop.address"},
		{"sql mode that changes how SQL is read", "max_rows: 200", "sql_mode_extra: [ANSI_QUOTES]",
			"data_sources.shop.sql_mode_extra[0]"},
		{"default schema of the server", "max_rows: 200", "default_schema: MySQL", "data_sources.shop.default_schema"},
		{"functions in a word", "functions: default", "functions: all", "data_sources.shop.functions"},
		{"function's name", "functions: default", "functions: [COUNT, 'SLEEP(']", "data_sources.shop.functions[1]"},
		{"function twice", "functions: default", "functions: [COUNT, count]", "data_sources.shop.functions[1]"},
		{"table without a schema", "shop.customers", "customers", "data_sources.shop.allow.customers"},
		{"table with two dots", "shop.customers", "a.shop.customers", "data_sources.shop.allow.a.shop.customers"},
		{"table of the server", "shop.customers", "INFORMATION_SCHEMA.tables",
			"data_sources.shop.allow.INFORMATION_SCHEMA.tables"},
		{"table that is a wildcard", "shop.customers", "shop.*", "data_sources.shop.allow.shop.*"},
		{"table in open quotes", "shop.customers", "'shop.`x'", "data_sources.shop.allow.shop.`x"},
		{"table twice", "      shop.customers", "      shop.`customers`: [id]\n      shop.customers",
			"data_sources.shop.allow.shop.customers"},
		{"no columns", "[id, name, {column: email, sensitive: true}]", "[]", "data_sources.shop.allow.shop.customers"},
		{"columns left empty", "[id, name, {column: email, sensitive: true}]", "",
			"data_sources.shop.allow.shop.customers"},
		{"columns that are text", "[id, name, {column: email, sensitive: true}]", "all",
			"data_sources.shop.allow.shop.customers"},
		{"column twice by letter case", "[id, name,", "[id, ID,", "data_sources.shop.allow.shop.customers[1]"},
		{"column twice in the long form", "column: email", "column: Name", "data_sources.shop.allow.shop.customers[2]"},
		{"column without a name", "column: email, ", "", "data_sources.shop.allow.shop.customers[2].column"},
		{"column that is null", "[id, name,", "[id, null,", "data_sources.shop.allow.shop.customers[1]"},
		{"column that is a number", "[id, name,", "[id, 7,", "data_sources.shop.allow.shop.customers[1]"},
		{"column that is a wildcard", "[id, name,", "[id, '*',", "data_sources.shop.allow.shop.customers[1]"},
		{"column with a blank", "[id, name,", "[id, 'name ',", "data_sources.shop.allow.shop.customers[1]"},
		{"sensitive misspelt", "sensitive", "sensitiv", "data_sources.shop.allow.shop.customers[2].sensitiv"},
		{"sensitive left empty", "sensitive: true", "sensitive: ",
			"data_sources.shop.allow.shop.customers[2].sensitive"},
		{"left out and allowed", "    require_read_only",
			"    left_out: {shop.customers: [ssn, NAME]}\n    require_read_only",
			"data_sources.shop.left_out.shop.customers[1]"},
		{"left out of a table that is not allowed", "    require_read_only",
			"    left_out: {shop.orders: [ssn]}\n    require_read_only", "data_sources.shop.left_out.shop.orders"},
		{"view that is not allowed", "    require_read_only",
			"    views: [shop.customers, shop.v]\n    require_read_only", "data_sources.shop.views[1]"},
		{"comment with a line end", "sensitive: true", `comment: "a\nb"`,
			"data_sources.shop.allow.shop.customers[2].comment"},
		{"run's prefix", "{ttl: 12h}", "{id_prefix: a b}", "mcp.run.id_prefix"},
		{"source of the run", "{ttl: 12h}", "{data_sources: [shop, sohp]}", "mcp.run.data_sources[1]"},
		{"no tool of the run", "{ttl: 12h}", "{tools: []}", "mcp.run.tools"},
		{"no source of the run", "{ttl: 12h}", "{data_sources: []}", "mcp.run.data_sources"},
		{"tool of the run", "{ttl: 12h}", "{tools: [a b]}", "mcp.run.tools[0]"},
		{"meta key twice", "mcp:\n", "mcp:\n  tool_call_id_keys: [a, a]\n", "mcp.tool_call_id_keys[1]"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			require.Contains(t, valid, row.old)
			file := strings.Replace(valid, row.old, row.new, 1)
			problems := problemsOf(t, file, ForServe())
			var got []string
			for _, p := range problems {
				got = append(got, p.Path)
			}
			require.Equal(t, strings.Split(row.path, "|"), got, "%+v", problems)
		})
	}
}

func TestProblemsStandOnTheirLines(t *testing.T) {
	lines := map[string]int{
		"server.listn": 2, "auth.harness_keys[0].key_env": 4, "limits.request": 8,
		"data_sources.shop.address": 13, "data_sources.shop.allow.shop.customers[2]": 20,
	}
	file := strings.NewReplacer("listen: 127", "listn: 127", "TOOLBOUNDARY_HARNESS_KEY", "ABSENT", "64KiB", "64KB",
		"    address: 127.0.0.1:3306\n", "    query_timeout: 5s\n", "{column: email, sensitive: true}",
		"id").Replace(valid)
	problems := problemsOf(t, file, ForServe())
	require.Len(t, problems, len(lines))
	for _, p := range problems {
		require.Equal(t, lines[p.Path], p.Line, p.Path)
	}
}

func TestTwelveFaultsAreReportedAtOnce(t *testing.T) {
	_, err := Load("testdata/twelve.yaml", environment, ForServe())
	var problems *Problems
	require.ErrorAs(t, err, &problems)
	require.Len(t, problems.List, 12)
	require.Len(t, problems.Warnings, 3)
	golden(t, "testdata/twelve.golden", err.Error()+"\n")
}

func TestUnknownKindNamesTheKnownOnes(t *testing.T) {
	file := strings.Replace(valid, "address: 127", "kind: postgres\n    address: 127", 1)
	problems := problemsOf(t, file)
	require.Len(t, problems, 1)
	require.Equal(t, "The kinds are logs, mysql, prometheus.", problems[0].Fix)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(got), 0o600))
	}
	require.Equal(t, read(t, name), got)
}

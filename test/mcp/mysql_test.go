package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
	"github.com/toolboundary/toolboundary/test/service"
)

// shop returns the YAML of a data source on a real MariaDB, and puts its account's name and
// password into the environment.
func shop(t *testing.T) string {
	t.Helper()
	m := servers.SharedMariaDB(t)
	m.Load(t, `CREATE OR REPLACE DATABASE mcp_shop CHARACTER SET utf8mb4; USE mcp_shop;
CREATE TABLE customers (
  id BIGINT UNSIGNED PRIMARY KEY, name VARCHAR(80) NOT NULL, email VARCHAR(120), ssn CHAR(11)
);
INSERT INTO customers VALUES
  (1, 'Ada', 'ada@example.org', 'CANARY'), (18446744073709551615, 'Bob', NULL, 'CANARY');`)
	user, password := m.Account(t, "SELECT ON mcp_shop.*")
	t.Setenv("SHOP_USER", user)
	t.Setenv("SHOP_PASSWORD", password)
	return fmt.Sprintf(`data_sources:
  shop:
    address: %s
    user_env: SHOP_USER
    password_env: SHOP_PASSWORD
    default_schema: mcp_shop
    allow:
      mcp_shop.customers: [id, name, {column: email, sensitive: true}]
`, m.Addr)
}

// mysqlCalls call both tools, in the order that mysqlSaid judges.
var mysqlCalls = []call{
	{ID: "call_1", Name: "mysql_schema", Arguments: json.RawMessage(`{"data_source":"shop"}`)},
	{ID: "call_2", Name: "mysql_query", Arguments: json.RawMessage(
		`{"data_source":"shop","sql":"SELECT id, name, email FROM customers WHERE name = ?","params":["Bob"]}`)},
	{ID: "call_3", Name: "mysql_query", Arguments: json.RawMessage(
		`{"data_source":"shop","sql":"SELECT name FROM customers WHERE id = 7"}`)},
	{ID: "call_4", Name: "mysql_query", Arguments: json.RawMessage(
		`{"data_source":"shop","sql":"SELECT ssn FROM customers"}`)},
}

// mysqlSaid judges what the calls of mysqlCalls were told.
func mysqlSaid(t *testing.T, said []string) {
	t.Helper()
	require.Len(t, said, len(mysqlCalls))
	require.Contains(t, said[0], "customers")
	require.Contains(t, said[1], `"18446744073709551615","Bob","[REDACTED]"`)
	require.Contains(t, said[2], "NO_EVIDENCE")
	require.Contains(t, said[3], "QUERY_REJECTED")
	require.Contains(t, said[3], "ssn")
	require.NotContains(t, strings.Join(said, ""), "CANARY")
}

func requireTypeScriptSaid(t *testing.T, r report) {
	t.Helper()
	require.Equal(t, "mysql_query", r.Tools[0].Name)
	require.Equal(t, "mysql_schema", r.Tools[1].Name)
	var said []string
	for _, res := range r.Results {
		said = append(said, res.text(t))
	}
	mysqlSaid(t, said)
}

func requireGoSaid(ctx context.Context, t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	list, err := session.ListTools(ctx, nil)
	require.NoError(t, err)
	require.Len(t, list.Tools, 2)
	var said []string
	for _, c := range mysqlCalls {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{
			Name: c.Name, Arguments: c.Arguments, Meta: mcp.Meta{"claudecode/toolUseId": c.ID},
		})
		require.NoError(t, err)
		said = append(said, text(t, res))
	}
	mysqlSaid(t, said)
	require.NoError(t, session.Close())
}

func TestBothToolsOverHTTP(t *testing.T) {
	s := service.Start(t, shop(t))
	ids := []string{"call_1", "call_2", "call_3"}

	requireTypeScriptSaid(t, typescript(t, nil, mysqlCalls, "http", s.URL+"/mcp", s.Open("ts", "")))
	require.Equal(t, ids, recorded(t, s, "ts"))

	ctx := minute(t)
	requireGoSaid(ctx, t, connect(ctx, t, "go", overHTTP(s, s.Open("go", ""))))
	require.Equal(t, ids, recorded(t, s, "go"))
}

func TestBothToolsOverStdio(t *testing.T) {
	path := service.Write(t, shop(t))
	requireTypeScriptSaid(t, typescript(t, []string{actAsBinary + "=real"}, mysqlCalls,
		"stdio", self(t), "mcp", "--config", path))

	ctx := minute(t)
	cmd := exec.CommandContext(ctx, self(t), "mcp", "--config", path)
	cmd.Env = append(os.Environ(), actAsBinary+"=real")
	requireGoSaid(ctx, t, connect(ctx, t, "go", &mcp.CommandTransport{Command: cmd}))
}

// maxListTokens is what listing both tools may cost a model's context.
const maxListTokens = 900

// TestTheListIsShort counts the tools array of tools/list, schemas of the results and all, with
// the o200k_base vocabulary: other models' vocabularies differ by some percent, which is why
// the bound leaves room.
func TestTheListIsShort(t *testing.T) {
	s := service.Start(t, shop(t))
	r := rawList(t, s, s.Open("list", ""))
	n, err := strconv.Atoi(strings.TrimSpace(string(node(t, nil, r, "clients/tokens.mjs"))))
	require.NoError(t, err)
	t.Logf("tools/list with both tools: %d tokens, %d bytes", n, len(r))
	require.Less(t, n, maxListTokens, "%s", r)
	require.Greater(t, n, 100, "the count must be of the list")
}

// rawList returns the tools array as it comes over the wire.
func rawList(t *testing.T, s *service.Service, token string) []byte {
	t.Helper()
	a, err := s.Do(t.Context(), token, http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	require.NoError(t, err)
	var list struct {
		Result struct {
			Tools json.RawMessage `json:"tools"`
		} `json:"result"`
	}
	require.NoError(t, json.Unmarshal(a.Body, &list), "%s", a.Body)
	return list.Result.Tools
}

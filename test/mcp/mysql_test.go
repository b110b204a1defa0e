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
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
)

// shop returns the YAML of a data source on a real MariaDB, and puts its account's name and
// password into the environment.
func shop(t *testing.T) string {
	t.Helper()
	m := servers.SharedMariaDB(t)
	m.Load(t, `CREATE OR REPLACE DATABASE mcp_shop CHARACTER SET utf8mb4; USE mcp_shop;
CREATE TABLE customers (id BIGINT UNSIGNED PRIMARY KEY, name VARCHAR(80) NOT NULL, email VARCHAR(120), ssn CHAR(11));
INSERT INTO customers VALUES (1, 'Ada', 'ada@example.org', 'CANARY'), (18446744073709551615, 'Bob', NULL, 'CANARY');`)
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
	{ID: "call_2", Name: "mysql_query", Arguments: json.RawMessage(`{"data_source":"shop","sql":"SELECT id, name, email FROM customers WHERE name = ?","params":["Bob"]}`)},
	{ID: "call_3", Name: "mysql_query", Arguments: json.RawMessage(`{"data_source":"shop","sql":"SELECT name FROM customers WHERE id = 7"}`)},
	{ID: "call_4", Name: "mysql_query", Arguments: json.RawMessage(`{"data_source":"shop","sql":"SELECT ssn FROM customers"}`)},
}

func mysqlSaid(t *testing.T, said []string) {
	t.Helper()
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
		require.Len(t, res.Content, 1, "%+v", res)
		said = append(said, res.Content[0].Text)
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
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.Name, Arguments: c.Arguments, Meta: mcp.Meta{"claudecode/toolUseId": c.ID}})
		require.NoError(t, err)
		said = append(said, res.Content[0].(*mcp.TextContent).Text)
	}
	mysqlSaid(t, said)
	require.NoError(t, session.Close())
}

func TestBothToolsOverHTTP(t *testing.T) {
	s := serve(t, configure(t, freeAddress(t), shop(t)))
	tools, sources := []string{"mysql_query", "mysql_schema"}, []string{"shop"}
	ids := []string{"call_1", "call_2", "call_3"}

	requireTypeScriptSaid(t, typescript(t, nil, mysqlCalls, "http", s.url+"/mcp", s.open("ts", tools, sources)))
	require.Equal(t, ids, s.recorded("ts"))

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	session, err := client().Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: bearer{s.open("go", tools, sources)}}}, nil)
	require.NoError(t, err)
	requireGoSaid(ctx, t, session)
	require.Equal(t, ids, s.recorded("go"))
}

func TestBothToolsOverStdio(t *testing.T) {
	path := configure(t, "127.0.0.1:0", shop(t))
	requireTypeScriptSaid(t, typescript(t, []string{actAsBinary + "=real"}, mysqlCalls, "stdio", self(t), "mcp", "--config", path))

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self(t), "mcp", "--config", path)
	cmd.Env = append(os.Environ(), actAsBinary+"=real")
	session, err := client().Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	require.NoError(t, err)
	requireGoSaid(ctx, t, session)
}

// maxListTokens is what listing both tools may cost a model's context.
const maxListTokens = 900

// TestTheListIsShort counts the tools array of tools/list, schemas of the results and all, with
// the o200k_base vocabulary: other models' vocabularies differ by some percent, which is why
// the bound leaves room.
func TestTheListIsShort(t *testing.T) {
	s := serve(t, configure(t, freeAddress(t), shop(t)))
	r := rawList(t, s, s.open("list", []string{"mysql_query", "mysql_schema"}, []string{"shop"}))
	n, err := strconv.Atoi(strings.TrimSpace(string(node(t, nil, r, "clients/tokens.mjs"))))
	require.NoError(t, err)
	t.Logf("tools/list with both tools: %d tokens, %d bytes", n, len(r))
	require.Less(t, n, maxListTokens, "%s", r)
	require.Greater(t, n, 100, "the count must be of the list")
}

// rawList returns the tools array as it comes over the wire.
func rawList(t *testing.T, s *service, token string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	var list struct {
		Result struct {
			Tools json.RawMessage `json:"tools"`
		} `json:"result"`
	}
	require.NoError(t, json.NewDecoder(res.Body).Decode(&list))
	return list.Result.Tools
}

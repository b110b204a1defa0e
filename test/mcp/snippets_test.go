package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/service"
)

// entry is a server as a client's configuration has it.
type entry struct {
	Type, Command, URL string
	Args               []string
	Env, Headers       map[string]string
}

// configuration is the file of a client: VS Code says servers, the others mcpServers.
type configuration struct {
	Servers, MCPServers map[string]entry
	Inputs              []struct {
		Type, ID, Description string
		Password              bool
	}
}

// wanted are the snippets that the documentation must have.
var wanted = []string{
	"claude-code-add-http", "claude-code-add-stdio", "claude-code-http", "claude-code-stdio", "claude-desktop",
	"cursor-http", "cursor-stdio", "vscode-http", "vscode-stdio",
}

// TestDocumentedSnippets does with each snippet of the documentation what the client does:
// start the command or call the URL, with its arguments, variables and headers; then it lists
// and calls the tools. Of a snippet only what names the reader's own machine is replaced: the
// binary, the configuration's path, the address and the secrets.
func TestDocumentedSnippets(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	snippet := regexp.MustCompile("(?s)<!-- snippet: (\\S+) -->\n```(\\w+)\n(.*?)```")
	blocks := snippet.FindAllStringSubmatch(string(text), -1)
	var found []string
	for _, block := range blocks {
		found = append(found, block[1])
	}
	slices.Sort(found)
	require.Equal(t, wanted, found)
	for _, block := range blocks {
		t.Run(block[1], func(t *testing.T) {
			e := read(t, block[2], block[3])
			if e.Command != "" {
				startCommand(t, e)
			} else {
				callURL(t, e)
			}
		})
	}
}

// read returns the server that the snippet configures.
func read(t *testing.T, language, snippet string) entry {
	t.Helper()
	if language == "sh" {
		return readCommand(t, strings.TrimSpace(snippet))
	}
	var c configuration
	dec := json.NewDecoder(strings.NewReader(snippet))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&c), "a client refuses what is not JSON")
	servers := c.Servers
	if servers == nil {
		servers = c.MCPServers
	}
	require.Len(t, servers, 1)
	e := servers["toolboundary"]
	switch {
	case e.Command != "":
		require.Contains(t, []string{"", "stdio"}, e.Type)
	default:
		require.NotEmpty(t, e.URL, "a server needs a command or a URL")
		require.Contains(t, []string{"", "http"}, e.Type)
	}
	if c.Servers != nil {
		require.NotEmpty(t, e.Type, "VS Code needs the type")
		for _, input := range c.Inputs {
			require.Contains(t, snippet, "${input:"+input.ID+"}")
		}
	}
	return e
}

// readCommand reads a `claude mcp add` line.
func readCommand(t *testing.T, line string) entry {
	t.Helper()
	var words []string
	for _, word := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(line, -1) {
		words = append(words, strings.Trim(word, `"`))
	}
	require.Greater(t, len(words), 6, line)
	require.Equal(t, []string{"claude", "mcp", "add", "--transport"}, words[:4])
	e := entry{Type: words[4], Env: map[string]string{}, Headers: map[string]string{}}
	require.Equal(t, "toolboundary", words[5])
	for i := 6; i < len(words); i++ {
		switch words[i] {
		case "--env":
			i++
			name, value, ok := strings.Cut(words[i], "=")
			require.True(t, ok)
			e.Env[name] = value
		case "--header":
			i++
			name, value, ok := strings.Cut(words[i], ": ")
			require.True(t, ok)
			e.Headers[name] = value
		case "--":
			e.Command, e.Args = words[i+1], words[i+2:]
			return e
		default:
			e.URL = words[i]
		}
	}
	return e
}

// filled replaces a client's placeholder, ${NAME}, ${env:NAME}, ${input:name} or $NAME.
func filled(value, with string) string {
	return regexp.MustCompile(`\$\{[^}]+\}|\$[A-Z_]+`).ReplaceAllLiteralString(value, with)
}

// startCommand starts the snippet's command, as a client does.
func startCommand(t *testing.T, e entry) {
	t.Helper()
	require.Regexp(t, `(^|/)toolboundary$`, e.Command)
	require.Equal(t, []string{"mcp", "--config", "/etc/toolboundary.yaml"}, e.Args)
	for _, name := range []string{"SHOP_USER", "SHOP_PASSWORD"} {
		require.NotEmpty(t, filled(e.Env[name], "x"), "the configuration's variable %s must be passed on", name)
	}
	ctx := minute(t)
	cmd := exec.CommandContext(ctx, self(t), "mcp", "--config", service.Write(t, ""))
	cmd.Env = append(os.Environ(), actAsBinary+"=scripted")
	for name, value := range e.Env {
		cmd.Env = append(cmd.Env, name+"="+filled(value, "secret"))
	}
	session := connect(ctx, t, "snippets", &mcp.CommandTransport{Command: cmd})
	listAndCall(ctx, t, session, nil) // Claude Desktop, VS Code and Cursor send no tool_call_id
	require.NoError(t, session.Close())
}

// callURL calls the snippet's URL with its headers, as a client does.
func callURL(t *testing.T, e entry) {
	t.Helper()
	s := serve(t)
	token := s.Open("snippet", demoGrants)
	at, err := url.Parse(e.URL)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:8080", at.Host, "the default address")
	ctx := minute(t)
	session := connect(ctx, t, "snippets", &mcp.StreamableClientTransport{
		Endpoint: s.URL + at.Path, HTTPClient: &http.Client{Transport: headers{e.Headers, token}},
	})
	listAndCall(ctx, t, session, mcp.Meta{"claudecode/toolUseId": "toolu_01"})
	require.NoError(t, session.Close())
}

func listAndCall(ctx context.Context, t *testing.T, session *mcp.ClientSession, meta mcp.Meta) {
	t.Helper()
	list, err := session.ListTools(ctx, nil)
	require.NoError(t, err)
	require.Len(t, list.Tools, 2)
	res, err := session.CallTool(ctx, &mcp.CallToolParams{
		Name: "demo_query", Arguments: json.RawMessage(`{"data_source":"shop","answer":[1]}`), Meta: meta,
	})
	require.NoError(t, err)
	require.False(t, res.IsError, "the result should not be an error: %v", res.StructuredContent)
}

// headers adds a snippet's headers to each request, with the token in place of the placeholder.
type headers struct {
	of    map[string]string
	token string
}

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h.of {
		r.Header.Set(name, filled(value, h.token))
	}
	return http.DefaultTransport.RoundTrip(r)
}

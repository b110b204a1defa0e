package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/cmd/app/bootstrap"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports/toolset"
	"github.com/toolboundary/toolboundary/test/service"
)

// fixture is a tool that the conformance scenarios call: whatever the arguments, it does what
// its script says.
type fixture struct {
	*fake.Executor
	script fake.Script
}

// Prepare ignores the request.
func (f fixture) Prepare(_ json.RawMessage, scope tool.Scope) (tool.Plan, error) {
	return f.Executor.Prepare(f.script.JSON(), scope)
}

// fixtures are the tools that the scenarios name, as far as this server can have them.
func fixtures(toolset.Deps) (toolset.Set, error) {
	any, nothing := `{"type":"object"}`, `{"type":"object","additionalProperties":false}`
	var set toolset.Set
	for _, f := range []struct {
		name, schema string
		script       fake.Script
	}{
		{"test_simple_text", nothing,
			fake.Script{Answer: json.RawMessage(`["This is a simple text response for testing."]`)}},
		{"test_error_handling", nothing, fake.Script{Do: fake.Fail, Code: fault.ExecutionFailed}},
		{"json_schema_2020_12_tool", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
			`"$defs":{"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},` +
			`"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"}},` +
			`"additionalProperties":false}`, fake.Script{}},
	} {
		about := tool.Description{
			Name: f.name, Title: f.name, Text: "A fixture of the conformance suite.", ReadOnly: true,
			InputSchema: json.RawMessage(f.schema), OutputSchema: json.RawMessage(any),
		}
		set.Entries = append(set.Entries, toolset.Entry{
			Executor: fixture{fake.NewExecutor(about, tool.Plan{}), f.script}, Projector: fake.Projector{},
		})
	}
	return set, nil
}

// harnessProxy does for the conformance client, which knows neither tokens nor tool_call_ids,
// what a harness does: it adds both to each request. Host and Origin stay the client's.
func harnessProxy(t *testing.T, target, token string) string {
	t.Helper()
	to, err := url.Parse(target)
	require.NoError(t, err)
	var calls atomic.Int64
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+token)
		r.Out.Header.Set("Tool-Call-Id", fmt.Sprintf("conformance_%d", calls.Add(1)))
	}})
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// applicable are the scenarios of the suite that a server of tools must pass; every other one is
// in notapplicable.yaml with its reason.
var applicable = map[string][]string{
	"2025-06-18": {
		"ping", "prompts-list", "resources-list", "server-initialize",
		"tools-call-error", "tools-call-simple-text", "tools-list",
	},
	"2025-11-25": {
		"dns-rebinding-protection", "json-schema-2020-12", "ping", "prompts-list", "resources-list",
		"server-initialize", "tools-call-error", "tools-call-simple-text", "tools-list",
	},
}

func TestConformance(t *testing.T) {
	binary, err := install()
	require.NoError(t, err, "the conformance suite needs Node.js 22 or later and npm")
	suite, err := filepath.Abs("node_modules/@modelcontextprotocol/conformance/dist/index.js")
	require.NoError(t, err)
	list, err := filepath.Abs("notapplicable.yaml")
	require.NoError(t, err)
	s := service.Start(t, "store: {kind: memory}\n", bootstrap.WithTools(fixtures))
	token := s.Open("conformance",
		`"tools":["test_simple_text","test_error_handling","json_schema_2020_12_tool"],"data_sources":[]`)
	proxy := harnessProxy(t, s.URL, token)
	for version, scenarios := range applicable {
		t.Run(version, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), binary, suite, "server", "--url", proxy+"/mcp", "--suite", "all",
				"--spec-version", version, "--expected-failures", list, "--output-dir", t.TempDir())
			cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "NO_COLOR=1")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			t.Logf("%s", out)
			for _, scenario := range scenarios {
				require.Regexp(t, `✓ `+regexp.QuoteMeta(scenario)+`: [1-9]\d* passed, 0 failed`, string(out))
			}
		})
	}
}

// TestEveryScenarioIsAccountedFor fails when the suite has a scenario that is neither applicable
// nor listed with a reason, and when one is both.
func TestEveryScenarioIsAccountedFor(t *testing.T) {
	data, err := os.ReadFile("notapplicable.yaml")
	require.NoError(t, err)
	listed := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if entry, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			name, reason, _ := strings.Cut(entry, "#")
			require.NotEmpty(t, strings.TrimSpace(reason), "%s needs a reason", name)
			listed[strings.TrimSpace(name)] = reason
		}
	}
	out := string(node(t, nil, nil, "node_modules/@modelcontextprotocol/conformance/dist/index.js", "list"))
	server, _, _ := strings.Cut(out, "Client scenarios")
	names := regexp.MustCompile(`(?m)^\s+- (\S+) \[(.*)\]$`).FindAllStringSubmatch(server, -1)
	require.NotEmpty(t, names)
	for _, name := range names {
		for version, held := range applicable {
			if !strings.Contains(name[2], version) {
				continue
			}
			_, excused := listed[name[1]]
			require.NotEqual(t, slices.Contains(held, name[1]), excused,
				"%s in %s must be either applicable or listed with a reason", name[1], version)
		}
	}
}

package config

import (
	"strings"
	"time"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

// MCP is the MCP adapter.
type MCP struct {
	Run MCPRun `yaml:"run" doc:"The one run of a stdio process."`
	// ToolCallIDKeys are _meta keys, in the order in which they are looked at.
	ToolCallIDKeys []string `yaml:"tool_call_id_keys"`
	// ToolCallIDArgument declares an optional argument tool_call_id on every tool.
	ToolCallIDArgument bool `yaml:"tool_call_id_argument"`
	// AllowedHosts and AllowedOrigins are for services that clients reach under other names.
	AllowedHosts   []string `yaml:"allowed_hosts"`
	AllowedOrigins []string `yaml:"allowed_origins"`
	// StdioRequestID takes the JSON-RPC id as the last source, on stdio only.
	StdioRequestID bool `yaml:"stdio_request_id"`
}

// Tags implements strictyaml.Tagger.
func (MCP) Tags() strictyaml.Tags {
	return strictyaml.Tags{
		"tool_call_id_keys": `doc:"_meta keys that may carry the client's tool_call_id, ` +
			`in the order in which they are looked at."`,
		"tool_call_id_argument": `doc:"Declare an optional argument tool_call_id, for clients that send no _meta."`,
		"allowed_hosts": `doc:"Host names under which /mcp answers; when absent, ` +
			`loopback names only on a loopback address, else all."`,
		"allowed_origins":  `doc:"Origins, such as https://chat.example.com, whose pages may call /mcp."`,
		"stdio_request_id": `doc:"On stdio, take the client's own JSON-RPC id when it sends no other tool_call_id."`,
	}
}

// MCPRun is the run that a stdio process opens at its start. It is its own ceiling.
type MCPRun struct {
	// IDPrefix is followed by a dash and a random suffix.
	IDPrefix string        `yaml:"id_prefix" doc:"First part of the run's id; a random suffix follows."`
	TTL      time.Duration `yaml:"ttl" min:"1s" max:"720h" doc:"Life of the run."`
	Budget   Budget        `yaml:"budget" doc:"What the run may spend."`
	// Tools and DataSources are what the run is granted; empty grants all that are configured.
	Tools       []string `yaml:"tools" doc:"Tools that the run is granted; all when absent."`
	DataSources []string `yaml:"data_sources" doc:"Data sources that the run is granted; all when absent."`
}

// Tags implements strictyaml.Tagger.
func (MCPRun) Tags() strictyaml.Tags {
	return strictyaml.Tags{
		"id_prefix": `pattern:"^[A-Za-z0-9][A-Za-z0-9._:-]{0,95}$" ` +
			`form:"1 to 96 letters, digits, dots, underscores, colons or dashes, a letter or digit first"`,
		"tools": `pattern:"` + toolForm + `" ` + toolFormText,
	}
}

// validate reports through the root, since a run may name data sources.
func (m MCP) validate(root Place, c Config) {
	at := root.Key("mcp")
	given := map[string]bool{}
	for i, k := range m.ToolCallIDKeys {
		place := at.Key("tool_call_id_keys").Index(i)
		switch {
		case k == "" || len(k) > 256 || strings.ContainsFunc(k, func(c rune) bool { return c < '!' || c > '~' }):
			place.Problem("This is not the name of a _meta key.",
				"Write 1 to 256 visible ASCII characters, such as claudecode/toolUseId.")
		case given[k]:
			place.Problem("The key is listed twice.", "Remove one of the two.")
		}
		given[k] = true
	}
	m.Run.validate(root, c)
}

func (r MCPRun) validate(root Place, c Config) {
	at := root.Key("mcp").Key("run")
	r.Budget.validate(at.Key("budget"), c.Limits)
	if r.TTL > c.Runs.RecordTTL && at.Given() {
		at.Key("ttl").Warn("Records may expire before the run ends, and can then no longer be cited.",
			"Raise runs.record_ttl to at least mcp.run.ttl.")
	}
	for name, list := range map[string][]string{"tools": r.Tools, "data_sources": r.DataSources} {
		if list != nil && len(list) == 0 {
			at.Key(name).Problem("An empty list grants nothing, and no list at all grants everything.",
				"List what the run is granted, or remove the key.")
		}
	}
	for i, id := range r.DataSources {
		if _, ok := c.DataSources[id]; !ok && !root.Key("data_sources").Key(id).IsUnreadable() {
			at.Key("data_sources").Index(i).Problem("There is no such data source.",
				strictyaml.Suggest(id, c.DataSources.IDs(), "The data sources are "))
		}
	}
}

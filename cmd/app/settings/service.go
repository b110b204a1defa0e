package settings

import (
	"github.com/toolboundary/toolboundary/adapters/agenttoken"
	"github.com/toolboundary/toolboundary/adapters/mcpserver"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/config"
)

// Service returns the options of the application.
func Service(c config.Config) application.Options {
	keys := make([]application.HarnessKey, 0, len(c.Auth.HarnessKeys))
	for _, k := range c.Auth.HarnessKeys {
		keys = append(keys, application.HarnessKey{Name: k.Name, Key: k.Key.Reveal()})
	}
	return application.Options{
		HarnessKeys: keys,
		Ceilings: application.Ceilings{
			MaxTTL: c.Runs.MaxTTL, RecordTTL: c.Runs.RecordTTL, Budget: c.Runs.Budget.Domain(),
		},
		Limits: c.Limits.Domain(), MaxConcurrent: c.Server.MaxConcurrent, StoreTimeout: storeTimeout(c),
	}
}

// TokenKeys returns the keys of agent tokens; the first one signs.
func TokenKeys(c config.Config) []agenttoken.Key {
	keys := make([]agenttoken.Key, 0, len(c.Auth.TokenKeys))
	for _, k := range c.Auth.TokenKeys {
		keys = append(keys, agenttoken.Key{ID: k.ID, Secret: []byte(k.Key.Reveal())})
	}
	return keys
}

// MCP returns the options of the MCP server.
func MCP(c config.Config, version string) mcpserver.Options {
	return mcpserver.Options{
		Version: version, MetaKeys: c.MCP.ToolCallIDKeys, Argument: c.MCP.ToolCallIDArgument,
		AllowedHosts: c.MCP.AllowedHosts, AllowedOrigins: c.MCP.AllowedOrigins,
		NoRequestID: !c.MCP.StdioRequestID,
		// A message holds the request and its JSON-RPC wrapping; text grows when it is escaped.
		MaxMessage: 2*int(c.Limits.Request) + 64<<10,
	}
}

// Stdio returns the configuration of a process that serves one client over standard input and
// output: its run is its own ceiling. Without a token key it makes one up, because no token of
// its leaves the process.
func Stdio(c config.Config) config.Config {
	c.Runs.MaxTTL, c.Runs.Budget = c.MCP.Run.TTL, c.MCP.Run.Budget
	if len(c.Auth.TokenKeys) == 0 {
		key := config.NewSecret(application.NewToken()+application.NewToken(), "this process")
		c.Auth.TokenKeys = []config.TokenKey{{ID: "process", Key: key}}
	}
	return c
}

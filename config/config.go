package config

import (
	"strings"
	"time"

	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/run"
)

// Config is a whole configuration. A value that Load or Parse returned without an error is
// valid; one that was built by hand is not checked.
type Config struct {
	Server Server `yaml:"server" doc:"Where the HTTP service listens."`
	Auth   Auth   `yaml:"auth" doc:"Keys of the harnesses, and keys that sign agent tokens."`
	Store  Store  `yaml:"store" doc:"Where runs and canonical records are kept."`
	Limits Limits `yaml:"limits" doc:"Byte ceilings of every invocation."`
	Runs   Runs   `yaml:"runs" doc:"Defaults and ceilings of the runs that harnesses open."`
	// DataSources maps ids to sources; see [SourcesOf] for those of one kind.
	DataSources Sources `yaml:"data_sources" doc:"What the tools may read, by id."`
	MCP         MCP     `yaml:"mcp" doc:"Settings of the MCP adapter."`

	warnings []Problem
	lines    map[string]int
}

// Line returns the line of a setting's path, or of the nearest section above it; 0 when the
// configuration was not read from text.
func (c Config) Line(path string) int {
	for {
		if line, ok := c.lines[path]; ok {
			return line
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			return 0
		}
		path = path[:i]
	}
}

// Warnings returns what is legal but risky, ordered by line.
func (c Config) Warnings() []Problem { return append([]Problem(nil), c.warnings...) }

// Server is the HTTP service.
type Server struct {
	// Listen is host:port; an empty host means every interface.
	Listen string `yaml:"listen" doc:"host:port of the API. An empty host means every interface."`
	// AdminListen is empty when /metrics and /readyz are served beside the API.
	AdminListen   string        `yaml:"admin_listen" doc:"host:port of a second listener for health and metrics; they are served beside the API when it is absent."`
	TLS           ServerTLS     `yaml:"tls" doc:"Certificate of the API's listener; plain HTTP when absent."`
	ShutdownGrace time.Duration `yaml:"shutdown_grace" min:"0s" max:"10m" doc:"How long calls in flight may go on after a stop was asked for."`
	// LogLevel is LogInfo or LogDebug.
	LogLevel string `yaml:"log_level" enum:"info|debug" doc:"info, or debug: causes too, which may hold words of servers and drivers."`
	// MaxConcurrent is the most tool calls that this process runs at once.
	MaxConcurrent int `yaml:"max_concurrent" min:"1" max:"100000" doc:"Most tool calls that this process runs at once; more are RATE_LIMITED."`
}

// The levels of the log.
const (
	LogInfo  = "info"
	LogDebug = "debug"
)

// ServerTLS is the certificate of a listener; both fields are set, or neither.
type ServerTLS struct {
	CertFile File `yaml:"cert_file" doc:"PEM file with the certificate chain."`
	KeyFile  File `yaml:"key_file" doc:"PEM file with the private key."`
}

// Enabled reports whether a certificate is configured.
func (t ServerTLS) Enabled() bool { return t.CertFile != "" && t.KeyFile != "" }

// Auth holds the two sorts of keys. Both lists are non-empty when loaded with ForServe.
type Auth struct {
	HarnessKeys []HarnessKey `yaml:"harness_keys" doc:"Bearer keys of the trusted programs that open runs."`
	// TokenKeys sign agent tokens: the first signs, all verify, so that keys can be rotated.
	TokenKeys []TokenKey `yaml:"token_keys" doc:"Keys of agent tokens: the first signs, all verify. The same on every replica."`
}

// HarnessKey is the bearer key of one harness: at least 24 visible ASCII bytes.
type HarnessKey struct {
	Name string `yaml:"name" required:"true" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" form:"1 to 64 letters, digits, dots, dashes or underscores, a letter or digit first" doc:"Name of the harness, for logs."`
	Key  Secret `yaml:"key" required:"true" doc:"The bearer key, at least 24 visible ASCII characters"`
}

// TokenKey signs and verifies agent tokens: at least 32 bytes.
type TokenKey struct {
	ID  string `yaml:"id" required:"true" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" form:"1 to 64 letters, digits, dots, dashes or underscores, a letter or digit first" doc:"Id of the key, carried in each token."`
	Key Secret `yaml:"key" required:"true" doc:"The signing key, at least 32 bytes"`
}

// Limits are the byte ceilings of an invocation.
type Limits struct {
	Request     ByteSize `yaml:"request" min:"1B" max:"16MiB" doc:"Most bytes of a request."`
	Raw         ByteSize `yaml:"raw" min:"1B" max:"256MiB" doc:"Most bytes of a tool's raw answer."`
	Record      ByteSize `yaml:"record" min:"1B" max:"512MiB" doc:"Most bytes of a stored record; the other limits must fit in it."`
	AgentResult ByteSize `yaml:"agent_result" min:"1B" max:"16MiB" doc:"Most bytes of what the agent receives."`
}

// Ceilings returns the limits in the domain's terms.
func (l Limits) Ceilings() limits.Limits {
	return limits.Limits{
		Request: limits.RequestBytes(l.Request), Raw: limits.RawBytes(l.Raw),
		Record: limits.RecordBytes(l.Record), AgentResult: limits.AgentBytes(l.AgentResult),
	}
}

// Runs are defaults of what a harness leaves out, and ceilings of what it may ask for.
type Runs struct {
	RecordTTL time.Duration `yaml:"record_ttl" min:"1s" max:"8784h" doc:"How long a record is kept, from its creation."`
	MaxTTL    time.Duration `yaml:"max_ttl" min:"1s" max:"720h" doc:"Longest life of a run, and its life when the harness names none."`
	Budget    Budget        `yaml:"budget" doc:"What a run may spend."`
}

// Budget bounds what a run may spend.
type Budget struct {
	MaxCalls        int64            `yaml:"max_calls" min:"1" max:"100000" doc:"Most tool calls."`
	MaxCallsPerTool map[string]int64 `yaml:"max_calls_per_tool" min:"0" max:"100000" keys:"^[a-z][a-z0-9_]{0,63}$" form:"a tool's name, such as mysql_query" doc:"Most calls of single tools, by name; others have no bound of their own."`
	MaxBytes        ByteSize         `yaml:"max_bytes" min:"1B" max:"1TiB" doc:"Most bytes of requests, raw answers and results together."`
	MaxRefusals     int64            `yaml:"max_refusals" min:"0" max:"100000" doc:"How many refusals are explained."`
}

// Domain returns the budget in the domain's terms.
func (b Budget) Domain() run.Budget {
	return run.Budget{MaxCalls: b.MaxCalls, MaxCallsPerTool: b.MaxCallsPerTool, MaxBytes: int64(b.MaxBytes), MaxRefusals: b.MaxRefusals}
}

// MCP is the MCP adapter.
type MCP struct {
	Run MCPRun `yaml:"run" doc:"The one run of a stdio process."`
	// ToolCallIDKeys are _meta keys, in the order in which they are looked at.
	ToolCallIDKeys []string `yaml:"tool_call_id_keys" doc:"_meta keys that may carry the client's tool_call_id, in the order in which they are looked at."`
	// ToolCallIDArgument declares an optional argument tool_call_id on every tool.
	ToolCallIDArgument bool `yaml:"tool_call_id_argument" doc:"Declare an optional argument tool_call_id, for clients that send no _meta."`
	// AllowedHosts and AllowedOrigins are for services that clients reach under other names.
	AllowedHosts   []string `yaml:"allowed_hosts" doc:"Host names under which /mcp answers; when absent, loopback names only on a loopback address, else all."`
	AllowedOrigins []string `yaml:"allowed_origins" doc:"Origins, such as https://chat.example.com, whose pages may call /mcp."`
	// StdioRequestID takes the JSON-RPC id as the last source, on stdio only.
	StdioRequestID bool `yaml:"stdio_request_id" doc:"On stdio, take the client's own JSON-RPC id when it sends no other tool_call_id."`
}

// MCPRun is the run that a stdio process opens at its start. It is its own ceiling.
type MCPRun struct {
	// IDPrefix is followed by a dash and a random suffix.
	IDPrefix string        `yaml:"id_prefix" pattern:"^[A-Za-z0-9][A-Za-z0-9._:-]{0,95}$" form:"1 to 96 letters, digits, dots, underscores, colons or dashes, a letter or digit first" doc:"First part of the run's id; a random suffix follows."`
	TTL      time.Duration `yaml:"ttl" min:"1s" max:"720h" doc:"Life of the run."`
	Budget   Budget        `yaml:"budget" doc:"What the run may spend."`
	// Tools and DataSources are what the run is granted; empty grants all that are configured.
	Tools       []string `yaml:"tools" pattern:"^[a-z][a-z0-9_]{0,63}$" form:"a tool's name, such as mysql_query" doc:"Tools that the run is granted; all when absent."`
	DataSources []string `yaml:"data_sources" doc:"Data sources that the run is granted; all when absent."`
}

// Default returns the configuration of an empty file.
func Default() Config {
	l := limits.Default()
	return Config{
		Server: Server{Listen: "127.0.0.1:8080", ShutdownGrace: 15 * time.Second, LogLevel: LogInfo, MaxConcurrent: 256},
		Store:  Store{Kind: StoreMemory, Redis: defaultRedis()},
		Limits: Limits{
			Request: ByteSize(l.Request), Raw: ByteSize(l.Raw),
			Record: ByteSize(l.Record), AgentResult: ByteSize(l.AgentResult),
		},
		Runs: Runs{
			RecordTTL: 24 * time.Hour, MaxTTL: time.Hour,
			Budget: Budget{MaxCalls: 50, MaxBytes: 32 << 20, MaxRefusals: 25},
		},
		MCP: MCP{
			// A desktop client's run lasts a working day, so its budget is larger than a task's.
			Run: MCPRun{
				IDPrefix: "mcp", TTL: 12 * time.Hour,
				Budget: Budget{MaxCalls: 1000, MaxBytes: 512 << 20, MaxRefusals: 250},
			},
			ToolCallIDKeys:     []string{"claudecode/toolUseId", "toolboundary/toolCallId"},
			ToolCallIDArgument: true,
			StdioRequestID:     true,
		},
	}
}

package mcpserver

// The defaults of Options.
const (
	// ClaudeCodeKey is the _meta key in which Claude Code sends the model's tool_use id.
	ClaudeCodeKey = "claudecode/toolUseId"
	// OwnKey is the _meta key for clients that can choose one.
	OwnKey = "toolboundary/toolCallId"
	// RunKey is the _meta key with which a client may name the run that it means to call in: it
	// must be the token's own (RUN_MISMATCH). Without it the call is the token's run's.
	RunKey = "toolboundary/runId"
	// DefaultHeader is the HTTP header that carries the tool_call_id.
	DefaultHeader = "Tool-Call-Id"
	// DefaultMaxMessage is the most bytes of one JSON-RPC message. It is above the request
	// limit, so that a request that is only a little too large still gets its own refusal.
	DefaultMaxMessage = 1 << 20
)

// argumentName is the declared argument that carries the tool_call_id.
const argumentName = "tool_call_id"

// Options configure a Server. The zero value is good.
type Options struct {
	// Version is the service's version, shown to clients; default "unknown".
	Version string
	// MetaKeys are the keys of params._meta that carry the tool_call_id, in the order in which
	// they are named to clients; default ClaudeCodeKey and OwnKey.
	MetaKeys []string
	// Header is the HTTP header that carries the tool_call_id; default DefaultHeader.
	Header string
	// Argument declares the argument tool_call_id on every tool, for clients that can send
	// neither _meta nor headers. It is taken out of the arguments before the request is stored.
	Argument bool
	// NoRequestID switches off, on stdio, the JSON-RPC id as the last source of the
	// tool_call_id. Over HTTP it never is one: there it is unique neither in a run nor at all.
	NoRequestID bool
	// AllowedOrigins are origins ("https://chat.example.com") whose pages may call the handler;
	// by default only pages of the handler's own host may.
	AllowedOrigins []string
	// AllowedHosts are the values of the Host header, ports aside, that the handler answers to.
	// By default a handler that is reached over a loopback address answers to loopback names
	// only (DNS rebinding) and any other to all.
	AllowedHosts []string
	// MaxMessage is the most bytes of one message; default DefaultMaxMessage.
	MaxMessage int
}

func (o Options) withDefaults() Options {
	if o.Version == "" {
		o.Version = "unknown"
	}
	if o.MetaKeys == nil {
		o.MetaKeys = []string{ClaudeCodeKey, OwnKey}
	}
	if o.Header == "" {
		o.Header = DefaultHeader
	}
	if o.MaxMessage <= 0 {
		o.MaxMessage = DefaultMaxMessage
	}
	return o
}

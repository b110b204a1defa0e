// Package cli parses the command line of toolboundary and prints what commands return.
//
// It decides nothing: what a command does is a function in [Functions], which cmd/app fills in.
// Text that comes from a database or a service is made safe for a terminal before it is shown.
// Exit codes: 0 ok, 1 failed, 2 usage or configuration.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/ports"
)

// The exit codes of every command.
const (
	OK     = 0
	Failed = 1
	Usage  = 2
)

// Streams are the process's standard streams.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// UsageError marks an error of the command line or of the configuration: exit code 2.
type UsageError struct{ Err error }

// Error returns the text of the error itself.
func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e UsageError) Unwrap() error { return e.Err }

// ErrReported says that a command failed and has already printed why.
var ErrReported = errors.New("reported")

// Functions are what the commands do.
type Functions struct {
	// Serve runs the service until ctx ends.
	Serve func(ctx context.Context, configPath string, s Streams) error
	// MCP serves one stdio client until it goes away or ctx ends.
	MCP func(ctx context.Context, configPath string, s Streams) error
	// Guard judges statements from s.In, one JSON line each.
	Guard func(ctx context.Context, args GuardArgs, s Streams) error
	// ConfigCheck prints what is wrong with a configuration.
	ConfigCheck func(ctx context.Context, path string, asJSON bool, s Streams) error
	// ConfigSchema prints the configuration's JSON Schema.
	ConfigSchema func(s Streams) error
	// Version prints the version and build information.
	Version func(asJSON bool, s Streams) error
	// Query answers one statement of the operator with a page of rows (S43).
	Query func(ctx context.Context, args QueryArgs) (Page, error)
	// AllowlistInit returns a draft in YAML, AllowlistGrants statements in SQL.
	AllowlistInit   func(ctx context.Context, args InitArgs) (string, error)
	AllowlistGrants func(ctx context.Context, args GrantsArgs) (string, error)
	// AllowlistCheck compares an allowlist with its database.
	AllowlistCheck func(ctx context.Context, args SourceArgs) (Drifts, error)
	// Doctor examines everything that a configuration connects to.
	Doctor func(ctx context.Context, args DoctorArgs) ([]Finding, error)
	// RunOverview, RunCancel and Record ask a running service and return its answers.
	RunOverview func(ctx context.Context, at Service, runID string) (json.RawMessage, error)
	RunCancel   func(ctx context.Context, at Service, runID string) (json.RawMessage, error)
	Record      func(ctx context.Context, at Service, runID, toolCallID string) (json.RawMessage, error)
}

type grammar struct {
	Serve      serveCmd      `cmd:"" help:"Run the service."`
	MCP        mcpCmd        `cmd:"" name:"mcp" help:"Serve one MCP client over standard input and output."`
	Query      queryCmd      `cmd:"" help:"Run one SELECT, read only, on the database that the environment names."`
	Guard      guardCmd      `cmd:"" help:"Judge SQL statements without a database: JSON lines in, verdict lines out."`
	Allowlist  allowlistCmd  `cmd:"" help:"Draft an allowlist, compare it with the database, print it as grants."`
	Config     configCmd     `cmd:"" help:"Check a configuration, or print its schema."`
	Doctor     doctorCmd     `cmd:"" help:"Connect to everything that a configuration names and report what is wrong."`
	Runs       runsCmd       `cmd:"" help:"See and cancel the runs of a running service."`
	Record     recordCmd     `cmd:"" help:"See a canonical record of a running service."`
	Completion completionCmd `cmd:"" help:"Print a completion script for a shell."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
}

// env is what the Run method of every command gets.
type env struct {
	ctx context.Context
	Streams
	clock ports.Clock
	do    Functions
}

// Execute parses the arguments, executes the command and returns the exit code.
func Execute(ctx context.Context, args []string, s Streams, clock ports.Clock, do Functions) int {
	code, exited := OK, false
	parser, err := newParser(kong.Writers(s.Out, s.Err), kong.Exit(func(c int) { code, exited = c, true }))
	if err != nil {
		fmt.Fprintln(s.Err, "toolboundary:", err)
		return Failed
	}
	if len(args) > 0 && args[0] == completeWord {
		complete(s.Out, parser.Model.Node, args[1:])
		return OK
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if exited { // --help
		return code
	}
	if err != nil {
		fmt.Fprintf(s.Err, "toolboundary: %s\nRun toolboundary --help to see what it can do.\n", lines(err.Error()))
		return Usage
	}
	return report(s, wantsJSON(parsed), parsed.Run(&env{ctx, s, clock, do}))
}

func newParser(options ...kong.Option) (*kong.Kong, error) {
	return kong.New(&grammar{}, append([]kong.Option{
		kong.Name("toolboundary"),
		kong.Description("Lets AI agents read production data without trusting them.\n\n" +
			"Exit codes: 0 ok, 1 failed, 2 usage or configuration."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	}, options...)...)
}

// wantsJSON reports whether the command was asked for JSON; its failures are JSON, too, then.
func wantsJSON(c *kong.Context) bool {
	for _, f := range c.Flags() {
		if f.Name == "output" {
			return fmt.Sprint(c.FlagValue(f)) == "json"
		}
	}
	return false
}

func report(s Streams, asJSON bool, err error) int {
	if err == nil {
		return OK
	}
	code := Failed
	var usage UsageError
	if errors.As(err, &usage) {
		code = Usage
	}
	if errors.Is(err, ErrReported) {
		return code
	}
	text := err.Error()
	var f *fault.Error
	if errors.As(err, &f) {
		text = f.Error()
		for _, more := range []string{f.Reason, f.Detail} {
			if more != "" {
				text += "\n  " + more
			}
		}
		if asJSON {
			view := failure{Error: faultView{string(f.Code), f.Code.Sentence(), f.Reason, f.Detail}}
			if writeJSON(s.Out, view) == nil {
				return code
			}
		}
	}
	fmt.Fprintln(s.Err, "toolboundary:", lines(text))
	return code
}

type failure struct {
	Error faultView `json:"error"`
}

type faultView struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Reason  string `json:"reason,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// writeJSON writes a value and a line feed, without escapes for HTML.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Package cli parses the command line of toolboundary and prints what commands return.
//
// It decides nothing: what a command does is a function of Functions, which cmd/app fills in.
// Exit codes: 0 ok, 1 failed, 2 usage or configuration.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kong"
)

// Exit codes of every command.
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

func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e UsageError) Unwrap() error { return e.Err }

// ErrReported says that a command failed and has printed why already.
var ErrReported = errors.New("reported")

// Functions are what the commands do.
type Functions struct {
	// Serve runs the service until ctx ends.
	Serve func(ctx context.Context, configPath string) error
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
}

// GuardArgs are the arguments of guard.
type GuardArgs struct {
	ConfigPath string
	DataSource string
	Explain    bool
}

type grammar struct {
	Serve   serveCmd   `cmd:"" help:"Run the service."`
	MCP     mcpCmd     `cmd:"" name:"mcp" help:"Serve one MCP client over standard input and output."`
	Guard   guardCmd   `cmd:"" help:"Judge SQL statements without a database: JSON lines in, verdict lines out."`
	Config  configCmd  `cmd:"" help:"Check a configuration, or print its schema."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

// run is what every command's Run method gets.
type run struct {
	ctx context.Context
	Streams
	do Functions
}

// Run parses the arguments, runs the command and returns the exit code.
func Run(ctx context.Context, args []string, s Streams, do Functions) int {
	code, exited := OK, false
	var g grammar
	parser, err := kong.New(&g,
		kong.Name("toolboundary"),
		kong.Description("Lets AI agents read production data without trusting them."),
		kong.Writers(s.Out, s.Err),
		kong.Exit(func(c int) { code, exited = c, true }),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		fmt.Fprintln(s.Err, "toolboundary:", err)
		return Failed
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if exited { // --help
		return code
	}
	if err != nil {
		fmt.Fprintf(s.Err, "toolboundary: %v\nRun toolboundary --help to see what it can do.\n", err)
		return Usage
	}
	return report(s.Err, parsed.Run(&run{ctx, s, do}))
}

func report(w io.Writer, err error) int {
	var usage UsageError
	switch {
	case err == nil:
		return OK
	case errors.Is(err, ErrReported):
		return Failed
	case errors.As(err, &usage):
		fmt.Fprintln(w, "toolboundary:", err)
		return Usage
	default:
		fmt.Fprintln(w, "toolboundary:", err)
		return Failed
	}
}

// configFlag is the flag of every command that needs a configuration.
type configFlag struct {
	Path string `name:"config" short:"c" required:"" placeholder:"FILE" help:"Configuration file (YAML)."`
}

type serveCmd struct{ configFlag }

func (c *serveCmd) Help() string { return "Example: toolboundary serve --config toolboundary.yaml" }
func (c *serveCmd) Run(r *run) error {
	return r.do.Serve(r.ctx, c.Path)
}

type mcpCmd struct{ configFlag }

func (c *mcpCmd) Help() string {
	return "One process, one run: opened at the start from the configuration's mcp.run, ended at exit.\nExample: toolboundary mcp --config toolboundary.yaml"
}
func (c *mcpCmd) Run(r *run) error { return r.do.MCP(r.ctx, c.Path, r.Streams) }

type guardCmd struct {
	configFlag
	DataSource string `required:"" placeholder:"ID" help:"Data source whose allowlist holds."`
	Explain    bool   `help:"Print tables, columns, lineage and the SQL that would run."`
}

func (c *guardCmd) Help() string {
	return "Reads {\"id\":…,\"sql\":…,\"params\":[…]} lines; needs no connection and no credentials.\n" +
		"Example: echo '{\"id\":1,\"sql\":\"SELECT id FROM customers\"}' | toolboundary guard --config toolboundary.yaml --data-source shop"
}
func (c *guardCmd) Run(r *run) error {
	return r.do.Guard(r.ctx, GuardArgs{c.Path, c.DataSource, c.Explain}, r.Streams)
}

type outputFlag struct {
	Output string `enum:"text,json" default:"text" help:"Output format: text or json."`
}

type configCmd struct {
	Check  configCheckCmd  `cmd:"" help:"Report every fault of a configuration, with its path and how to fix it."`
	Schema configSchemaCmd `cmd:"" help:"Print the configuration's JSON Schema, for editors."`
}

type configCheckCmd struct {
	File string `arg:"" optional:"" help:"Configuration file."`
	Path string `name:"config" short:"c" placeholder:"FILE" help:"Configuration file."`
	outputFlag
}

func (c *configCheckCmd) Help() string { return "Example: toolboundary config check toolboundary.yaml" }
func (c *configCheckCmd) Run(r *run) error {
	path := c.File
	if path == "" {
		path = c.Path
	}
	if path == "" {
		return UsageError{errors.New("config check needs a file: toolboundary config check toolboundary.yaml")}
	}
	return r.do.ConfigCheck(r.ctx, path, c.Output == "json", r.Streams)
}

type configSchemaCmd struct{}

func (c *configSchemaCmd) Help() string {
	return "Example: toolboundary config schema > toolboundary.schema.json, and # yaml-language-server: $schema=toolboundary.schema.json in the file"
}
func (c *configSchemaCmd) Run(r *run) error { return r.do.ConfigSchema(r.Streams) }

type versionCmd struct{ outputFlag }

func (c *versionCmd) Run(r *run) error { return r.do.Version(c.Output == "json", r.Streams) }

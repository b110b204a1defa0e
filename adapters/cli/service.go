package cli

import "errors"

// configFlag is the flag of every command that needs a configuration.
type configFlag struct {
	Path string `name:"config" short:"c" required:"" placeholder:"FILE" help:"Configuration file (YAML)."`
}

// outputFlag is the flag of every command that prints an answer.
type outputFlag struct {
	Output string `short:"o" enum:"text,json" default:"text" help:"Output format: text or json."`
}

func (f outputFlag) json() bool { return f.Output == "json" }

type serveCmd struct{ configFlag }

func (c *serveCmd) Help() string {
	return "Logs JSON lines to standard error. SIGTERM and SIGINT stop it: calls in flight get " +
		"server.shutdown_grace.\n\n" +
		"Example: toolboundary serve --config toolboundary.yaml"
}
func (c *serveCmd) Run(e *env) error { return e.do.Serve(e.ctx, c.Path, e.Streams) }

type mcpCmd struct{ configFlag }

func (c *mcpCmd) Help() string {
	return "One process, one run: it is opened at the start as the configuration's mcp.run says, and ended at exit.\n\n" +
		"Example: toolboundary mcp --config toolboundary.yaml"
}
func (c *mcpCmd) Run(e *env) error { return e.do.MCP(e.ctx, c.Path, e.Streams) }

// GuardArgs are the arguments of guard.
type GuardArgs struct {
	ConfigPath string
	DataSource string
	Explain    bool
}

type guardCmd struct {
	configFlag
	DataSource string `required:"" placeholder:"ID" help:"Data source whose allowlist applies."`
	Explain    bool   `help:"Print tables, columns, lineage and the SQL that would run."`
}

func (c *guardCmd) Help() string {
	return "Reads {\"id\":…,\"sql\":…,\"params\":[…]} lines; needs no connection and no credentials.\n\n" +
		"Example: echo '{\"id\":1,\"sql\":\"SELECT id FROM customers\"}' | " +
		"toolboundary guard --config toolboundary.yaml --data-source shop"
}
func (c *guardCmd) Run(e *env) error {
	return e.do.Guard(e.ctx, GuardArgs{c.Path, c.DataSource, c.Explain}, e.Streams)
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

func (c *configCheckCmd) Help() string {
	return "Connects to nothing and needs no credentials. Faults exit with 2; what is legal but risky is a warning.\n\n" +
		"Example: toolboundary config check toolboundary.yaml"
}
func (c *configCheckCmd) Run(e *env) error {
	path := c.File
	if path == "" {
		path = c.Path
	}
	if path == "" {
		return UsageError{errors.New("config check needs a file: toolboundary config check toolboundary.yaml")}
	}
	return e.do.ConfigCheck(e.ctx, path, c.json(), e.Streams)
}

type configSchemaCmd struct{}

func (c *configSchemaCmd) Help() string {
	return "Made from the types that read the file.\n\nExample: toolboundary config schema > " +
		"toolboundary.schema.json, and\n" +
		"# yaml-language-server: $schema=toolboundary.schema.json as the file's first line"
}
func (c *configSchemaCmd) Run(e *env) error { return e.do.ConfigSchema(e.Streams) }

type versionCmd struct{ outputFlag }

func (c *versionCmd) Help() string     { return "Example: toolboundary version --output json" }
func (c *versionCmd) Run(e *env) error { return e.do.Version(c.json(), e.Streams) }

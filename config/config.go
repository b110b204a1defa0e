package config

import (
	"time"

	"github.com/toolboundary/toolboundary/config/strictyaml"
	"github.com/toolboundary/toolboundary/domain/limits"
)

// What a kind of data source and a caller of [Load] need of the reader, under the names of this
// package; see package strictyaml.
type (
	// Place is where a setting is in the file; problems are reported through it.
	Place = strictyaml.Place
	// Problem is one fault or one warning.
	Problem = strictyaml.Problem
	// Problems is the error of Load and Parse: everything that is wrong, ordered by line.
	Problems = strictyaml.Problems
	// ByteSize is a number of bytes, written as 64KiB, 4MiB, 1GiB or a plain number.
	ByteSize = strictyaml.ByteSize
	// File is the name of a file; a relative name is relative to the configuration file.
	File = strictyaml.File
)

// Config is a whole configuration. A value that Load or Parse returned without an error is
// valid; one that was built by hand is not checked.
type Config struct {
	Server Server `yaml:"server" doc:"Where the HTTP service listens."`
	Auth   Auth   `yaml:"auth" doc:"Keys of the harnesses, and keys that sign agent tokens."`
	Store  Store  `yaml:"store" doc:"Where runs and canonical records are kept."`
	Limits Limits `yaml:"limits" doc:"Byte limits of every tool call."`
	Runs   Runs   `yaml:"runs" doc:"Defaults and ceilings of the runs that harnesses open."`
	// DataSources maps ids to sources; see [SourcesOf] for those of one kind.
	DataSources Sources `yaml:"data_sources" doc:"What the tools may read, by id."`
	MCP         MCP     `yaml:"mcp" doc:"Settings of the MCP adapter."`

	report *strictyaml.Report // nil when the configuration was built by hand
}

// Line returns the line of a setting's path, or of the nearest section above it; 0 when the
// configuration was not read from text.
func (c Config) Line(path string) int {
	if c.report == nil {
		return 0
	}
	return c.report.Line(path)
}

// Warnings returns what is legal but risky, ordered by line.
func (c Config) Warnings() []Problem {
	if c.report == nil {
		return nil
	}
	return c.report.Warnings()
}

// Default returns the configuration of an empty file, which is also where one that is built by
// hand begins.
func Default() Config {
	l := limits.Default()
	return Config{
		Server: Server{
			Listen: "127.0.0.1:8080", ShutdownGrace: 15 * time.Second, LogLevel: LogInfo, MaxConcurrent: 256,
		},
		Store: Store{Kind: StoreMemory, Redis: defaultRedis()},
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

// validate reports what no single value shows.
func (c Config) validate(root Place, o options) {
	c.Server.validate(root.Key("server"))
	c.Auth.validate(root.Key("auth"), o.serve)
	c.Store.validate(root.Key("store"))
	c.Limits.validate(root.Key("limits"))
	c.Runs.validate(root.Key("runs"), c.Limits)
	c.MCP.validate(root, c)
	at := root.Key("data_sources")
	if len(c.DataSources) == 0 {
		at.Warn("There is no data source: tools that read one have nothing to read.", "Add one below data_sources.")
	}
	for _, id := range c.DataSources.IDs() {
		if source, ok := c.DataSources[id].(*MySQL); ok {
			source.validateWith(c, at.Key(id))
		}
	}
}

package bootstrap

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/config"
)

// functions wires the commands.
func (p *parts) functions(s cli.Streams) cli.Functions {
	return cli.Functions{
		Serve:        func(ctx context.Context, path string) error { return p.serve(ctx, path, s) },
		MCP:          p.mcp,
		Guard:        p.guard,
		ConfigCheck:  p.configCheck,
		ConfigSchema: p.configSchema,
		Version:      p.printVersion,
		Query:        p.query, Doctor: p.doctor,
		AllowlistInit: p.allowlistInit, AllowlistCheck: p.allowlistCheck, AllowlistGrants: p.allowlistGrants,
		RunOverview: p.runOverview, RunCancel: p.runCancel, Record: p.record,
	}
}

// load reads a configuration; what is wrong with it is a usage error that names every fault.
func (p *parts) load(path string, options ...config.Option) (config.Config, error) {
	c, err := config.Load(path, os.LookupEnv, append(options, config.WithKinds(p.kinds...))...)
	if err != nil {
		return config.Config{}, cli.UsageError{Err: err}
	}
	return c, nil
}

func (p *parts) configSchema(s cli.Streams) error {
	schema, err := config.Schema(config.WithKinds(p.kinds...))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.Out, "%s\n", schema)
	return err
}

// build is what version prints.
type build struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
}

func (p *parts) printVersion(asJSON bool, s cli.Streams) error {
	b := build{Version: p.version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if b.Version == "" {
			b.Version = info.Main.Version
		}
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				b.Revision = setting.Value
			case "vcs.time":
				b.Time = setting.Value
			}
		}
	}
	if asJSON {
		return json.NewEncoder(s.Out).Encode(b)
	}
	_, err := fmt.Fprintf(s.Out, "toolboundary %s (%s, %s) %s %s\n", b.Version, b.Go, b.Platform, b.Revision, b.Time)
	return err
}

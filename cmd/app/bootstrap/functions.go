package bootstrap

import (
	"context"
	"encoding/json"
	"errors"
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

// configCheck prints every fault and warning; faults exit with 2.
func (p *parts) configCheck(_ context.Context, path string, asJSON bool, s cli.Streams) error {
	c, err := p.load(path, config.ForServe(), config.WithoutSecrets())
	warnings := c.Warnings()
	var problems *config.Problems
	var faults []config.Problem
	switch {
	case errors.As(err, &problems):
		faults, warnings = problems.List, problems.Warnings
	case err != nil:
		return err
	default:
		_, err = p.tools(c, silent)
		for _, one := range flatten(err) {
			faults = append(faults, config.Problem{Message: one.Error(), Fix: "Mend it, or remove it."})
		}
	}
	if asJSON {
		out := struct {
			Problems []config.Problem `json:"problems"`
			Warnings []config.Problem `json:"warnings"`
		}{append([]config.Problem{}, faults...), append([]config.Problem{}, warnings...)}
		if err := json.NewEncoder(s.Out).Encode(out); err != nil {
			return err
		}
	} else {
		for _, one := range faults {
			fmt.Fprintln(s.Out, "fault:   "+one.Text(path))
		}
		for _, one := range warnings {
			fmt.Fprintln(s.Out, "warning: "+one.Text(path))
		}
		fmt.Fprintf(s.Out, "%s: %d fault(s), %d warning(s)\n", path, len(faults), len(warnings))
	}
	if len(faults) > 0 {
		return cli.UsageError{Err: fmt.Errorf("%s cannot be used", path)}
	}
	return nil
}

// flatten returns the parts of a joined error.
func flatten(err error) []error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		if err == nil {
			return nil
		}
		return []error{err}
	}
	var list []error
	for _, one := range joined.Unwrap() {
		list = append(list, flatten(one)...)
	}
	return list
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

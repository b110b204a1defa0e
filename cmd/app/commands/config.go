package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/cmd/app/settings"
	"github.com/toolboundary/toolboundary/config"
)

// Config holds the commands about configurations.
type Config struct {
	Loader Loader
	Tools  ToolBuilder
}

// Schema prints the configuration's JSON Schema.
func (c Config) Schema(s cli.Streams) error {
	schema, err := config.Schema(config.WithKinds(c.Loader.Kinds...))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.Out, "%s\n", schema)
	return err
}

// Check prints every fault and warning of a configuration; faults are a usage error.
func (c Config) Check(ctx context.Context, path string, asJSON bool, s cli.Streams) error {
	read, err := c.Loader.Load(path, config.ForServe(), config.WithoutSecrets())
	warnings := read.Warnings()
	var problems *config.Problems
	var faults []config.Problem
	switch {
	case errors.As(err, &problems):
		faults, warnings = problems.List, problems.Warnings
	case err != nil:
		return err
	default:
		faults = c.unbuildable(ctx, read)
	}
	if asJSON {
		err = json.NewEncoder(s.Out).Encode(struct {
			Problems []config.Problem `json:"problems"`
			Warnings []config.Problem `json:"warnings"`
		}{append([]config.Problem{}, faults...), append([]config.Problem{}, warnings...)})
	} else {
		err = printProblems(s.Out, path, faults, warnings)
	}
	if err == nil && len(faults) > 0 {
		return cli.UsageError{Err: fmt.Errorf("%s cannot be used", path)}
	}
	return err
}

func printProblems(w io.Writer, path string, faults, warnings []config.Problem) error {
	var b strings.Builder
	for _, one := range faults {
		b.WriteString("fault:   " + one.Text(path) + "\n")
	}
	for _, one := range warnings {
		b.WriteString("warning: " + one.Text(path) + "\n")
	}
	fmt.Fprintf(&b, "%s: %d fault(s), %d warning(s)\n", path, len(faults), len(warnings))
	_, err := io.WriteString(w, b.String())
	return err
}

// unbuildable returns the faults of a configuration that only the tools can find.
func (c Config) unbuildable(ctx context.Context, read config.Config) []config.Problem {
	if faults := guardFaults(read); len(faults) > 0 {
		return faults
	}
	set, err := c.Tools(read)
	if err == nil {
		err = set.Close(ctx)
	}
	var faults []config.Problem
	for _, one := range flatten(err) {
		faults = append(faults, config.Problem{Message: one.Error(), Fix: "Fix it, or remove it."})
	}
	return faults
}

// guardFaults returns what the SQL guard does not accept in allowlists, with paths and lines.
func guardFaults(c config.Config) []config.Problem {
	var faults []config.Problem
	for _, id := range c.DataSources.IDs() {
		m, ok := c.DataSources[id].(*config.MySQL)
		if !ok || len(m.Allow) == 0 {
			continue
		}
		_, err := sqlguard.New(settings.Policy(m))
		for _, one := range flatten(err) {
			fault := guardFault("data_sources."+id, one.Error())
			fault.Line = c.Line(fault.Path)
			faults = append(faults, fault)
		}
	}
	return faults
}

// guardFault gives a problem of the guard's policy its path and what to do.
func guardFault(at, message string) config.Problem {
	_, table, isTable := strings.Cut(message, `table "`)
	switch {
	case strings.HasPrefix(message, "function "):
		known := strings.Join(sqlguard.KnownFunctions(), ", ")
		return config.Problem{
			Path: at + ".functions", Message: message, Fix: "Remove it; these can be allowed: " + known + ".",
		}
	case isTable:
		name, _, _ := strings.Cut(table, `"`)
		return config.Problem{
			Path: at + ".allow." + name, Message: message,
			Fix: "Rename it in the database, or read it through a view that uses other names.",
		}
	default:
		return config.Problem{Path: at + ".allow", Message: message, Fix: "Correct the list."}
	}
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

package bootstrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/config"
)

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
		faults = p.unbuildable(c)
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

// unbuildable returns what only the tools know to be wrong with a configuration that reads well.
func (p *parts) unbuildable(c config.Config) []config.Problem {
	var faults []config.Problem
	for _, id := range c.DataSources.IDs() {
		m, ok := c.DataSources[id].(*config.MySQL)
		if !ok || len(m.Allow) == 0 {
			continue
		}
		_, err := sqlguard.New(policyOf(m))
		for _, one := range flatten(err) {
			fault := guardFault("data_sources."+id, one.Error())
			fault.Line = c.Line(fault.Path)
			faults = append(faults, fault)
		}
	}
	if len(faults) > 0 {
		return faults
	}
	_, err := p.tools(c, silent)
	for _, one := range flatten(err) {
		faults = append(faults, config.Problem{Message: one.Error(), Fix: "Mend it, or remove it."})
	}
	return faults
}

// guardFault gives a problem of the guard's policy its path and what to do.
func guardFault(at, message string) config.Problem {
	_, table, isTable := strings.Cut(message, `table "`)
	switch {
	case strings.HasPrefix(message, "function "):
		return config.Problem{Path: at + ".functions", Message: message, Fix: "Remove it; these can be allowed: " + strings.Join(sqlguard.KnownFunctions(), ", ") + "."}
	case isTable:
		name, _, _ := strings.Cut(table, `"`)
		return config.Problem{Path: at + ".allow." + name, Message: message, Fix: "Rename it in the database, or read it through a view with other names."}
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

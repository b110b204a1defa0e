package application

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports/toolset"
)

// Catalogue is the closed set of the service's tools.
type Catalogue struct {
	entries map[string]catalogued
	names   []string
	sources []string
}

type catalogued struct {
	toolset.Entry
	about tool.Description
}

var toolName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// NewCatalogue returns the catalogue of the entries. The error joins every fault of every entry: a
// name that is not [a-z][a-z0-9_]{0,63} or is used twice, a missing projector, a tool that is not
// read-only, a schema that is not JSON.
func NewCatalogue(entries ...toolset.Entry) (*Catalogue, error) {
	c := &Catalogue{entries: map[string]catalogued{}}
	sources := map[string]bool{}
	var problems []error
	for _, e := range entries {
		about := e.Executor.Describe()
		_, twice := c.entries[about.Name]
		if why := unservable(e, about, twice); why != "" {
			problems = append(problems, fmt.Errorf("tool %q: %s", about.Name, why))
		}
		c.entries[about.Name] = catalogued{e, about}
		for _, s := range about.DataSources {
			sources[s] = true
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	c.names = slices.Sorted(maps.Keys(c.entries))
	c.sources = slices.Sorted(maps.Keys(sources))
	return c, nil
}

// unservable says why an entry cannot be served, or returns "".
func unservable(e toolset.Entry, about tool.Description, twice bool) string {
	switch {
	case !toolName.MatchString(about.Name):
		return "the name must be a lower-case letter and up to 63 letters, digits and underscores"
	case twice:
		return "two tools have this name"
	case e.Projector == nil:
		return "it has no projector"
	case !about.ReadOnly:
		return "it is not read-only; only read-only tools are served"
	case !json.Valid(about.InputSchema) || !json.Valid(about.OutputSchema):
		return "inputSchema and outputSchema must be JSON"
	}
	return ""
}

// Granted returns the descriptions of the tools that the grants allow, sorted by name, each
// with the granted ones of its data sources only.
func (c *Catalogue) Granted(g run.Grants) []tool.Description {
	var list []tool.Description
	for _, name := range c.names {
		if !slices.Contains(g.Tools, name) {
			continue
		}
		about := c.entries[name].about
		about.DataSources = slices.DeleteFunc(slices.Clone(about.DataSources), func(s string) bool {
			return !slices.Contains(g.DataSources, s)
		})
		list = append(list, about)
	}
	return list
}

// All returns the grants that cover the whole catalogue.
func (c *Catalogue) All() run.Grants {
	return run.Grants{Tools: slices.Clone(c.names), DataSources: slices.Clone(c.sources)}
}

// Check returns TOOL_UNKNOWN or DATA_SOURCE_UNKNOWN when the grants name what the service
// does not have, and REQUEST_INVALID when they name no tool.
func (c *Catalogue) Check(g run.Grants) error {
	if len(g.Tools) == 0 {
		return fault.Because(fault.RequestInvalid, "TOOLS", "tools must name at least one tool")
	}
	for _, name := range g.Tools {
		if _, ok := c.entries[name]; !ok {
			return fault.Because(fault.ToolUnknown, "", fmt.Sprintf("there is no tool %.80q", name))
		}
	}
	for _, source := range g.DataSources {
		if !slices.Contains(c.sources, source) {
			return fault.Because(fault.DataSourceUnknown, "", fmt.Sprintf("there is no data source %.80q", source))
		}
	}
	return nil
}

// known returns the name when the catalogue has such a tool, else "": only then is it safe to log.
func (c *Catalogue) known(name string) string {
	if _, ok := c.entries[name]; !ok {
		return ""
	}
	return name
}

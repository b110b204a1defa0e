package toolset_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports/toolset"
)

// Archive is the configuration of one data source of a kind from outside.
type Archive struct{ Path string }

// List is the tool archive_list over its archives.
type List struct{ sources map[string]*Archive }

// Describe returns the tool's description.
func (l List) Describe() tool.Description {
	return tool.Description{Name: "archive_list", DataSources: slices.Sorted(maps.Keys(l.sources)), ReadOnly: true}
}

// Prepare, Execute and Project do what ports.Executor and ports.Projector promise.
func (l List) Prepare(json.RawMessage, tool.Scope) (tool.Plan, error) { return tool.Plan{}, nil }

// Execute lists an archive.
func (l List) Execute(context.Context, tool.Plan, limits.RawBytes) (json.RawMessage, error) {
	return json.RawMessage(`[]`), nil
}

// Names projects a list of names.
type Names struct{}

// Project shows the names.
func (Names) Project(json.RawMessage, tool.Bounds) (evidence.Projection, error) {
	return evidence.Projection{}, nil
}

// Build makes the tool. It opens nothing; what it cannot work with it reports for all archives.
func Build(sources map[string]*Archive, _ toolset.Deps) (toolset.Set, error) {
	var problems []error
	for _, id := range slices.Sorted(maps.Keys(sources)) {
		if sources[id].Path == "" {
			problems = append(problems, fmt.Errorf("data_sources.%s: the path is empty", id))
		}
	}
	if len(problems) > 0 {
		return toolset.Set{}, errors.Join(problems...)
	}
	unready := func(context.Context) []string {
		var down []string
		for id, a := range sources {
			if _, err := os.Stat(a.Path); err != nil {
				down = append(down, id)
			}
		}
		return down
	}
	return toolset.Set{
		Entries: []toolset.Entry{{Executor: List{sources}, Projector: Names{}}},
		Unready: unready,
	}, nil
}

// A builder gets the data sources of its kind and returns its tools.
func ExampleBuild() {
	var build toolset.Build[*Archive] = Build
	set, err := build(map[string]*Archive{"old": {Path: "/no/such/archive"}, "new": {Path: os.TempDir()}},
		toolset.Deps{})
	if err != nil {
		fmt.Println(err)
		return
	}
	about := set.Entries[0].Executor.Describe()
	fmt.Println(about.Name, about.DataSources)
	fmt.Println("cannot be reached:", set.Unready(context.Background()))

	_, err = build(map[string]*Archive{"old": {}, "new": {}}, toolset.Deps{})
	fmt.Println(err)
	// Output:
	// archive_list [new old]
	// cannot be reached: [old]
	// data_sources.new: the path is empty
	// data_sources.old: the path is empty
}

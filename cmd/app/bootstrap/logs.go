package bootstrap

import (
	"go.uber.org/fx"

	"github.com/toolboundary/toolboundary/adapters/logsearch"
	"github.com/toolboundary/toolboundary/cmd/app/settings"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/ports/toolset"
)

// logsModule is log_search.
func logsModule() fx.Option { return fx.Module("logs", tools(newLogs)) }

func newLogs(configured map[string]*config.Logs, deps toolset.Deps) (toolset.Set, error) {
	sources, err := settings.All(configured, settings.Logs)
	if err != nil {
		return toolset.Set{}, err
	}
	search, err := logsearch.New(sources, deps.Clock)
	if err != nil {
		return toolset.Set{}, err
	}
	return toolset.Set{
		Entries: []toolset.Entry{{Executor: search, Projector: logsearch.Projector{}}},
		Unready: search.Unready,
	}, nil
}

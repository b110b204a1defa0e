package bootstrap

import (
	"context"

	"go.uber.org/fx"

	"github.com/toolboundary/toolboundary/adapters/promquery"
	"github.com/toolboundary/toolboundary/cmd/app/settings"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/ports/toolset"
)

// prometheusModule is prometheus_query.
func prometheusModule() fx.Option { return fx.Module("prometheus", tools(newPrometheus)) }

func newPrometheus(configured map[string]*config.Prometheus, deps toolset.Deps) (toolset.Set, error) {
	sources, err := settings.All(configured, settings.Prometheus)
	if err != nil {
		return toolset.Set{}, err
	}
	query, err := promquery.New(sources, deps.Clock)
	if err != nil {
		return toolset.Set{}, err
	}
	return toolset.Set{
		Entries: []toolset.Entry{{Executor: query, Projector: promquery.Projector{}}},
		Unready: query.Unready,
		Close:   func(context.Context) error { query.Close(); return nil },
	}, nil
}

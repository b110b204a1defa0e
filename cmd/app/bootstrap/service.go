package bootstrap

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/agenttoken"
	"github.com/toolboundary/toolboundary/adapters/httpapi"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/cmd/app/settings"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/toolset"
)

// serviceModule is the application over the configured store and the tools.
func serviceModule() fx.Option {
	return fx.Module("service",
		fx.Provide(
			taking(1, groupStores, newStore), taking(1, groupTools, newToolset),
			newCatalogue, newTokens, newService,
		),
		member(groupHealth, storeHealth, toolHealth),
		member(groupCollectors, inFlightCollector),
	)
}

// storeKind is one kind of store; open is called for the configured kind only.
type storeKind struct {
	name string
	open func() (ports.Store, error)
}

// newStore opens the configured store. Connections are made by first use.
func newStore(c config.Config, kinds []storeKind) (ports.Store, error) {
	for _, k := range kinds {
		if k.name == c.Store.Kind {
			return k.open()
		}
	}
	names := make([]string, 0, len(kinds))
	for _, k := range kinds {
		names = append(names, k.name)
	}
	slices.Sort(names)
	return nil, fmt.Errorf("store.kind: there is no store %q; the stores are %s", c.Store.Kind,
		strings.Join(names, ", "))
}

func newCatalogue(set toolset.Set) (*application.Catalogue, error) {
	return application.NewCatalogue(set.Entries...)
}

func newTokens(c config.Config, clock ports.Clock) (*agenttoken.Tokens, error) {
	return agenttoken.New(clock, settings.TokenKeys(c)...)
}

func newService(
	c config.Config, catalogue *application.Catalogue, s ports.Store, tokens *agenttoken.Tokens, clock ports.Clock,
	log *zap.Logger, m *httpapi.Metrics,
) *application.Service {
	opt := settings.Service(c)
	opt.Observe = m.Observe
	return application.New(catalogue, s, tokens, clock, log, opt)
}

func inFlightCollector(svc *application.Service) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "toolboundary_tool_calls_in_flight",
		Help: "Tool calls that this process executes now, over any transport.",
	}, func() float64 { return float64(svc.InFlight()) })
}

// watch stops calls in flight of ended runs while the service runs.
func watch(lc fx.Lifecycle, svc *application.Service) { background(lc, svc.Watch) }

// health is one answer to the question whether the service can work.
type health struct {
	// store marks the store, without which no call can be served.
	store bool
	// unready returns the names of what cannot be reached.
	unready func(ctx context.Context) []string
}

func toolHealth(set toolset.Set) health { return health{unready: set.Unready} }

// storeHealth asks the store a question that takes one round trip and changes nothing.
func storeHealth(s ports.Store) health {
	return health{store: true, unready: func(ctx context.Context) []string {
		if _, err := s.Ended(ctx, run.ID("readyz")); err != nil {
			return []string{"store"}
		}
		return nil
	}}
}

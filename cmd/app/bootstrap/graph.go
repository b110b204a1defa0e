package bootstrap

import (
	"context"
	"time"

	"go.uber.org/dig"
	"go.uber.org/fx"
	"go.uber.org/fx/fxevent"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/systemclock"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/toolset"
)

// The value groups: modules provide their members, and the order of members is random.
const (
	groupStores     = `group:"stores"`     // storeKind: from the modules of stores
	groupTools      = `group:"tools"`      // built: from the modules of tools, also outside ones
	groupHealth     = `group:"health"`     // health: what /readyz asks
	groupCollectors = `group:"collectors"` // prometheus.Collector: what /metrics shows
	groupCommands   = `group:"commands"`   // command: what the command line can do
	groupExaminers  = `group:"examiners"`  // commands.Examiner: what doctor knows
)

// startTimeout bounds what happens before the service listens; connections to data sources
// are made later, by the first calls.
const startTimeout = 30 * time.Second

// modules are the modules of both graphs.
func (p *parts) modules() fx.Option {
	return fx.Options(
		fx.WithLogger(func() fxevent.Logger { return fxevent.NopLogger }),
		fx.Supply(p),
		fx.Module("clock", fx.Provide(func() ports.Clock { return systemclock.Clock{} })),
		memoryModule(), redisModule(),
		mysqlModule(), prometheusModule(), logsModule(), fx.Options(p.outside...),
		serviceModule(), httpModule(), mcpModule(), cliModule(),
	)
}

// commandLine is the graph of the command line.
func (p *parts) commandLine(s cli.Streams) fx.Option { return fx.Options(p.modules(), fx.Supply(s)) }

// service is the graph of the service with one configuration.
func (p *parts) service(c config.Config, log *zap.Logger) fx.Option {
	return fx.Options(p.modules(), fx.Supply(c, log),
		fx.StartTimeout(startTimeout), fx.StopTimeout(c.Server.ShutdownGrace+startTimeout))
}

// buildTools builds the tools of a configuration, and nothing else of the service.
func (p *parts) buildTools(c config.Config) (toolset.Set, error) {
	var set toolset.Set
	err := fx.New(p.service(c, zap.NewNop()), fx.Populate(&set)).Err()
	return set, plain(err)
}

// member provides constructors whose results are members of a group.
func member(group string, constructors ...any) fx.Option {
	var all []fx.Option
	for _, c := range constructors {
		all = append(all, fx.Provide(fx.Annotate(c, fx.ResultTags(group))))
	}
	return fx.Options(all...)
}

// taking annotates a constructor whose last parameter takes all members of a group. others is
// how many parameters it has before that.
func taking(others int, group string, constructor any) any {
	return fx.Annotate(constructor, fx.ParamTags(append(make([]string, others), group)...))
}

// plain returns an error without the container's own words.
func plain(err error) error { return dig.RootCause(err) }

// background runs f from the start of the application until its stop, which waits
// for f to return.
func background(lc fx.Lifecycle, f func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	lc.Append(fx.Hook{
		OnStart: func(context.Context) error {
			go func() { defer close(done); f(ctx) }()
			return nil
		},
		OnStop: func(context.Context) error {
			cancel()
			<-done
			return nil
		},
	})
}

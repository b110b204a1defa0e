package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/fx"
	"go.uber.org/fx/fxevent"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/agenttoken"
	"github.com/toolboundary/toolboundary/adapters/memory"
	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/ports"
)

// silent is the logger of what only looks at a configuration.
var silent = zap.NewNop()

// clock is the process's clock.
type clock struct{}

// Now returns the current time.
func (clock) Now() time.Time { return time.Now() }

// core is the composition without an inbound transport: the use cases over the configured
// store and tools.
func (p *parts) core(c config.Config, log *zap.Logger) fx.Option {
	return fx.Options(
		fx.WithLogger(func() fxevent.Logger { return fxevent.NopLogger }),
		fx.StartTimeout(startTimeout), fx.StopTimeout(c.Server.ShutdownGrace+startTimeout),
		fx.Supply(c, log),
		fx.Provide(
			func() ports.Clock { return clock{} },
			newStore, p.newToolSet, newCatalogue, newMetrics, newTokens, newService, p.newHandlers,
		),
	)
}

// newStore opens the configured store. Connections are made by first use.
func newStore(lc fx.Lifecycle, c config.Config, clock ports.Clock, log *zap.Logger) (ports.Store, error) {
	switch c.Store.Kind {
	case config.StoreMemory:
		log.Warn("the memory store is in use: runs and records end with this process")
		return memory.New(clock), nil
	case config.StoreRedis:
		return newRedisStore(lc, c, log)
	default:
		return nil, fmt.Errorf("store.kind: there is no store %q", c.Store.Kind)
	}
}

// tools builds every tool; the error joins what each builder has to say.
func (p *parts) tools(c config.Config, log *zap.Logger) (ToolSet, error) {
	var all ToolSet
	var unready []func(context.Context) int
	var closers []func(context.Context) error
	var problems []error
	for _, build := range p.builders {
		set, err := build(c, log)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		all.Entries = append(all.Entries, set.Entries...)
		if set.Unready != nil {
			unready = append(unready, set.Unready)
		}
		if set.Close != nil {
			closers = append(closers, set.Close)
		}
	}
	all.Unready = func(ctx context.Context) int {
		n := 0
		for _, f := range unready {
			n += f(ctx)
		}
		return n
	}
	all.Close = func(ctx context.Context) error {
		var errs []error
		for _, f := range closers {
			errs = append(errs, f(ctx))
		}
		return errors.Join(errs...)
	}
	if len(problems) == 0 && len(all.Entries) == 0 {
		problems = append(problems, errors.New("data_sources: there is none, so there is no tool to serve; add one"))
	}
	return all, errors.Join(problems...)
}

func (p *parts) newToolSet(lc fx.Lifecycle, c config.Config, log *zap.Logger) (ToolSet, error) {
	set, err := p.tools(c, log)
	if err == nil {
		lc.Append(fx.StopHook(set.Close))
	}
	return set, err
}

func newCatalogue(set ToolSet) (*application.Catalogue, error) {
	return application.NewCatalogue(set.Entries...)
}

// storeTimeout bounds a call's Begin and Settle: long enough for the store's own retries with
// the largest record.
func storeTimeout(c config.Config) time.Duration {
	least := 5 * time.Second
	if c.Store.Kind != config.StoreRedis {
		return least
	}
	return max(least, redisstore.Longest(c.Store.Redis.Timeout, 4*c.Store.Redis.Timeout, int(c.Limits.Record))+time.Second)
}

func newTokens(c config.Config, clock ports.Clock) (*agenttoken.Tokens, error) {
	keys := make([]agenttoken.Key, 0, len(c.Auth.TokenKeys))
	for _, k := range c.Auth.TokenKeys {
		keys = append(keys, agenttoken.Key{ID: k.ID, Secret: []byte(k.Key.Reveal())})
	}
	return agenttoken.New(clock, keys...)
}

func newService(
	c config.Config, catalogue *application.Catalogue, s ports.Store, tokens *agenttoken.Tokens, clock ports.Clock,
	log *zap.Logger, m *metrics,
) *application.Service {
	keys := make([]application.HarnessKey, 0, len(c.Auth.HarnessKeys))
	for _, k := range c.Auth.HarnessKeys {
		keys = append(keys, application.HarnessKey{Name: k.Name, Key: k.Key.Reveal()})
	}
	return application.New(catalogue, s, tokens, clock, log, application.Options{
		HarnessKeys: keys,
		Ceilings: application.Ceilings{
			MaxTTL: c.Runs.MaxTTL, RecordTTL: c.Runs.RecordTTL, Budget: c.Runs.Budget.Domain(),
		},
		Limits: c.Limits.Domain(), MaxConcurrent: c.Server.MaxConcurrent, StoreTimeout: storeTimeout(c), Observe: m.Observe,
	})
}

package bootstrap

import (
	"context"
	"errors"
	"sync"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/cmd/app/commands"
	"github.com/toolboundary/toolboundary/cmd/app/settings"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/ports"
)

// redisModule is the store on Redis.
func redisModule() fx.Option {
	return fx.Module("redis",
		member(groupStores, newRedis),
		member(groupExaminers, func() commands.Examiner { return commands.ExamineRedis }),
	)
}

// newRedis opens the store and checks its servers before the service listens. Servers that cannot
// keep the store's promises stop the start. A server that does not answer does not: calls are
// refused until it does.
func newRedis(lc fx.Lifecycle, c config.Config, log *zap.Logger) storeKind {
	return storeKind{config.StoreRedis, func() (ports.Store, error) {
		opt, err := settings.Redis(c)
		if err != nil {
			return nil, err
		}
		s, err := redisstore.New(opt)
		if err != nil {
			return nil, err
		}
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return checkRedis(ctx, s, log) },
			OnStop:  func(context.Context) error { return s.Close() },
		})
		return s, nil
	}}
}

func checkRedis(ctx context.Context, s *redisstore.Store, log *zap.Logger) error {
	warnings, err := s.Check(ctx)
	for _, w := range warnings {
		log.Warn("store", zap.String("warning", w))
	}
	if errors.Is(err, redisstore.ErrNoAnswer) {
		log.Warn("the store does not answer; calls are refused until it does")
		return nil
	}
	return err
}

// quietRedis keeps the client library, whose logger is global, from writing addresses and
// commands to standard error. What went wrong is in the cause of the store's faults.
var quietRedis = sync.OnceFunc(logging.Disable)

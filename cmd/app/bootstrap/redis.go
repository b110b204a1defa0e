package bootstrap

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/ports"
)

// newRedisStore opens the store and looks at its servers before the service listens: one that
// cannot keep the store's promises stops the start. A server that does not answer does not:
// calls are refused until it does.
func newRedisStore(lc fx.Lifecycle, c config.Config, log *zap.Logger) (ports.Store, error) {
	opt, err := redisOptions(c)
	if err != nil {
		return nil, err
	}
	s, err := redisstore.New(opt)
	if err != nil {
		return nil, err
	}
	lc.Append(fx.Hook{
		OnStart: func(ctx context.Context) error {
			warnings, err := s.Check(ctx)
			for _, w := range warnings {
				log.Warn("store", zap.String("warning", w))
			}
			if errors.Is(err, redisstore.ErrNoAnswer) {
				log.Warn("the store does not answer; calls are refused until it does")
				return nil
			}
			return err
		},
		OnStop: func(context.Context) error { return s.Close() },
	})
	return s, nil
}

func redisOptions(c config.Config) (redisstore.Options, error) {
	r := c.Store.Redis
	opt := redisstore.Options{
		Addrs: r.Addrs, MasterName: r.MasterName, DB: r.DB, KeyPrefix: r.KeyPrefix, AllowEviction: r.AllowEviction,
		Username: r.Username.Reveal(), Password: r.Password.Reveal(),
		SentinelUsername: r.SentinelUsername.Reveal(), SentinelPassword: r.SentinelPassword.Reveal(),
		PoolSize: r.PoolSize, Try: r.Timeout, Patience: 4 * r.Timeout,
	}
	if opt.PoolSize == 0 {
		opt.PoolSize = min(max(c.Server.MaxConcurrent+c.Server.MaxConcurrent/4, 16), 512)
	}
	var err error
	if opt.TLS, err = clientTLS(r.TLS, "", string(r.CAFile)); err != nil {
		return opt, fmt.Errorf("store.redis: %w", err)
	}
	return opt, nil
}

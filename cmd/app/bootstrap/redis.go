package bootstrap

import (
	"errors"

	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/config"
)

func newRedisStore(lc fx.Lifecycle, c config.Config, log *zap.Logger) (store, error) {
	return nil, errors.New("redis")
}

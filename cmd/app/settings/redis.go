package settings

import (
	"fmt"
	"time"

	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/config"
)

// Redis returns the options of the store on Redis.
func Redis(c config.Config) (redisstore.Options, error) {
	r := c.Store.Redis
	opt := redisstore.Options{
		Addrs: r.Addrs, MasterName: r.MasterName, DB: r.DB, KeyPrefix: r.KeyPrefix, AllowEviction: r.AllowEviction,
		Username: r.Username.Reveal(), Password: r.Password.Reveal(),
		SentinelUsername: r.SentinelUsername.Reveal(), SentinelPassword: r.SentinelPassword.Reveal(),
		PoolSize: r.PoolSize, Try: r.Timeout, Patience: redisPatience(c),
	}
	if opt.PoolSize == 0 {
		opt.PoolSize = min(max(c.Server.MaxConcurrent+c.Server.MaxConcurrent/4, 16), 512)
	}
	var err error
	if opt.TLS, err = clientTLS(r.TLS, "", r.CAFile); err != nil {
		return opt, fmt.Errorf("store.redis: %w", err)
	}
	return opt, nil
}

// redisPatience bounds one operation of the store with its retries.
func redisPatience(c config.Config) time.Duration { return 4 * c.Store.Redis.Timeout }

// storeTimeout bounds a call's Begin and Settle: long enough for the store's own retries with
// the largest record.
func storeTimeout(c config.Config) time.Duration {
	least := 5 * time.Second
	if c.Store.Kind != config.StoreRedis {
		return least
	}
	return max(least, redisstore.Longest(c.Store.Redis.Timeout, redisPatience(c), int(c.Limits.Record))+time.Second)
}

package bootstrap

import (
	"time"

	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/config"
)

// leastPatience is how long an operation of the store may take with its retries, when the
// configured timeout of one attempt allows.
const leastPatience = 2 * time.Second

// redisOptions translates the configuration of the Redis store.
func redisOptions(c config.Config) (redisstore.Options, error) {
	r := c.Store.Redis
	o := redisstore.Options{
		Addrs: r.Addrs, MasterName: r.MasterName, DB: r.DB, KeyPrefix: r.KeyPrefix + ":", AllowEviction: r.AllowEviction, PoolSize: r.PoolSize,
		Username: r.Username.Reveal(), Password: r.Password.Reveal(),
		SentinelUsername: r.SentinelUsername.Reveal(), SentinelPassword: r.SentinelPassword.Reveal(),
		Try: r.Timeout, Patience: max(leastPatience, 2*r.Timeout),
	}
	if o.PoolSize == 0 {
		o.PoolSize = c.Server.MaxConcurrent
	}
	t, err := clientTLS(r.TLS, r.Addrs[0], string(r.CAFile))
	if t != nil {
		t.ServerName = "" // that of each server, which the client fills in
		o.TLS = t
	}
	return o, err
}

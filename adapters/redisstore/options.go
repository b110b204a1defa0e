package redisstore

import (
	"crypto/tls"
	"fmt"
	"regexp"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Options say where Redis is. One address is a single server, several are a Cluster; with
// MasterName they are sentinels.
type Options struct {
	// Addrs are host:port.
	Addrs []string
	// MasterName is the name under which the sentinels watch the master.
	MasterName string
	// Cluster says that a single address is that of a Cluster.
	Cluster bool
	// DB is the number of the database; a Cluster has only 0.
	DB int
	// Username and Password are for the data servers; without a Username it is the default user.
	// SentinelUsername and SentinelPassword are for the sentinels.
	Username, Password                 string
	SentinelUsername, SentinelPassword string
	// TLS, when set, is used for every connection.
	TLS *tls.Config
	// KeyPrefix begins every key and channel: letters, digits and . _ : -; default "toolboundary:".
	// Stores with the same prefix and database are the same store.
	KeyPrefix string
	// AllowEviction lets Check accept a server whose policy evicts keys under maxmemory.
	AllowEviction bool
	// PoolSize bounds the connections to each server; default 64. It should exceed the number
	// of tool calls that begin or end at once.
	PoolSize int
	// Patience bounds one operation with its retries, Try bounds one attempt; a large record has more
	// time. Defaults: 2 s and 500 ms.
	Patience, Try time.Duration
	// Instrument, when set, is given the client before its first use, to add hooks that trace
	// or count. A hook sees keys, requests and answers.
	Instrument func(redis.UniversalClient)
}

const (
	dialTimeout = 500 * time.Millisecond
	poolTimeout = 250 * time.Millisecond
	// ioTimeout bounds a read or write whose context has no deadline.
	ioTimeout = 3 * time.Second
	// topologyAge is how old a Cluster client's view of the slots may become. With the library's
	// default it would take a minute to notice a failover.
	topologyAge = time.Second
	// redirects is how many MOVED and ASK answers are followed.
	redirects = 5
)

// WithDefaults returns the options with the default in place of every setting that is zero, as New
// uses them. The configuration has the same defaults: test/defaults compares them.
func (o Options) WithDefaults() Options {
	if o.KeyPrefix == "" {
		o.KeyPrefix = "toolboundary:"
	}
	if o.PoolSize == 0 {
		o.PoolSize = 64
	}
	if o.Patience == 0 {
		o.Patience = 2 * time.Second
	}
	if o.Try == 0 {
		o.Try = 500 * time.Millisecond
	}
	return o
}

var prefixForm = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

func (o Options) check() error {
	switch {
	case len(o.Addrs) == 0:
		return fmt.Errorf("redis: no address")
	case !prefixForm.MatchString(o.KeyPrefix):
		return fmt.Errorf("redis: the key prefix must be 1 to 64 letters, digits, dots, underscores, colons or dashes")
	case o.DB != 0 && o.isCluster():
		return fmt.Errorf("redis: a Cluster has only database 0")
	case o.MasterName != "" && o.Cluster:
		return fmt.Errorf("redis: a master name and cluster exclude each other")
	case o.Patience < o.Try || o.Try <= 0 || o.PoolSize < 0 || o.DB < 0:
		return fmt.Errorf("redis: patience, try, pool size and database must be positive, and patience at least try")
	}
	return nil
}

func (o Options) isCluster() bool {
	return o.MasterName == "" && (o.Cluster || len(o.Addrs) > 1)
}

// client returns a client that never repeats a write. Its retries are off; commands are also marked
// (once), because a Cluster client retries in another place.
func (o Options) client() redis.UniversalClient {
	u := &redis.UniversalOptions{
		Addrs: o.Addrs, MasterName: o.MasterName, DB: o.DB,
		Username: o.Username, Password: o.Password,
		SentinelUsername: o.SentinelUsername, SentinelPassword: o.SentinelPassword,
		TLSConfig: o.TLS,
		// RESP2 without identity needs fewer commands for its handshake. A late reply to one of them could
		// be taken for the reply to the next command.
		Protocol: 2, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		MaxRetries:               -1, MaxRedirects: redirects, ContextTimeoutEnabled: true,
		DialTimeout: dialTimeout, DialerRetries: 1, ReadTimeout: ioTimeout, WriteTimeout: ioTimeout,
		// One pool for all commands: a second one for pipelines would start without connections.
		PipelinePoolSize: -1, PoolSize: o.PoolSize, PoolTimeout: poolTimeout,
		MinIdleConns: 1, ConnMaxIdleTime: 4 * time.Minute,
	}
	switch {
	case o.MasterName != "":
		return redis.NewFailoverClient(u.Failover())
	case o.isCluster():
		c := u.Cluster()
		c.ClusterStateReloadInterval = topologyAge
		return redis.NewClusterClient(c)
	default:
		return redis.NewClient(u.Simple())
	}
}

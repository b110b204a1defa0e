package bootstrap

import (
	"context"
	"strings"
	"time"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/config"
)

// examineStore looks at the store that the configuration names.
func examineStore(ctx context.Context, c config.Config) []cli.Finding {
	l := &looks{subject: "store"}
	if c.Store.Kind == config.StoreMemory {
		l.warn("kind", "Use kind: redis where evidence must outlive the process or be shared by replicas.", "memory: runs and records end with the process")
		return l.found
	}
	options, err := redisOptions(c)
	if err == nil {
		var s *redisstore.Store
		if s, err = redisstore.New(options); err == nil {
			defer func() { _ = s.Close() }() // nothing was written
			l.redis(ctx, s)
			return l.found
		}
	}
	l.fail("settings", "Mend the configuration.", "%s", err)
	return l.found
}

func (l *looks) redis(ctx context.Context, s *redisstore.Store) {
	facts, err := s.Inspect(ctx)
	if err != nil {
		l.fail("connect", "Check addrs, credentials, tls and the network.", "%s", said(err))
		return
	}
	l.ok("connect", "%s %s", facts.Product, facts.Version)
	l.latency([]time.Duration{facts.RoundTrip})
	skew := facts.Skew.Round(time.Millisecond)
	if skew.Abs() >= skewed {
		l.warn("clock", "Let both machines follow a time server: deadlines are judged by the store's clock, tokens by this one's.", "its clock differs from this machine's by %s", skew)
	} else {
		l.ok("clock", "its clock differs from this machine's by %s", skew)
	}
	warnings, err := s.Check(ctx)
	if err != nil {
		l.fail("promises", "The service refuses to start on this server: mend its configuration (see docs/store.md).", "%s", said(err))
	}
	for _, w := range warnings {
		l.warn("promises", "See docs/store.md for what it can cost.", "%s", w)
	}
	if err == nil && len(warnings) == 0 {
		l.ok("promises", "it keeps what it is told, and does not evict")
	}
}

// said takes the package's name off an error of the store.
func said(err error) string { return strings.TrimPrefix(err.Error(), "redis: ") }

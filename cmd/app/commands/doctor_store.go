package commands

import (
	"context"
	"strings"
	"time"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/cmd/app/settings"
	"github.com/toolboundary/toolboundary/config"
)

// ExamineMemory examines the store in memory.
func ExamineMemory(c config.Config) []Examination {
	if c.Store.Kind != config.StoreMemory {
		return nil
	}
	return []Examination{{"", func(context.Context) []cli.Finding {
		r := &report{subject: "store"}
		r.warn("kind", "Use kind: redis where evidence must outlive the process or be shared by replicas.",
			"memory: runs and records end with the process")
		return r.found
	}}}
}

// ExamineRedis examines the store on Redis.
func ExamineRedis(c config.Config) []Examination {
	if c.Store.Kind != config.StoreRedis {
		return nil
	}
	return []Examination{{"", func(ctx context.Context) []cli.Finding {
		r := &report{subject: "store"}
		options, err := settings.Redis(c)
		if err != nil {
			r.invalid(err)
			return r.found
		}
		s, err := redisstore.New(options)
		if err != nil {
			r.invalid(err)
			return r.found
		}
		defer func() { _ = s.Close() }() // nothing was written
		r.redis(ctx, s)
		return r.found
	}}}
}

func (r *report) redis(ctx context.Context, s *redisstore.Store) {
	facts, err := s.Inspect(ctx)
	if err != nil {
		r.fail("connect", "Check addrs, credentials, tls and the network.", "%s", said(err))
		return
	}
	r.ok("connect", "%s %s", facts.Product, facts.Version)
	r.latency([]time.Duration{facts.RoundTrip})
	skew := facts.Skew.Round(time.Millisecond)
	if skew.Abs() >= skewed {
		r.warn("clock", "Let both machines follow a time server: the store's clock judges deadlines, this one's tokens.",
			"its clock differs from this machine's by %s", skew)
	} else {
		r.ok("clock", "its clock differs from this machine's by %s", skew)
	}
	warnings, err := s.Check(ctx)
	if err != nil {
		r.fail("promises", "The service does not start on this server: fix its configuration (see docs/store.md).",
			"%s", said(err))
	}
	for _, w := range warnings {
		r.warn("promises", "See docs/store.md for what it can cost.", "%s", w)
	}
	if err == nil && len(warnings) == 0 {
		r.ok("promises", "it keeps what it is given, and does not evict")
	}
}

// said returns an error of the store without the package's name.
func said(err error) string { return strings.TrimPrefix(err.Error(), "redis: ") }

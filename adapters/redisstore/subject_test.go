package redisstore_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/contract/storetest"
)

var prefixes atomic.Int64

// freshPrefix is a store of its own on a server that tests share.
func freshPrefix() string {
	return fmt.Sprintf("toolboundary:%d:%d:", time.Now().UnixNano(), prefixes.Add(1))
}

func open(t kit.T, opt redisstore.Options) *redisstore.Store {
	t.Helper()
	s, err := redisstore.New(opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// subject gives each case a store of its own on the servers of opt, seen by two processes.
func subject(opt redisstore.Options, unit time.Duration) storetest.Subject {
	exceptions := map[string]string{}
	if len(opt.Addrs) == 1 || opt.MasterName != "" {
		exceptions["Ended/ReturnsWhatItLearned"] = "one server keeps all runs, and answers about all or none"
	}
	return storetest.Subject{Exceptions: exceptions, New: func(t kit.T) storetest.Instance {
		opt := opt
		opt.KeyPrefix = freshPrefix()
		if opt.Patience == 0 { // many cases share two processors with their servers
			opt.Patience, opt.Try = 20*time.Second, time.Second
		}
		other := open(t, opt)
		between, instrument := &cable{}, opt.Instrument
		opt.Instrument = func(c redis.UniversalClient) {
			between.attach(c)
			if instrument != nil {
				instrument(c)
			}
		}
		s, c := open(t, opt), other.Client()
		in := storetest.Instance{
			Store: s, Other: other, Unit: unit,
			Now:     func(t kit.T) time.Time { return serverTime(t, c) },
			Advance: func(t kit.T, d time.Duration) { pass(t, c, d) },
			Plant: func(t kit.T, key invocation.Key, value []byte) {
				require.NoError(t, c.SetArgs(t.Context(), s.RecordKey(key), value, redis.SetArgs{Mode: "XX", KeepTTL: true}).Err())
			},
			Stored: func(t kit.T, key invocation.Key) ([]byte, time.Time) {
				value, err := c.Get(t.Context(), s.RecordKey(key)).Bytes()
				if errors.Is(err, redis.Nil) {
					return nil, time.Time{}
				}
				require.NoError(t, err)
				return value, expiry(t, c, s.RecordKey(key))
			},
			RunExpires: func(t kit.T, id run.ID) time.Time { return expiry(t, c, s.RunKey(id)) },
			Break:      func(kit.T) func() { return between.cut("") },
		}
		if cluster, ok := c.(*redis.ClusterClient); ok {
			in.BreakRun = func(t kit.T, id run.ID) func() {
				node, err := cluster.MasterForKey(t.Context(), s.RunKey(id))
				require.NoError(t, err)
				return between.cut(node.Options().Addr)
			}
		}
		return in
	}}
}

func serverTime(t kit.T, c redis.UniversalClient) time.Time {
	t.Helper()
	now, err := c.Time(t.Context()).Result()
	require.NoError(t, err)
	return now
}

// pass returns once d has passed on the server's clock.
func pass(t kit.T, c redis.UniversalClient, d time.Duration) {
	t.Helper()
	for until := serverTime(t, c).Add(d + time.Millisecond); ; {
		left := until.Sub(serverTime(t, c))
		if left <= 0 {
			return
		}
		time.Sleep(left)
	}
}

func expiry(t kit.T, c redis.UniversalClient, key string) time.Time {
	t.Helper()
	at, err := c.PExpireTime(t.Context(), key).Result()
	require.NoError(t, err)
	if at < 0 {
		return time.Time{}
	}
	return time.UnixMilli(at.Milliseconds())
}

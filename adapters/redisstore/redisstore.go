// Package redisstore is the store on Redis (7.0 or later) or Valkey: single, behind Sentinel, or
// a Cluster.
//
// It promises what ports asks of a store, for every process that uses the same Redis, on every
// execution in which Redis loses no acknowledged write (docs/store.md says when it may). Begin
// and Settle are one script and one round trip each; times are the server's; a record is one
// string in the domain's stored form, which no script decodes. It refuses to guess: what it
// does not know is STORE_UNAVAILABLE, and nothing of Redis (texts, keys, addresses) is in an
// error that it returns.
package redisstore

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/toolboundary/toolboundary/ports"
)

// Store keeps runs, records and refusals in Redis, and tells of ended runs. Make one with New;
// it is safe for concurrent use.
type Store struct {
	client   redis.UniversalClient
	keys     keys
	patience time.Duration // of one operation
	try      time.Duration // of one attempt at it
	evicting bool          // an evicting server was accepted

	fences  chan fence
	stop    context.CancelFunc
	running sync.WaitGroup
}

var (
	_ ports.Runs          = (*Store)(nil)
	_ ports.Invocations   = (*Store)(nil)
	_ ports.Refusals      = (*Store)(nil)
	_ ports.Cancellations = (*Store)(nil)
)

// New returns a store on the servers of the options, or an error that names an option that is
// wrong. It connects to nothing: see Check.
//
// The client library logs addresses and commands through one logger of the whole process, which
// main should replace: see redis.SetLogger.
func New(opt Options) (*Store, error) {
	opt = opt.WithDefaults()
	if err := opt.check(); err != nil {
		return nil, err
	}
	client := opt.client()
	if opt.Instrument != nil {
		opt.Instrument(client)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Store{
		client: client, keys: keys{opt.KeyPrefix}, patience: opt.Patience, try: opt.Try, evicting: opt.AllowEviction,
		fences: make(chan fence, maxFences), stop: stop,
	}
	s.running.Go(func() { s.fenceLater(ctx) })
	return s, nil
}

// Close ends what the store runs in the background and closes its connections. The store must
// not be used afterwards.
func (s *Store) Close() error {
	s.stop()
	s.running.Wait()
	return s.client.Close()
}

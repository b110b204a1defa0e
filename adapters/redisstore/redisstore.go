// Package redisstore is the store on Redis (7.0 or later) or Valkey: single, behind Sentinel, or
// a Cluster.
//
// It promises what ports asks of a store, for every process that uses the same Redis, on every
// execution in which Redis loses no acknowledged write (docs/store.md says when it may). Begin
// and Settle are one script and one round trip each; times are the server's; a record is one
// string in the stored form (ports/record), which no script decodes. It does not guess: what it
// does not know is STORE_UNAVAILABLE. Nothing of Redis (texts, keys, addresses) is in the text of an
// error that it returns; causes have it.
//
// The client library also logs, to standard error and with addresses, and has one logger for the
// whole process. So whoever owns the process decides: logging.Disable of go-redis turns it off.
//
// Where things are:
//
//	redisstore.go  Store, New, Close; options.go: where Redis is; keys.go: what is kept under which key
//	runs.go        Open, Find, End; ledger.go: a run as Redis keeps it
//	begin.go       Begin; settle.go: Settle; both with what a lost reply means (fences)
//	load.go        Load; reads.go: commands that only read; lost.go: records whose lease has passed
//	calls.go       one execution of a script: send, repeat, read the answer; scripts.go: loading them
//	lua/*.lua      the scripts, one for each atomic step; lib.lua explains the ledger's fields
//	layout.go      where in a stored record the scripts compare and write, measured on the encoder
//	faults.go      what an error of the client means; watch.go: Watch and Ended
//	check.go       what the servers must be like, before the start; inspect.go: what they report
package redisstore

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/toolboundary/toolboundary/ports"
)

// Store keeps runs, records and refusals in Redis and tells watchers of ended runs. Make one with
// New; it is safe for concurrent use.
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

// New returns a store on the servers of the options, or an error that names an option that is not
// valid. It makes no connection: see Check.
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

// Close stops what runs in the background and closes the connections. The store must not be used
// afterwards.
func (s *Store) Close() error {
	s.stop()
	s.running.Wait()
	return s.client.Close()
}

package server

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/ports/slots"
)

// Pool is one server with one account: a bounded pool of pinned sessions and a small pool of
// connections that stop statements. It is safe for concurrent use.
type Pool struct {
	source  Source
	options Options
	log     *zap.Logger

	// slots is taken before a session is: database/sql cannot tell waiting from connecting.
	slots    *slots.Slots
	sessions *sql.DB
	killers  *sql.DB
	closing  atomic.Bool
	warned   atomic.Bool
}

// Open returns the pool of a data source. It connects when it is first used. The error joins
// every problem of the configuration.
func Open(source Source, options Options, log *zap.Logger) (*Pool, error) {
	source, err := source.check()
	if err != nil {
		return nil, err
	}
	options = options.withDefaults()
	p := &Pool{
		source: source, options: options, log: log.Named("mysql").With(zap.String("data_source", source.ID)),
		slots: slots.New(source.MaxConnections, options.SlotWait),
	}
	p.sessions = sql.OpenDB(&connector{pool: p, timeout: p.options.ConnectTimeout})
	p.sessions.SetMaxIdleConns(source.MaxConnections)
	p.sessions.SetConnMaxIdleTime(idleTime)
	p.sessions.SetConnMaxLifetime(lifetime)
	p.killers = sql.OpenDB(&connector{pool: p, timeout: p.options.KillTimeout, bare: true})
	p.killers.SetMaxOpenConns(killConnections)
	p.killers.SetMaxIdleConns(1)
	p.killers.SetConnMaxIdleTime(idleTime)
	return p, nil
}

// ID returns the data source's logical name.
func (p *Pool) ID() string { return p.source.ID }

// Encrypted reports whether the pool's connections use TLS.
func (p *Pool) Encrypted() bool { return p.source.TLS != nil }

// CallTimeout bounds a whole call: waiting, connecting, running and stopping each have a
// timeout within it, so that each ends with its own code.
func (p *Pool) CallTimeout() time.Duration {
	return p.options.SlotWait + p.options.ConnectTimeout + p.source.QueryTimeout + p.options.KillTimeout
}

// Close lets no further statement begin, waits for those that run until ctx ends, and closes
// all connections. It returns the context's error when statements were still running.
func (p *Pool) Close(ctx context.Context) error {
	if p.closing.Swap(true) {
		return nil
	}
	err := p.slots.Close(ctx)
	return errors.Join(err, p.sessions.Close(), p.killers.Close())
}

// checkAccount warns once of an account that may do more than read, and refuses it when the
// configuration says so.
func (p *Pool) checkAccount(beyond []string) error {
	if len(beyond) == 0 {
		return nil
	}
	if !p.warned.Swap(true) {
		p.log.Warn("the account may do more than SELECT", zap.String("privileges", strings.Join(beyond, ", ")))
	}
	if p.source.RequireReadOnlyAccount {
		return errReadOnly
	}
	return nil
}

// ErrStale says that the server had closed a session before anything ran on it.
var ErrStale = errors.New("the session was closed by the server")

// With lends f a session of the pool; f reports whether the session may be used again. When f
// returns [ErrStale], which it may do only if nothing has run, the session is replaced and f is
// called again, three times at most.
//
// The error is that of f, or a fault: DATA_SOURCE_BUSY when no session became free in time,
// DATA_SOURCE_UNAVAILABLE when none could be opened, EXECUTION_CANCELLED when ctx was cancelled.
func (p *Pool) With(ctx context.Context, f func(*Session) (keep bool, err error)) error {
	release, err := p.slots.Take(ctx)
	if err != nil {
		return err
	}
	defer release()
	for range 3 {
		if err = p.once(ctx, f); !errors.Is(err, ErrStale) {
			return err
		}
	}
	return Lost("prepare")
}

func (p *Pool) once(ctx context.Context, f func(*Session) (keep bool, err error)) error {
	conn, err := p.sessions.Conn(ctx)
	if err != nil {
		return p.noSession(ctx, err)
	}
	defer conn.Close()
	var failed error
	err = conn.Raw(func(dc any) error {
		s := dc.(*Session)
		s.Allow(math.MaxInt64) // whatever the last statement left of its bound
		var keep bool
		if keep, failed = f(s); !keep {
			return driver.ErrBadConn // database/sql closes it
		}
		return nil
	})
	if failed == nil && err != nil && !errors.Is(err, driver.ErrBadConn) {
		failed = Lost("session")
	}
	return failed
}

// Ping returns nil when the server answers, or when all sessions of the pool are in use.
func (p *Pool) Ping(ctx context.Context) error {
	if p.slots.Full() && !p.closing.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.options.ConnectTimeout)
	defer cancel()
	return p.With(ctx, func(s *Session) (bool, error) {
		if err := s.Conn.(driver.Pinger).Ping(ctx); err != nil {
			if ctx.Err() != nil {
				return false, fault.Because(fault.DataSourceUnavailable, reasonTimeout, "").WithCause(Phase("ping"))
			}
			return false, ErrStale
		}
		return true, nil
	})
}

// noSession classifies what database/sql says instead of giving a session.
func (p *Pool) noSession(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fault.Wrap(fault.ExecutionCancelled, Phase("connect"))
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	reason := reasonRefused
	if errors.Is(err, context.DeadlineExceeded) {
		reason = reasonTimeout
	}
	return fault.Because(fault.DataSourceUnavailable, reason, "").WithCause(Phase("connect"))
}

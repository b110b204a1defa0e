package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math"
	"strings"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/ports/slots"
)

// DataSource is one server with one account: a bounded pool of pinned sessions and a small
// pool of connections that stop statements. It is safe for concurrent use.
type DataSource struct {
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

// Open returns the data source. It connects when it is first used. The error joins every
// problem of the configuration.
func Open(source Source, options Options, log *zap.Logger) (*DataSource, error) {
	source, err := source.check()
	if err != nil {
		return nil, err
	}
	options = options.withDefaults()
	d := &DataSource{
		source: source, options: options, log: log.Named("mysql").With(zap.String("data_source", source.ID)),
		slots: slots.New(source.MaxConnections, options.SlotWait),
	}
	d.sessions = sql.OpenDB(&connector{source: d.source, timeout: d.options.ConnectTimeout, log: d.log, account: d.judgeAccount})
	d.sessions.SetMaxIdleConns(source.MaxConnections)
	d.sessions.SetConnMaxIdleTime(idleTime)
	d.sessions.SetConnMaxLifetime(lifetime)
	d.killers = sql.OpenDB(&connector{source: d.source, timeout: d.options.KillTimeout, log: d.log, bare: true})
	d.killers.SetMaxOpenConns(killConnections)
	d.killers.SetMaxIdleConns(1)
	d.killers.SetConnMaxIdleTime(idleTime)
	return d, nil
}

// ID returns the data source's logical name.
func (d *DataSource) ID() string { return d.source.ID }

// Guard returns the guard that judges this source's statements; nil refuses every one.
func (d *DataSource) Guard() *sqlguard.Guard { return d.source.Guard }

// Close lets no further statement begin, waits for those that run until ctx ends, and closes
// all connections. It returns the context's error when statements were still running.
func (d *DataSource) Close(ctx context.Context) error {
	if d.closing.Swap(true) {
		return nil
	}
	err := d.slots.Close(ctx)
	return errors.Join(err, d.sessions.Close(), d.killers.Close())
}

// judgeAccount warns once of an account that may do more than read, and refuses it where that
// is asked for.
func (d *DataSource) judgeAccount(beyond []string) error {
	if len(beyond) == 0 {
		return nil
	}
	if !d.warned.Swap(true) {
		d.log.Warn("the account may do more than SELECT", zap.String("privileges", strings.Join(beyond, ", ")))
	}
	if d.source.RequireReadOnlyAccount {
		return errReadOnly
	}
	return nil
}

// use is what a caller does with a session. keep tells whether the session may be used again.
type use func(s *session) (keep bool, err error)

// errStale says that a session was found closed by the server before anything ran on it.
var errStale = errors.New("the session was closed by the server")

// with runs f on a session from the pool. A session that was closed while it lay idle is
// replaced, a few times; f must return errStale for that, and only then is it called again.
func (d *DataSource) with(ctx context.Context, f use) error {
	release, err := d.slots.Take(ctx)
	if err != nil {
		return err
	}
	defer release()
	for range 3 {
		if err = d.once(ctx, f); !errors.Is(err, errStale) {
			return err
		}
	}
	return fault.Because(fault.DataSourceUnavailable, reasonLost, "").WithCause(origin{phase: "prepare"})
}

func (d *DataSource) once(ctx context.Context, f use) error {
	conn, err := d.sessions.Conn(ctx)
	if err != nil {
		return d.noSession(ctx, err)
	}
	defer conn.Close()
	var failed error
	err = conn.Raw(func(dc any) error {
		s := dc.(*session)
		s.wire.allow(math.MaxInt64) // whatever the last statement left of its bound
		var keep bool
		if keep, failed = f(s); !keep {
			return driver.ErrBadConn // database/sql closes it
		}
		return nil
	})
	if failed == nil && err != nil && !errors.Is(err, driver.ErrBadConn) {
		failed = fault.Because(fault.DataSourceUnavailable, reasonLost, "").WithCause(origin{phase: "session"})
	}
	return failed
}

// noSession classifies what database/sql says instead of giving a session.
func (d *DataSource) noSession(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fault.Wrap(fault.ExecutionCancelled, origin{phase: "connect"})
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	reason := reasonRefused
	if errors.Is(err, context.DeadlineExceeded) {
		reason = reasonTimeout
	}
	return fault.Because(fault.DataSourceUnavailable, reason, "").WithCause(origin{phase: "connect"})
}

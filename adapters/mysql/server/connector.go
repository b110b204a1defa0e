package server

import (
	"context"
	"database/sql/driver"
	"net"
	"time"

	driverpkg "github.com/go-sql-driver/mysql"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// connector opens sessions for a pool of database/sql.
type connector struct {
	pool    *Pool
	timeout time.Duration
	// bare sessions are not pinned: they only stop statements.
	bare bool
}

var _ driver.Connector = (*connector)(nil)

// Driver returns the driver; database/sql asks for it, nobody else.
func (c *connector) Driver() driver.Driver { return driverpkg.MySQLDriver{} }

// Connect dials, logs in and pins. Every error is a fault, so that database/sql does not try
// again by itself and nothing of the driver's text travels.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	s, err := c.dial(inner)
	if err == nil {
		if err = c.prepare(inner, s); err != nil {
			s.Cut()
			_ = s.Close()
		}
	}
	if err == nil {
		return s, nil
	}
	if ctx.Err() == context.Canceled {
		return nil, fault.Wrap(fault.ExecutionCancelled, Phase("connect"))
	}
	f := connectFault(err)
	c.pool.log.Warn("cannot connect to the data source",
		zap.String("kind", f.Reason), zap.Uint16("mysql_error", ErrorNumber(err)))
	return nil, f
}

func (c *connector) dial(ctx context.Context) (*Session, error) {
	cfg := driverpkg.NewConfig()
	cfg.Net, cfg.Addr = "tcp", c.pool.source.Address
	cfg.TLS = c.pool.source.TLS
	cfg.Logger = &driverpkg.NopLogger{} // the default writes addresses and errors to stderr
	cfg.ConnectionAttributes = "program_name:toolboundary"
	var err error
	if cfg.User, cfg.Passwd, err = c.pool.source.Account(); err != nil {
		return nil, errAccount
	}
	var w *wire
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		w = newWire(conn.(*net.TCPConn))
		return w, nil
	}
	inner, err := driverpkg.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	conn, err := inner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &Session{Conn: conn, pool: c.pool, wire: w, tail: follow(conn)}, nil
}

// prepare makes a fresh connection ready for its pool.
func (c *connector) prepare(ctx context.Context, s *Session) error {
	if err := s.identify(ctx); err != nil || c.bare {
		return err
	}
	if err := s.pin(ctx, c.pool.source.QueryTimeout, c.pool.source.SQLModeExtra); err != nil {
		return sessionError{err}
	}
	return c.pool.checkAccount(s.BeyondRead(ctx))
}

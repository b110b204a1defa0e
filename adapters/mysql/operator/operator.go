package operator

import (
	"context"

	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/domain/fault"
)

// Database is one server as its operator sees it.
type Database struct{ pool *server.Pool }

// New returns the database behind the pool, which it does not close.
func New(pool *server.Pool) *Database { return &Database{pool} }

// Ping returns nil when the server answers.
func (d *Database) Ping(ctx context.Context) error { return d.pool.Ping(ctx) }

// Report is what a server says of itself.
type Report struct {
	// Product is MariaDB or MySQL, Version as the server writes it.
	Product, Version string
	// Encrypted tells whether the connection uses TLS.
	Encrypted bool
	// BeyondRead lists what the account may do besides SELECT; empty is good.
	BeyondRead []string
}

// Inspect opens a session, pinned as every session is, and reports on it.
func (d *Database) Inspect(ctx context.Context) (Report, error) {
	var r Report
	err := d.pool.With(ctx, func(s *server.Session) (bool, error) {
		r = Report{
			Product: s.Product(), Version: s.Version(), Encrypted: d.pool.Encrypted(), BeyondRead: s.BeyondRead(ctx),
		}
		return true, nil
	})
	return r, err
}

// Query runs a statement, such as one on the information schema, within the query timeout and
// passes its rows to row as text, NULL as "". It stops at the first error that row returns.
func (d *Database) Query(ctx context.Context, sql string, row func([]string) error) error {
	return d.pool.With(ctx, func(s *server.Session) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, s.QueryTimeout())
		defer cancel()
		rows, err := s.Texts(ctx, sql)
		switch {
		case ctx.Err() != nil:
			s.Stop(ctx)
			return false, fault.Of(ctx.Err())
		case err != nil:
			return false, failed(err)
		}
		for _, r := range rows {
			if err := row(r); err != nil {
				return true, err
			}
		}
		return true, nil
	})
}

// failed returns the error for a statement with which nothing had begun: stale when the server
// did not answer, else a fault.
func failed(err error) error {
	if server.ErrorNumber(err) == 0 {
		return server.ErrStale
	}
	return server.Fault(err)
}

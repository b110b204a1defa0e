package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/domain/fault"
)

// Prepare judges a statement; the fault is QUERY_REJECTED with the guard's reason.
func (d *DataSource) Prepare(sql string, params []sqlguard.Param) (*sqlguard.Plan, error) {
	return d.prepare(sql, params)
}

func (d *DataSource) prepare(sql string, params []sqlguard.Param) (*sqlguard.Plan, error) {
	if d.source.Guard == nil {
		return nil, fault.Because(fault.QueryRejected, string(sqlguard.ReasonUnknownTable), "no table of this data source is available")
	}
	plan, err := d.source.Guard.Prepare(sql, params)
	if err != nil {
		return nil, refused(err, fault.QueryRejected)
	}
	return plan, nil
}

// patience bounds a whole call: waiting, connecting, running and stopping each have a limit of
// their own within it, so that each ends with its own code.
func (d *DataSource) patience() time.Duration {
	return d.options.SlotWait + d.options.ConnectTimeout + d.source.QueryTimeout + d.options.KillTimeout
}

// Ping returns nil when the source answers, or when all its sessions are at work.
func (d *DataSource) Ping(ctx context.Context) error {
	if d.slots.Full() && !d.closing.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.options.ConnectTimeout)
	defer cancel()
	return d.with(ctx, func(s *session) (bool, error) {
		if err := s.Conn.(driver.Pinger).Ping(ctx); err != nil {
			if ctx.Err() != nil {
				return false, fault.Because(fault.DataSourceUnavailable, reasonTimeout, "").WithCause(origin{phase: "ping"})
			}
			return false, errStale
		}
		return true, nil
	})
}

// Report is what a data source says of itself, for its operator.
type Report struct {
	// Product is MariaDB or MySQL, Version as the server says it.
	Product, Version string
	// Encrypted tells whether the connection uses TLS.
	Encrypted bool
	// BeyondRead lists what the account may do besides SELECT; empty is good.
	BeyondRead []string
}

// Inspect opens a session, pinned as every one is, and reports on it.
func (d *DataSource) Inspect(ctx context.Context) (Report, error) {
	var r Report
	err := d.with(ctx, func(s *session) (bool, error) {
		r = Report{Product: s.product, Version: s.version, Encrypted: d.source.TLS != nil, BeyondRead: s.privilegesBeyondRead(ctx)}
		return true, nil
	})
	return r, err
}

// Query runs a statement of the operator's own, such as one on the information schema, in a
// pinned read-only session and hands its rows over as text, NULL as "". Agents never reach it.
func (d *DataSource) Query(ctx context.Context, sql string, row func([]string) error) error {
	return d.with(ctx, func(s *session) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, d.source.QueryTimeout)
		defer cancel()
		rows, err := s.texts(ctx, sql)
		switch {
		case ctx.Err() != nil:
			d.stop(ctx, s)
			return false, fault.Of(ctx.Err())
		case err != nil && !isServerError(err):
			return false, errStale
		case err != nil:
			f, _ := statementFault(err)
			return false, f
		}
		for _, r := range rows {
			if err := row(r); err != nil {
				return true, err
			}
		}
		return true, nil
	})
}

// ErrNotKilled says that a statement was not stopped on the server: behind this address only
// the server's own time limit ends what a cancelled call has started.
var ErrNotKilled = errors.New("the server did not stop the statement: kill is unsupported here")

// ProveKill starts a statement that sleeps, stops it, and returns nil once it is gone from the
// server's process list.
func (d *DataSource) ProveKill(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.patience())
	defer cancel()
	return d.with(ctx, func(s *session) (bool, error) {
		// The server's own limit must not be taken for the kill; the session is not used again.
		if err := s.setLimit(ctx, time.Minute); err != nil {
			return false, staleUnlessSaid(err)
		}
		sleeping := make(chan error, 1)
		go func() {
			_, err := s.texts(context.WithoutCancel(ctx), "SELECT SLEEP(60)")
			sleeping <- err
		}()
		defer func() { // whatever happened, the goroutine ends
			s.wire.cut()
			<-sleeping
		}()
		if err := d.listed(ctx, s, true); err != nil {
			return false, err
		}
		gone, cancel := context.WithTimeout(ctx, d.options.KillTimeout)
		defer cancel()
		if d.kill(gone, s) != nil || d.listed(gone, s, false) != nil {
			return false, ErrNotKilled
		}
		return false, nil
	})
}

// listed waits until the session's statement is in the process list, or gone from it.
func (d *DataSource) listed(ctx context.Context, s *session, want bool) error {
	for again := time.NewTicker(20 * time.Millisecond); ; {
		conn, err := d.killers.Conn(ctx)
		if err != nil {
			return d.noSession(ctx, err)
		}
		var found bool
		err = conn.Raw(func(dc any) error {
			rows, err := dc.(*session).texts(ctx, fmt.Sprintf("SELECT INFO FROM information_schema.PROCESSLIST WHERE ID = %d", s.id))
			found = len(rows) > 0 && strings.Contains(rows[0][0], "SLEEP")
			return err
		})
		_ = conn.Close()
		if err == nil && found == want {
			again.Stop()
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return ErrNotKilled
		}
	}
}

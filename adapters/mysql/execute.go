package mysql

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/ports/rowset"
)

// Execute runs a plan of this source's guard and returns its rows as a row set of at most
// limit bytes.
//   - RESULT_TOO_LARGE at the first byte past limit; the statement is stopped, nothing drained;
//   - EXECUTION_TIMEOUT past the query timeout, here or on the server; EXECUTION_CANCELLED when
//     ctx is cancelled: the statement is stopped on the server before Execute returns;
//   - DATA_SOURCE_BUSY, DATA_SOURCE_UNAVAILABLE and EXECUTION_FAILED with a reason.
func (d *DataSource) Execute(ctx context.Context, plan *sqlguard.Plan, limit limits.RawBytes) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.Of(err)
	}
	var raw json.RawMessage
	err := d.with(ctx, func(s *session) (bool, error) {
		var keep bool
		var err error
		raw, keep, err = d.run(ctx, s, plan, limit)
		return keep, err
	})
	if err != nil {
		return nil, err
	}
	return raw, nil
}

// run executes the plan on the session and watches the context meanwhile.
func (d *DataSource) run(ctx context.Context, s *session, plan *sqlguard.Plan, limit limits.RawBytes) (raw json.RawMessage, keep bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.source.QueryTimeout)
	defer cancel()
	halt := sync.OnceFunc(func() { d.stop(ctx, s) })
	halted := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		defer close(halted)
		halt()
	})
	raw, finished, err := d.read(ctx, s, plan, limit, halt)
	if !unwatch() {
		<-halted
		return nil, false, fault.Wrap(fault.CodeOf(ctx.Err()), origin{phase: "statement"})
	}
	switch {
	case err == nil:
		return raw, finished, nil
	case errors.Is(err, errStale):
		return nil, false, err
	case s.wire.flooded.Load():
		return nil, false, fault.Wrap(fault.ResultTooLarge, origin{phase: "row"})
	}
	f, alarm := statementFault(err)
	n := numberOf(err)
	if alarm {
		d.log.Error("the server refuses what the guard accepted: guard, schema and grants disagree", zap.Uint16("mysql_error", n))
	}
	return nil, n != 0 && !stopped(n) && !ended(n), f
}

// serverLimit is the time limit that the server gets. It follows the context only when that
// leaves clearly less than the query timeout, since a change costs a round trip.
func (d *DataSource) serverLimit(ctx context.Context) time.Duration {
	full := d.source.QueryTimeout
	deadline, ok := ctx.Deadline()
	left := time.Until(deadline)
	if !ok || left > full*4/5 {
		return full
	}
	return max(left.Round(10*time.Millisecond), 10*time.Millisecond)
}

// read sends the statement and reads its rows: prepare and execute, one round trip each; the
// close that follows is not answered. Calls of the driver get a context without an end, so that
// the driver starts no watcher of its own; what ends them is the wire.
//
// finished tells that the server has nothing left to send; when it has, the session is halted.
func (d *DataSource) read(ctx context.Context, s *session, plan *sqlguard.Plan, limit limits.RawBytes, halt func()) (raw json.RawMessage, finished bool, err error) {
	endless := context.WithoutCancel(ctx)
	if err := s.setLimit(endless, d.serverLimit(ctx)); err != nil {
		return nil, false, staleUnlessSaid(err)
	}
	stmt, err := s.Conn.(driver.ConnPrepareContext).PrepareContext(endless, plan.SQL)
	if err != nil {
		return nil, false, staleUnlessSaid(err) // nothing has run yet
	}
	defer stmt.Close()
	args := make([]driver.NamedValue, len(plan.Args))
	for i, v := range plan.Args {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	if stmt.NumInput() != len(args) {
		return nil, false, fault.Wrap(fault.Internal, origin{phase: "placeholders"})
	}
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(endless, args)
	if err == nil {
		raw, finished, err = s.rows(rows, plan, limit)
	}
	if !finished && !isServerError(err) {
		halt() // before rows.Close, which would read everything that is left
	}
	if rows != nil {
		rows.Close()
	}
	return raw, finished, err
}

// staleUnlessSaid turns an error that the server did not send into errStale.
func staleUnlessSaid(err error) error {
	if isServerError(err) {
		return err
	}
	return errStale
}

// slack is what a row may take on the wire beyond its bytes in JSON: headers, length prefixes,
// numbers that are shorter in JSON, for the most columns that a table can have, and TLS.
const slack = 128 << 10

// rows streams the rows into a row set.
func (s *session) rows(rows driver.Rows, plan *sqlguard.Plan, limit limits.RawBytes) (raw json.RawMessage, finished bool, err error) {
	columns, encoders, err := describe(rows, plan.Columns)
	if err != nil {
		return nil, false, err
	}
	w, err := rowset.NewWriter(limit, columns)
	if err != nil {
		return nil, false, err
	}
	dest := make([]driver.Value, len(columns))
	var line []byte
	for left := int64(limit); ; left -= int64(len(line)) {
		s.wire.allow(left + int64(limit)/64 + slack)
		err := rows.Next(dest)
		if errors.Is(err, io.EOF) {
			raw, err = w.Close(false)
			return raw, true, err
		}
		if err != nil {
			return nil, false, err
		}
		if w.Rows() == plan.MaxRows {
			raw, err := w.Close(true)
			finished = errors.Is(rows.Next(dest), io.EOF)
			return raw, finished, err
		}
		if line, err = appendRow(line[:0], dest, encoders); err != nil {
			return nil, false, err
		}
		if err := w.Row(line); err != nil {
			return nil, false, err
		}
	}
}

func describe(rows driver.Rows, out []sqlguard.OutColumn) ([]rowset.Column, []encoder, error) {
	if out == nil { // an operator's own statement, see Ask; a guard's plan has a column at least
		out = headings(rows.Columns())
	}
	if len(rows.Columns()) != len(out) {
		return nil, nil, fault.Wrap(fault.Internal, origin{phase: "columns"})
	}
	types := rows.(driver.RowsColumnTypeDatabaseTypeName)
	columns, encoders := make([]rowset.Column, len(out)), make([]encoder, len(out))
	for i, c := range out {
		name := types.ColumnTypeDatabaseTypeName(i)
		columns[i] = rowset.Column{Name: c.Heading, Type: name, Sources: c.Sources, Sensitive: c.Sensitive}
		encoders[i] = encoderOf(name)
	}
	return columns, encoders, nil
}

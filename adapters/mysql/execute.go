package mysql

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/ports/rowset"
)

// Select executes the plan on a session that the caller holds and returns its rows as a row set
// of at most limit bytes. keep reports whether the session may be used again. Errors are those
// that [Executor.Execute] names, or [server.ErrStale].
func Select(
	ctx context.Context, s *server.Session, plan *sqlguard.Plan, limit limits.RawBytes,
) (raw json.RawMessage, keep bool, err error) {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, s.QueryTimeout())
	defer cancel()
	defer func() { err = timed(err, caller, s.QueryTimeout()) }()
	halt := sync.OnceFunc(func() { s.Stop(ctx) })
	halted := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		defer close(halted)
		halt()
	})
	raw, finished, err := read(ctx, s, plan, limit, halt)
	if !unwatch() {
		<-halted
		return nil, false, fault.Wrap(fault.CodeOf(ctx.Err()), server.Phase("statement"))
	}
	var judged *fault.Error
	switch {
	case err == nil:
		return raw, finished, nil
	case finished && errors.As(err, &judged): // all has arrived
		return nil, true, err
	case errors.Is(err, server.ErrStale):
		return nil, false, err
	case s.Flooded():
		return nil, false, fault.Wrap(fault.ResultTooLarge, server.Phase("row"))
	}
	return nil, server.Usable(err), server.Fault(err)
}

// timed says how long a statement may take, where that is what ended it and not the caller's own
// deadline.
func timed(err error, caller context.Context, limit time.Duration) error {
	if fault.CodeOf(err) != fault.ExecutionTimeout || caller.Err() != nil {
		return err
	}
	return fault.Because(fault.ExecutionTimeout, "", "a query may take "+limit.String()).WithCause(err)
}

// serverLimit returns the time limit for the server: full, or what the context leaves when that
// is clearly less, since a change costs a round trip.
func serverLimit(ctx context.Context, full time.Duration) time.Duration {
	deadline, ok := ctx.Deadline()
	left := time.Until(deadline)
	if !ok || left > full*4/5 {
		return full
	}
	return max(left.Round(10*time.Millisecond), 10*time.Millisecond)
}

// read sends the statement and reads its rows: prepare and execute, one round trip each; the
// close that follows is not answered. The driver's calls get a context without an end, so that
// the driver starts no watcher; they end when the session is cut.
//
// finished reports whether the server has nothing left to send; if it has, the session is halted.
func read(
	ctx context.Context, s *server.Session, plan *sqlguard.Plan, limit limits.RawBytes, halt func(),
) (raw json.RawMessage, finished bool, err error) {
	endless := context.WithoutCancel(ctx)
	if err := s.SetLimit(endless, serverLimit(ctx, s.QueryTimeout())); err != nil {
		return nil, false, err
	}
	stmt, err := s.Conn.(driver.ConnPrepareContext).PrepareContext(endless, plan.SQL)
	if err != nil {
		return nil, false, server.StaleUnlessSaid(err) // nothing has run yet
	}
	defer stmt.Close()
	args := make([]driver.NamedValue, len(plan.Args))
	for i, v := range plan.Args {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	if stmt.NumInput() != len(args) {
		return nil, false, fault.Wrap(fault.Internal, server.Phase("placeholders"))
	}
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(endless, args)
	if err == nil {
		raw, finished, err = stream(endless, s, rows, plan, limit)
	}
	if !finished && server.ErrorNumber(err) == 0 {
		halt() // before rows.Close, which would read everything that is left
	}
	if rows != nil {
		rows.Close()
	}
	return raw, finished, err
}

// slack is what a row may take on the wire beyond its bytes in JSON: headers, length prefixes,
// numbers that are shorter in JSON, for the most columns that a table can have, and TLS.
const slack = 128 << 10

// stream writes the rows into a row set while they arrive.
func stream(
	ctx context.Context, s *server.Session, rows driver.Rows, plan *sqlguard.Plan, limit limits.RawBytes,
) (raw json.RawMessage, finished bool, err error) {
	columns, cells, err := describe(rows, plan.Columns)
	if err != nil {
		return nil, false, err
	}
	asked, err := asked(s.DataSource(), plan)
	if err != nil {
		return nil, false, err
	}
	w, err := rowset.NewWriter(limit, rowset.Head{Asked: asked, Executed: plan.SQL, Columns: columns})
	if err != nil {
		return nil, false, err
	}
	dest := make([]driver.Value, len(columns))
	var line []byte
	for left := int64(limit); ; left -= int64(len(line)) {
		s.Allow(left + int64(limit)/64 + slack)
		err := rows.Next(dest)
		if errors.Is(err, io.EOF) {
			raw, err = finish(ctx, s, w, plan, false)
			return raw, true, err
		}
		if err != nil {
			return nil, false, err
		}
		if w.Rows() == plan.MaxRows {
			if finished = errors.Is(rows.Next(dest), io.EOF); !finished {
				raw, err = w.Close(true) // an operator's statement; a guard's asks for no further row
				return raw, false, err
			}
			raw, err = finish(ctx, s, w, plan, true)
			return raw, true, err
		}
		if line, err = appendRow(line[:0], dest, cells); err != nil {
			return nil, false, err
		}
		if err := w.Row(line); err != nil {
			return nil, false, err
		}
	}
}

// finish ends the row set of a statement whose rows have all arrived, and weighs what the server
// said of them. That an answer is empty is no finding where the server warned.
func finish(
	ctx context.Context, s *server.Session, w *rowset.Writer, plan *sqlguard.Plan, more bool,
) (json.RawMessage, error) {
	end := rowset.End{More: more}
	if plan.Asked == "" { // an operator's statement
		return w.Finish(end)
	}
	end.Limited = !plan.Probe && w.Rows() == plan.MaxRows || w.Rows() == 0 && plan.Offset > 0
	warnings, all, err := s.Warnings(ctx)
	if err != nil {
		return nil, err
	}
	if end.Warnings, err = weigh(plan, warnings, all); err != nil {
		return nil, err
	}
	if w.Rows() == 0 && len(end.Warnings) > 0 {
		return nil, fault.Because(fault.ExecutionFailed, "PARTIAL_ANSWER",
			"nothing was found, and stored values could not be compared: "+end.Warnings[0].Text).
			WithCause(server.Cause("warning", warnings[0].Number))
	}
	return w.Finish(end)
}

func describe(rows driver.Rows, out []sqlguard.OutColumn) ([]rowset.Column, []column, error) {
	if out == nil { // an operator's statement; a guard's plan has at least one column
		out = headings(rows.Columns())
	}
	if len(rows.Columns()) != len(out) {
		return nil, nil, fault.Wrap(fault.Internal, server.Phase("columns"))
	}
	types, err := kinds(rows)
	if err != nil {
		return nil, nil, err
	}
	columns, cells := make([]rowset.Column, len(out)), make([]column, len(out))
	for i, c := range out {
		columns[i] = rowset.Column{Name: c.Heading, Type: types[i].name, Sources: c.Sources, Sensitive: c.Sensitive}
		cells[i] = column{encoderOf(types[i]), c.Sensitive}
	}
	return columns, cells, nil
}

// headings are the columns of a result as the server names them.
func headings(names []string) []sqlguard.OutColumn {
	out := make([]sqlguard.OutColumn, len(names))
	for i, name := range names {
		out[i].Heading = name
	}
	return out
}

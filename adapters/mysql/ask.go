package mysql

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
)

// Question is a statement of the operator's own.
type Question struct {
	// Schema is that of unqualified table names; it may be empty.
	Schema string
	// SQL was judged by sqlguard: by a guard, which printed it, or by Plain.
	SQL  string
	Args []any
	// Columns are a guard's; nil takes the server's own headings, and redacts nothing.
	Columns []sqlguard.OutColumn
	// MaxRows is the most rows that are read.
	MaxRows int
}

// Ask runs the question in a read-only transaction of its own, which is rolled back, on a
// session that is not used again (S43). Agents never reach it. It answers as Execute does.
func (d *DataSource) Ask(ctx context.Context, q Question, limit limits.RawBytes) (json.RawMessage, error) {
	plan := &sqlguard.Plan{SQL: q.SQL, Args: q.Args, Columns: q.Columns, MaxRows: q.MaxRows}
	// A statement without a LIMIT of its own stops on the server, too; one more row tells that there are more.
	prologue := []string{"SET SESSION sql_select_limit = " + strconv.Itoa(q.MaxRows+1), "START TRANSACTION READ ONLY"}
	if q.Schema != "" {
		prologue = append([]string{"USE `" + strings.ReplaceAll(q.Schema, "`", "``") + "`"}, prologue...)
	}
	var raw json.RawMessage
	err := d.with(ctx, func(s *session) (bool, error) {
		for _, text := range prologue {
			if err := s.exec(ctx, text); err != nil {
				if !isServerError(err) {
					return false, errStale
				}
				f, _ := statementFault(err)
				return false, f
			}
		}
		var keep bool
		var err error
		if raw, keep, err = d.run(ctx, s, plan, limit); !keep {
			return false, err // the session is gone, and the server rolls back
		}
		if rollback := s.exec(ctx, "ROLLBACK"); rollback != nil && err == nil {
			err = fault.Because(fault.DataSourceUnavailable, reasonLost, "").WithCause(origin{phase: "rollback"})
		}
		return false, err
	})
	if err != nil {
		return nil, err
	}
	return raw, nil
}

// headings are the columns of a result as the server names them.
func headings(names []string) []sqlguard.OutColumn {
	out := make([]sqlguard.OutColumn, len(names))
	for i, name := range names {
		out[i].Heading = name
	}
	return out
}

// ServerError returns the number of the server's error behind an error of this package, or
// zero when the server did not send one.
func ServerError(err error) uint16 {
	var o origin
	if errors.As(err, &o) {
		return o.number
	}
	return numberOf(err)
}

package operator

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/toolboundary/toolboundary/adapters/mysql"
	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/domain/limits"
)

// Question is one statement of the operator.
type Question struct {
	// Schema is that of unqualified table names; it may be empty.
	Schema string
	// SQL was judged by sqlguard: by a guard, which printed it, or by Plain.
	SQL  string
	Args []any
	// Columns are a guard's; nil takes the server's headings, and redacts nothing.
	Columns []sqlguard.OutColumn
	// MaxRows is the most rows that are read.
	MaxRows int
}

// Ask runs the question in a read-only transaction, which is rolled back, on a session that is
// not used again (S43). It answers as [mysql.Executor.Execute] does.
func (d *Database) Ask(ctx context.Context, q Question, limit limits.RawBytes) (json.RawMessage, error) {
	plan := &sqlguard.Plan{SQL: q.SQL, Args: q.Args, Columns: q.Columns, MaxRows: q.MaxRows}
	var raw json.RawMessage
	err := d.pool.With(ctx, func(s *server.Session) (bool, error) {
		for _, text := range q.prologue() {
			if err := s.Exec(ctx, text); err != nil {
				return false, failed(err)
			}
		}
		var keep bool
		var err error
		if raw, keep, err = mysql.Select(ctx, s, plan, limit); !keep {
			return false, err // the session is gone, and the server rolls back
		}
		if s.Exec(ctx, "ROLLBACK") != nil && err == nil {
			err = server.Lost("rollback")
		}
		return false, err
	})
	if err != nil {
		return nil, err
	}
	return raw, nil
}

// prologue returns what is executed before the statement.
func (q Question) prologue() []string {
	var out []string
	if q.Schema != "" {
		out = append(out, "USE "+quoted(q.Schema))
	}
	// A statement without a LIMIT stops on the server, too; one more row tells that there are more.
	return append(out, "SET SESSION sql_select_limit = "+strconv.Itoa(q.MaxRows+1), "START TRANSACTION READ ONLY")
}

// quoted returns a name as SQL writes it.
func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

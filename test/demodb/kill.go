package main

import (
	"context"
	"regexp"
	"strconv"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
)

// MySQL's error numbers for a KILL that finds nothing or somebody else's statement.
const (
	noSuchThread      = 1094
	notOwnerOfThread  = 1095
	generalErrorState = "HY000"
)

// killer adds what the engine lacks of KILL QUERY: on a MySQL server every account may stop its own
// statements, here only one with SUPER may, and a reading account must not have that.
type killer struct {
	*server.Handler
	engine   *sqle.Engine
	sessions *server.SessionManager
}

func withKill(
	engine *sqle.Engine, sessions *server.SessionManager, h mysql.Handler,
) (*sqle.Engine, *server.SessionManager, mysql.Handler) {
	if inner, ok := h.(*server.Handler); ok {
		h = killer{Handler: inner, engine: engine, sessions: sessions}
	}
	return engine, sessions, h
}

var killQuery = regexp.MustCompile(`(?i)^\s*KILL\s+QUERY\s+(\d+)\s*;?\s*$`)

// ComQuery runs KILL QUERY itself and leaves the rest to the engine.
func (k killer) ComQuery(ctx context.Context, c *mysql.Conn, query string, callback mysql.ResultSpoolFn) error {
	m := killQuery.FindStringSubmatch(query)
	if m == nil {
		return k.Handler.ComQuery(ctx, c, query, callback)
	}
	id, err := strconv.ParseUint(m[1], 10, 32)
	if err != nil {
		return mysql.NewSQLError(noSuchThread, generalErrorState, "Unknown thread id: %s", m[1])
	}
	// The process list does not know who is behind a connection that chose no database; the sessions do.
	var owner string
	if err := k.sessions.Iter(func(s sql.Session) (bool, error) {
		if uint64(s.ID()) == id {
			owner = s.Client().User
		}
		return owner != "", nil
	}); err != nil {
		return err
	}
	switch owner {
	case "":
		return mysql.NewSQLError(noSuchThread, generalErrorState, "Unknown thread id: %d", id)
	case c.User:
		k.engine.ProcessList.Kill(uint32(id))
		return callback(&sqltypes.Result{}, false)
	default:
		return mysql.NewSQLError(notOwnerOfThread, generalErrorState, "You are not owner of thread %d", id)
	}
}

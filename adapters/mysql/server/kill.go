package server

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"

	parser "github.com/pingcap/tidb/pkg/parser/mysql"
	"go.uber.org/zap"
)

var (
	errOtherServer = errors.New("another server answers at this address")
	errKillRefused = errors.New("the server does not stop the statement")
)

// Stop ends what runs on the session, on the server and here; the session cannot be used again.
// It ignores the cancellation of ctx and takes KillTimeout at most. The driver alone would only
// drop its connection when a context ends; the statement would run on.
func (s *Session) Stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.pool.options.KillTimeout)
	defer cancel()
	if err := s.Kill(ctx); err != nil {
		// The server's own time limit still holds.
		s.pool.log.Warn("a statement could not be stopped on the server",
			zap.Bool("other_server", errors.Is(err, errOtherServer)), zap.Uint16("mysql_error", ErrorNumber(err)))
	}
	s.Cut()
}

// Kill ends the session with its statement, from another connection. Behind one address there may
// be several servers, and an idle connection may have been closed: it asks again until the right
// server answers.
func (s *Session) Kill(ctx context.Context) error {
	var err error
	for range 4 {
		if err = s.killOnce(ctx); !errors.Is(err, errOtherServer) && !errors.Is(err, driver.ErrBadConn) {
			return err
		}
	}
	return err
}

func (s *Session) killOnce(ctx context.Context) error {
	conn, err := s.pool.killers.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var failed error
	err = conn.Raw(func(dc any) error {
		k := dc.(*Session)
		if k.server != s.server {
			failed = errOtherServer
			return driver.ErrBadConn
		}
		if failed = k.end(ctx, s.id); failed != nil && !saidByServer(failed) {
			return driver.ErrBadConn
		}
		return nil
	})
	if failed == nil && err != nil && !errors.Is(err, driver.ErrBadConn) {
		return errKillRefused
	}
	return failed
}

// end kills the connection of that id with what runs on it, and only what runs where the server
// does not allow the first. KILL QUERY alone can come too early, while the statement is still on
// its way, and stop nothing. Nor does one follow the other: MariaDB takes two seconds over a KILL
// of a thread that a KILL QUERY has just woken from a wait.
func (s *Session) end(ctx context.Context, id uint64) error {
	err := s.Exec(ctx, "KILL "+strconv.FormatUint(id, 10))
	if saidByServer(err) && ErrorNumber(err) != parser.ErrNoSuchThread {
		err = s.Exec(ctx, "KILL QUERY "+strconv.FormatUint(id, 10))
	}
	if ErrorNumber(err) == parser.ErrNoSuchThread {
		return nil // it is gone, as it should be
	}
	return err
}

// Running returns the text of the statement that the server's process list shows for the
// session, or "". It asks over another connection; the error is a fault when none could be opened.
func (s *Session) Running(ctx context.Context) (text string, err error) {
	conn, err := s.pool.killers.Conn(ctx)
	if err != nil {
		return "", s.pool.noSession(ctx, err)
	}
	defer conn.Close()
	err = conn.Raw(func(dc any) error {
		list := fmt.Sprintf("SELECT INFO FROM information_schema.PROCESSLIST WHERE ID = %d", s.id)
		rows, err := dc.(*Session).Texts(ctx, list)
		if len(rows) > 0 {
			text = rows[0][0]
		}
		return err
	})
	return text, err
}

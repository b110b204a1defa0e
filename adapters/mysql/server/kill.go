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

// Kill stops the session's statement and then the session, from another connection. If the
// statement were still on its way to the server, KILL QUERY alone would come too early and stop
// nothing. A server that allows only KILL QUERY is good enough.
func (s *Session) Kill(ctx context.Context) error {
	var err error
	// Behind one address there may be several servers; ask again until the right one answers.
	for range 4 {
		if err = s.killOnce(ctx); !errors.Is(err, errOtherServer) {
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
		id := strconv.FormatUint(s.id, 10)
		if failed = k.Exec(ctx, "KILL QUERY "+id); failed == nil {
			if err := k.Exec(ctx, "KILL "+id); err != nil && !saidByServer(err) {
				return driver.ErrBadConn
			}
			return nil
		}
		if ErrorNumber(failed) == parser.ErrNoSuchThread {
			failed = nil // it is gone, as it should be
			return nil
		}
		if !saidByServer(failed) {
			return driver.ErrBadConn
		}
		return nil
	})
	if failed == nil && err != nil && !errors.Is(err, driver.ErrBadConn) {
		return errKillRefused
	}
	return failed
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

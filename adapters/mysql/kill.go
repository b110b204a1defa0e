package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"strconv"

	"go.uber.org/zap"
)

// noSuchThread is what a server says of a connection that is gone, which is what was wanted.
const noSuchThread = 1094

var (
	errOtherServer = errors.New("another server answers at this address")
	errKillRefused = errors.New("the server does not stop the statement")
)

// stop ends what runs on the session, on the server and here. The driver only drops its
// connection when a context ends; the statement would run on.
func (d *DataSource) stop(ctx context.Context, s *session) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.options.KillTimeout)
	defer cancel()
	if err := d.kill(ctx, s); err != nil {
		// The server's own time limit still holds.
		d.log.Warn("a statement could not be stopped on the server", zap.Bool("other_server", errors.Is(err, errOtherServer)), zap.Uint16("mysql_error", numberOf(err)))
	}
	s.wire.cut()
}

// kill stops the session's statement and then the session: were the statement still on its way
// to the server, KILL QUERY alone would come too early and stop nothing. Only the first is
// needed where the second is not allowed.
func (d *DataSource) kill(ctx context.Context, s *session) error {
	var err error
	// Behind one address there may be several servers; ask again until the right one answers.
	for range 4 {
		if err = d.killOn(ctx, s); !errors.Is(err, errOtherServer) {
			return err
		}
	}
	return err
}

func (d *DataSource) killOn(ctx context.Context, s *session) error {
	conn, err := d.killers.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var failed error
	err = conn.Raw(func(dc any) error {
		k := dc.(*session)
		if k.server != s.server {
			failed = errOtherServer
			return driver.ErrBadConn
		}
		id := strconv.FormatUint(s.id, 10)
		if failed = k.exec(ctx, "KILL QUERY "+id); failed == nil {
			if err := k.exec(ctx, "KILL "+id); err != nil && !isServerError(err) {
				return driver.ErrBadConn
			}
			return nil
		}
		if numberOf(failed) == noSuchThread {
			failed = nil
			return nil
		}
		if !isServerError(failed) {
			return driver.ErrBadConn
		}
		return nil
	})
	if failed == nil && err != nil && !errors.Is(err, driver.ErrBadConn) {
		return errKillRefused
	}
	return failed
}

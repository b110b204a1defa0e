package operator

import (
	"context"
	"errors"
	"strings"
	"time"

	parser "github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/domain/fault"
)

var (
	// ErrWritable says that a write was not refused on a session that should be read only.
	ErrWritable = errors.New("the session is not read only: a write was not refused")
	// ErrNotLimited says that the server let a statement run past its time limit.
	ErrNotLimited = errors.New("the server does not keep the session's time limit")
	// ErrNotKilled says that a statement was not stopped on the server: at this address only the
	// server's own time limit ends what a cancelled call has started.
	ErrNotKilled = errors.New("the server did not stop the statement: kill is unsupported here")
)

const (
	// napLimit is the time limit under which nap runs; past napBound it was not stopped.
	napLimit = 300 * time.Millisecond
	napBound = 2500 * time.Millisecond
	nap      = "SELECT SLEEP(4)"
	// longNap runs until it is killed.
	longNap = "SELECT SLEEP(60)"
	// listInterval is the time between two looks at the process list.
	listInterval = 20 * time.Millisecond
)

// ProveReadOnly tries a write on a session as every statement gets one, and returns nil when
// it is refused. byAccount reports that the account's privileges refused it first, so that nothing
// is known of the session. The write drops a table in schema that does not exist: it would change
// nothing even if it ran.
func (d *Database) ProveReadOnly(ctx context.Context, schema string) (byAccount bool, err error) {
	text := "DROP TABLE IF EXISTS " + quoted(schema) + ".`toolboundary_doctor_writes_nothing`"
	err = d.pool.With(ctx, func(s *server.Session) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, s.QueryTimeout())
		defer cancel()
		err := s.Exec(ctx, text)
		switch server.ErrorNumber(err) {
		case parser.ErrCantExecuteInReadOnlyTransaction:
			return false, nil
		case parser.ErrDBaccessDenied, parser.ErrTableaccessDenied, parser.ErrSpecificAccessDenied:
			byAccount = true
			return false, nil
		}
		if err == nil {
			return false, ErrWritable
		}
		return false, failed(err)
	})
	return byAccount, err
}

// ProveTimeLimit starts a statement that sleeps longer than the session's time limit, and
// returns nil when the server stops it. Otherwise it takes up to four seconds.
func (d *Database) ProveTimeLimit(ctx context.Context) error {
	return d.pool.With(ctx, func(s *server.Session) (bool, error) {
		if err := s.SetLimit(ctx, napLimit); err != nil {
			return false, err
		}
		began := time.Now()
		_, err := s.Texts(ctx, nap) // MySQL ends SLEEP without an error
		took := time.Since(began)
		switch {
		case ctx.Err() != nil:
			s.Stop(ctx)
			return false, ErrNotLimited
		case err != nil && server.ErrorNumber(err) == 0:
			return false, server.ErrStale
		case took >= napBound:
			return false, ErrNotLimited
		}
		return false, nil
	})
}

// ProveKill starts a statement that sleeps, stops it, and returns nil once it is gone from the
// server's process list.
func (d *Database) ProveKill(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.pool.CallTimeout())
	defer cancel()
	return d.pool.With(ctx, func(s *server.Session) (bool, error) {
		// The server's own limit must not be taken for the kill; the session is not used again.
		if err := s.SetLimit(ctx, time.Minute); err != nil {
			return false, err
		}
		sleeping := make(chan struct{})
		go func() {
			defer close(sleeping)
			_, _ = s.Texts(context.WithoutCancel(ctx), longNap) // it ends by the kill or by the cut
		}()
		defer func() { // whatever happened, the goroutine ends
			s.Cut()
			<-sleeping
		}()
		if err := awaitNap(ctx, s, true); err != nil {
			return false, err
		}
		gone, cancel := context.WithTimeout(ctx, s.KillTimeout())
		defer cancel()
		if s.Kill(gone) != nil || awaitNap(gone, s, false) != nil {
			return false, ErrNotKilled
		}
		return false, nil
	})
}

// awaitNap waits until the session's nap is in the process list, or gone from it.
func awaitNap(ctx context.Context, s *server.Session, listed bool) error {
	again := time.NewTicker(listInterval)
	defer again.Stop()
	for {
		text, err := s.Running(ctx)
		var f *fault.Error
		if errors.As(err, &f) {
			return f // no connection could be opened
		}
		if err == nil && strings.Contains(text, "SLEEP") == listed {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ErrNotKilled
		}
	}
}

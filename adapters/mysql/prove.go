package mysql

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrWritable says that a write was not refused on a session that should be read only.
	ErrWritable = errors.New("the session is not read only: a write was not refused")
	// ErrNotLimited says that the server let a statement run past its time limit.
	ErrNotLimited = errors.New("the server does not keep the session's time limit")
)

const (
	readOnlyTransaction = 1792
	// napLimit is the time limit that a proof sets, napTime the sleep that it must cut short.
	napLimit = 300 * time.Millisecond
	napText  = "SELECT SLEEP(4)"
	napBound = 2500 * time.Millisecond
)

// ProveReadOnly tries a write on a session as every statement gets one, and returns nil when
// the session refuses it. byAccount tells that the account's privileges refused it first, so
// that nothing is known of the session. The write would change nothing were it to run.
func (d *DataSource) ProveReadOnly(ctx context.Context) (byAccount bool, err error) {
	err = d.with(ctx, func(s *session) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, d.source.QueryTimeout)
		defer cancel()
		err := s.exec(ctx, "DROP TABLE IF EXISTS `toolboundary_doctor`.`there_is_no_such_table`")
		switch n := numberOf(err); {
		case err == nil:
			return false, ErrWritable
		case n == 0:
			return false, errStale
		case n != readOnlyTransaction:
			byAccount = true
		}
		return false, nil
	})
	return byAccount, err
}

// ProveTimeLimit starts a statement that sleeps longer than the session's time limit, and
// returns nil when the server stops it. It takes up to four seconds otherwise.
func (d *DataSource) ProveTimeLimit(ctx context.Context) error {
	return d.with(ctx, func(s *session) (bool, error) {
		if err := s.setLimit(ctx, napLimit); err != nil {
			return false, staleUnlessSaid(err)
		}
		began := time.Now()
		_, err := s.texts(ctx, napText) // MySQL ends SLEEP without an error
		took := time.Since(began)
		switch {
		case ctx.Err() != nil:
			d.stop(ctx, s)
			return false, ErrNotLimited
		case err != nil && !isServerError(err):
			return false, errStale
		case took >= napBound:
			return false, ErrNotLimited
		}
		return false, nil
	})
}

package mysql

import (
	"context"
	"errors"
	"strings"
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
// it is refused. byAccount tells that the account's privileges refused it first, so that nothing
// is known of the session. The write, of a table in schema that does not exist, would change
// nothing were it to run.
func (d *DataSource) ProveReadOnly(ctx context.Context, schema string) (byAccount bool, err error) {
	text := "DROP TABLE IF EXISTS `" + strings.ReplaceAll(schema, "`", "``") + "`.`toolboundary_doctor_writes_nothing`"
	err = d.with(ctx, func(s *session) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, d.source.QueryTimeout)
		defer cancel()
		err := s.exec(ctx, text)
		switch n := numberOf(err); n {
		case readOnlyTransaction:
			return false, nil
		case 1044, 1142, 1227: // access denied to a schema, to a table, for want of a privilege
			byAccount = true
			return false, nil
		case 0:
			if err == nil {
				return false, ErrWritable
			}
			return false, errStale
		default:
			f, _ := statementFault(err)
			return false, f
		}
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

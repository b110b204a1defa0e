package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"

	driverpkg "github.com/go-sql-driver/mysql"
	parser "github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// Phase is the cause of a fault that says only where a call was when it failed.
type Phase string

// Error returns the phase.
func (p Phase) Error() string { return "mysql: " + string(p) }

// origin is the cause of a fault with the server's error number: enough for an operator, and
// none of the server's words.
type origin struct {
	phase  string
	number uint16
}

// Error returns the phase and the server's error number, if it sent one.
func (o origin) Error() string {
	if o.number == 0 {
		return Phase(o.phase).Error()
	}
	return fmt.Sprintf("mysql: %s: error %d", o.phase, o.number)
}

// Cause is the cause of a fault that says where a call was when it failed, with the server's error
// number.
func Cause(p Phase, number uint16) error { return origin{string(p), number} }

// sessionError says that a session could not be pinned.
type sessionError struct{ error }

func (e sessionError) Unwrap() error { return e.error }

var (
	errAccount  = errors.New("the account's name or password cannot be read")
	errReadOnly = errors.New("the account may do more than read")
)

// ErrorNumber returns the number of the server's error behind err, which is the driver's or a
// fault of this package, or zero when the server did not send one.
func ErrorNumber(err error) uint16 {
	var o origin
	if errors.As(err, &o) {
		return o.number
	}
	var m *driverpkg.MySQLError
	if errors.As(err, &m) {
		return m.Number
	}
	return 0
}

// saidByServer reports whether the server sent the error.
func saidByServer(err error) bool { return ErrorNumber(err) != 0 }

// StaleUnlessSaid turns an error that the server did not send into [ErrStale]: for statements
// with which nothing has begun yet.
func StaleUnlessSaid(err error) error {
	if saidByServer(err) {
		return err
	}
	return ErrStale
}

// Lost returns the fault of a session that broke in the phase.
func Lost(p Phase) error {
	return fault.Because(fault.DataSourceUnavailable, reasonLost, "").WithCause(p)
}

// Reasons of DATA_SOURCE_UNAVAILABLE and DATA_SOURCE_BUSY.
const (
	reasonRefused  = "NOT_REACHABLE"
	reasonTimeout  = "CONNECT_TIMEOUT"
	reasonTLS      = "TLS"
	reasonLogin    = "LOGIN"
	reasonSession  = "SESSION"
	reasonReadOnly = "ACCOUNT_NOT_READ_ONLY"
	reasonLost     = "CONNECTION_LOST"
	reasonFull     = "SERVER_FULL"
	// reasonHourly and reasonStatements are limits of the account and of the server.
	reasonHourly     = "HOURLY_LIMIT"
	reasonStatements = "PREPARED_STATEMENTS"
	// reasonInit is an init_connect that fails: the server then ends every session.
	reasonInit = "INIT_CONNECT"
)

// connectFault returns the fault for an error with which a session could not be opened.
func connectFault(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	n := ErrorNumber(err)
	reason := reasonRefused
	var session sessionError
	var netErr net.Error
	switch {
	case errors.Is(err, errReadOnly):
		reason = reasonReadOnly
	case hourly(err):
		return fault.Because(fault.DataSourceUnavailable, reasonHourly, hourlyDetail).WithCause(origin{"connect", n})
	case full(err):
		return fault.Because(fault.DataSourceBusy, reasonFull, "").WithCause(origin{"connect", n})
	case n == parser.ErrNewAbortingConnection:
		reason = reasonInit
	case errors.As(err, &session) && n != 0 || errors.Is(err, errUnexpected):
		reason = reasonSession
	case n != 0 || isLogin(err):
		reason = reasonLogin
	case isTLS(err):
		reason = reasonTLS
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &netErr) && netErr.Timeout():
		reason = reasonTimeout
	}
	return fault.Because(fault.DataSourceUnavailable, reason, "").WithCause(origin{"connect", n})
}

// isLogin reports whether the account could not be read, or the driver refused to log in.
func isLogin(err error) bool {
	for _, e := range []error{
		errAccount, driverpkg.ErrNativePassword, driverpkg.ErrOldPassword, driverpkg.ErrCleartextPassword,
		driverpkg.ErrUnknownPlugin,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func isTLS(err error) bool {
	var record tls.RecordHeaderError
	var verify *tls.CertificateVerificationError
	var op *net.OpError
	var host x509.HostnameError
	return errors.As(err, &record) || errors.As(err, &verify) || errors.As(err, &host) ||
		errors.Is(err, driverpkg.ErrNoTLS) || errors.As(err, &op) && op.Op == "remote error"
}

package mysql

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"

	driverpkg "github.com/go-sql-driver/mysql"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// origin is the cause that a fault of this package carries: enough for an operator, not a word
// of the server.
type origin struct {
	phase  string
	number uint16
}

// Error returns the phase and the server's error number.
func (o origin) Error() string {
	if o.number == 0 {
		return "mysql: " + o.phase
	}
	return fmt.Sprintf("mysql: %s: error %d", o.phase, o.number)
}

// sessionError says that a session could not be pinned.
type sessionError struct{ error }

func (e sessionError) Unwrap() error { return e.error }

var (
	errAccount  = errors.New("the account's name or password cannot be read")
	errReadOnly = errors.New("the account may do more than read")
)

// numberOf returns the server's error number, or zero when the server did not answer.
func numberOf(err error) uint16 {
	var m *driverpkg.MySQLError
	if errors.As(err, &m) {
		return m.Number
	}
	return 0
}

func isServerError(err error) bool { return numberOf(err) != 0 }

// Reasons of DATA_SOURCE_UNAVAILABLE and DATA_SOURCE_BUSY.
const (
	reasonRefused    = "NOT_REACHABLE"
	reasonTimeout    = "CONNECT_TIMEOUT"
	reasonTLS        = "TLS"
	reasonLogin      = "LOGIN"
	reasonSession    = "SESSION"
	reasonReadOnly   = "ACCOUNT_NOT_READ_ONLY"
	reasonLost       = "CONNECTION_LOST"
	reasonFull       = "SERVER_FULL"
	reasonClosed     = "CLOSED"
	reasonIncomplete = "RESULT_UNREADABLE"
)

// connectFault says why no session came about.
func connectFault(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	n := numberOf(err)
	reason := reasonRefused
	var session sessionError
	var netErr net.Error
	switch {
	case errors.Is(err, errReadOnly):
		reason = reasonReadOnly
	case serverFull(n):
		return fault.Because(fault.DataSourceBusy, reasonFull, "").WithCause(origin{"connect", n})
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

// isLogin covers what the driver itself refuses about logging in.
func isLogin(err error) bool {
	for _, e := range []error{errAccount, driverpkg.ErrNativePassword, driverpkg.ErrOldPassword, driverpkg.ErrCleartextPassword, driverpkg.ErrUnknownPlugin} {
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

// serverFull is what a server says that has no connection to spare: too many connections, of
// this account, or of this account per hour.
func serverFull(n uint16) bool { return n == 1040 || n == 1203 || n == 1226 }

// stopped is what a server says of a statement that it stopped at its own time limit.
func stopped(n uint16) bool { return n == 1969 || n == 3024 }

// ended is what a server says when it ends the session with the statement, or is about to.
func ended(n uint16) bool {
	return n == 1317 || n == 1927 || n == 1053 || n == 1077 || n == 1079 || n == 3169 || n == 4031
}

// statementFault maps what a statement failed with. alarm is set when the guard accepted what
// the server or the account's grants refuse.
func statementFault(err error) (f *fault.Error, alarm bool) {
	if errors.As(err, &f) {
		return f, false
	}
	n := numberOf(err)
	cause := origin{"statement", n}
	switch {
	case n == 0:
		return fault.Because(fault.DataSourceUnavailable, reasonLost, "").WithCause(cause), false
	case stopped(n):
		return fault.Wrap(fault.ExecutionTimeout, cause), false
	case serverFull(n):
		return fault.Because(fault.DataSourceBusy, reasonFull, "").WithCause(cause), false
	case n == 1053 || n == 1077 || n == 1079 || n == 3169 || n == 4031:
		return fault.Because(fault.DataSourceUnavailable, reasonLost, "").WithCause(cause), false
	}
	if why, known := reasons[n]; known {
		detail := details[why]
		return fault.Because(fault.ExecutionFailed, why, detail).WithCause(cause), why == reasonDisagrees
	}
	return fault.Wrap(fault.ExecutionFailed, cause), false
}

const reasonDisagrees = "POLICY_MISMATCH"

// details tell the agent how to mend its query; fixed sentences.
var details = map[string]string{
	"NOT_GROUPED":         "Every selected or ordered column must be in GROUP BY or inside an aggregate.",
	"ALIAS_OF_AGGREGATE":  "An alias of an aggregate cannot stand inside another expression here: repeat the aggregate, or use the alias alone.",
	"AGGREGATE_MISPLACED": "An aggregate cannot stand here: filter it in HAVING, and do not nest or group by it.",
	"OUT_OF_RANGE":        "A value is out of the range of its type: use smaller numbers, or cast to DECIMAL.",
	"VALUE_INVALID":       "A value does not have the form of the type that it is used as.",
	"COLLATION":           "Two texts of different character sets or collations are compared: compare a column with a plain text.",
	"ARGUMENTS":           "A function has the wrong number or kind of arguments.",
	"ORDER_NOT_SELECTED":  "With DISTINCT, ORDER BY may only use what is selected.",
	"TOO_COMPLEX":         "The query is too large for the server: use fewer tables, columns or conditions.",
	"SERVER_RESOURCES":    "The server has not enough memory or disk for this query: ask for less.",
	"CONFLICT":            "The data changed while it was read: a new call may succeed.",
	"LOCKED":              "The data is locked by somebody else: a new call may succeed later.",
	"INTERRUPTED":         "The query was stopped on the server by its operator.",
	reasonDisagrees:       "The data source does not agree with its allowlist; the operator has been told.",
}

// reasons is the closed table of what servers say. What is not here is EXECUTION_FAILED
// without a reason. Numbers from 1900 to 1999 and from 4000 are MariaDB's, from 3000 MySQL's.
var reasons = map[uint16]string{
	1055: "NOT_GROUPED", 1140: "NOT_GROUPED", 3029: "NOT_GROUPED", 1463: "NOT_GROUPED",
	1247: "ALIAS_OF_AGGREGATE", 1111: "AGGREGATE_MISPLACED", 1056: "AGGREGATE_MISPLACED",
	1690: "OUT_OF_RANGE", 1264: "OUT_OF_RANGE", 1416: "VALUE_INVALID", 1441: "OUT_OF_RANGE", 1426: "OUT_OF_RANGE", 1425: "OUT_OF_RANGE", 1439: "OUT_OF_RANGE",
	1365: "VALUE_INVALID", 1366: "VALUE_INVALID", 1292: "VALUE_INVALID", 1525: "VALUE_INVALID", 1411: "VALUE_INVALID", 1367: "VALUE_INVALID", 1300: "VALUE_INVALID", 1406: "VALUE_INVALID",
	1267: "COLLATION", 1270: "COLLATION", 1271: "COLLATION", 1253: "COLLATION", 3854: "COLLATION",
	1210: "ARGUMENTS", 1582: "ARGUMENTS", 1583: "ARGUMENTS", 1318: "ARGUMENTS", 4078: "ARGUMENTS", 4079: "ARGUMENTS",
	3065: "ORDER_NOT_SELECTED", 3066: "ORDER_NOT_SELECTED",
	1116: "TOO_COMPLEX", 1117: "TOO_COMPLEX", 1118: "TOO_COMPLEX", 1104: "TOO_COMPLEX", 1436: "TOO_COMPLEX", 1153: "TOO_COMPLEX", 1390: "TOO_COMPLEX", 1473: "TOO_COMPLEX",
	1021: "SERVER_RESOURCES", 1037: "SERVER_RESOURCES", 1038: "SERVER_RESOURCES", 1041: "SERVER_RESOURCES", 1114: "SERVER_RESOURCES", 1135: "SERVER_RESOURCES", 1461: "SERVER_RESOURCES",
	1020: "CONFLICT", 1213: "CONFLICT", 1412: "CONFLICT", 1615: "CONFLICT", 1205: "LOCKED", 1028: "INTERRUPTED", 1317: "INTERRUPTED", 1927: "INTERRUPTED",
	1044: reasonDisagrees, 1046: reasonDisagrees, 1049: reasonDisagrees, 1051: reasonDisagrees, 1052: reasonDisagrees, 1054: reasonDisagrees, 1064: reasonDisagrees, 1066: reasonDisagrees, 1109: reasonDisagrees,
	1142: reasonDisagrees, 1143: reasonDisagrees, 1146: reasonDisagrees, 1149: reasonDisagrees, 1227: reasonDisagrees, 1290: reasonDisagrees, 1295: reasonDisagrees, 1305: reasonDisagrees,
	1356: reasonDisagrees, 1370: reasonDisagrees, 1792: reasonDisagrees, 1836: reasonDisagrees,
}

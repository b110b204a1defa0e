package server

import (
	"errors"
	"strings"

	driverpkg "github.com/go-sql-driver/mysql"
	parser "github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// Error numbers that the parser's table does not have: MariaDB's from 1900 to 1999 and from
// 4000, MySQL's from 3000. The names are those of the servers' manuals.
const (
	errHandlerCrashed            = 145  // the storage engine's own: HA_ERR_CRASHED_ON_USAGE
	errConnectionKilled          = 1927 // MariaDB: ER_CONNECTION_KILLED
	errNoSuchTableInEngine       = 1932 // MariaDB: ER_NO_SUCH_TABLE_IN_ENGINE
	errStatementTimeout          = 1969 // MariaDB: ER_STATEMENT_TIMEOUT
	errAggregateOrderNonAgg      = 3029 // ER_AGGREGATE_ORDER_NON_AGG_QUERY
	errOrderNotSelected          = 3065 // ER_FIELD_IN_ORDER_NOT_SELECT
	errAggregateOrderNotSelected = 3066 // ER_AGGREGATE_IN_ORDER_NOT_SELECT
	errSessionKilled             = 3169 // ER_SESSION_WAS_KILLED
	errCannotConvertString       = 3854 // ER_CANNOT_CONVERT_STRING
	errClientTimeout             = 4031 // ER_CLIENT_INTERACTION_TIMEOUT
	errParameterTypes            = 4078 // MariaDB: ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION
	errParameterType             = 4079 // MariaDB: ER_ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION
)

// full reports whether the server is out of connections, altogether or for this account.
func full(err error) bool {
	n := ErrorNumber(err)
	return n == parser.ErrConCount || n == parser.ErrTooManyUserConnections || n == parser.ErrUserLimitReached && !hourly(err)
}

// hourly reports whether the account has used up what it may do in an hour. The error is that of any
// limit of an account; its text names the limit.
func hourly(err error) bool {
	var m *driverpkg.MySQLError
	return errors.As(err, &m) && m.Number == parser.ErrUserLimitReached && strings.Contains(m.Message, "per_hour")
}

// stopped reports whether the server stopped the statement at its own time limit.
func stopped(n uint16) bool { return n == errStatementTimeout || n == parser.ErrMaxExecTimeExceeded }

// shuttingDown reports whether the server ended the session by itself.
func shuttingDown(n uint16) bool {
	return n == parser.ErrServerShutdown || n == parser.ErrNormalShutdown || n == parser.ErrShutdownComplete ||
		n == errSessionKilled || n == errClientTimeout
}

// killed reports whether somebody stopped the statement or its session.
func killed(n uint16) bool { return n == parser.ErrQueryInterrupted || n == errConnectionKilled }

// Usable reports whether a session on which a statement failed with err is still good: the
// server answered, and neither stopped the statement nor ended the session.
func Usable(err error) bool {
	n := ErrorNumber(err)
	return n != 0 && !stopped(n) && !killed(n) && !shuttingDown(n)
}

// Fault returns the fault for an error with which a statement failed: a fault as it is, else
// DATA_SOURCE_UNAVAILABLE when the server did not answer, EXECUTION_TIMEOUT, DATA_SOURCE_BUSY, or
// EXECUTION_FAILED with a reason of a closed table.
func Fault(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	n := ErrorNumber(err)
	cause := origin{"statement", n}
	switch {
	case n == 0 || shuttingDown(n):
		return fault.Because(fault.DataSourceUnavailable, reasonLost, "").WithCause(cause)
	case stopped(n):
		return fault.Wrap(fault.ExecutionTimeout, cause)
	case hourly(err):
		return fault.Because(fault.DataSourceUnavailable, reasonHourly, hourlyDetail).WithCause(cause)
	case full(err):
		return fault.Because(fault.DataSourceBusy, reasonFull, "").WithCause(cause)
	case n == parser.ErrMaxPreparedStmtCountReached:
		return fault.Because(fault.DataSourceBusy, reasonStatements, details[reasonStatements]).WithCause(cause)
	}
	if why, known := reasons[n]; known {
		return fault.Because(fault.ExecutionFailed, why, details[why]).WithCause(cause)
	}
	return fault.Wrap(fault.ExecutionFailed, cause)
}

// PolicyMismatch is the reason when the server or the account's grants refuse what the guard
// accepted.
const PolicyMismatch = "POLICY_MISMATCH"

// TableDamaged is the reason when a table is there and cannot be read: its files are broken, gone or
// not attached.
const TableDamaged = "TABLE_DAMAGED"

const hourlyDetail = "The service's account has used up what it may do in an hour; the operator has been told."

// ForOperator reports whether only the operator can change what a failure says: the schema, the
// grants or the server's state, or what this table of reasons does not know.
func ForOperator(f *fault.Error) bool {
	switch f.Reason {
	case PolicyMismatch, TableDamaged, reasonStatements, reasonHourly:
		return true
	}
	return f.Code == fault.ExecutionFailed && f.Reason == ""
}

// details tell the agent how to fix its query, in fixed sentences.
var details = map[string]string{
	"NOT_GROUPED": "Every selected or ordered column must be in GROUP BY or inside an aggregate.",
	"ALIAS_OF_AGGREGATE": "An alias of an aggregate cannot be part of another expression here: " +
		"repeat the aggregate, or use the alias alone.",
	"AGGREGATE_MISPLACED": "An aggregate is not allowed here: filter it in HAVING, and do not nest it or group by it.",
	"OUT_OF_RANGE":        "A value is out of the range of its type: use smaller numbers, or cast to DECIMAL.",
	"VALUE_INVALID":       "A value does not have the form of the type that it is used as.",
	"COLLATION": "Texts of different character sets or collations are compared or put together: " +
		"write CAST(column AS CHAR) for the columns on both sides.",
	"ARGUMENTS":          "A function has the wrong number or kind of arguments.",
	"ORDER_NOT_SELECTED": "With DISTINCT, ORDER BY may only use what is selected.",
	"TOO_COMPLEX":        "The query is too large for the server: use fewer tables, columns or conditions.",
	"SERVER_RESOURCES":   "The server does not have enough memory or disk for this query: ask for less.",
	"CONFLICT":           "The data changed while it was read: a new call may succeed.",
	"LOCKED":             "The data is locked by somebody else: a new call may succeed later.",
	"INTERRUPTED":        "The query was stopped on the server by its operator.",
	TableDamaged:         "A table cannot be read; the operator has been told.",
	reasonStatements:     "The server holds as many prepared statements as it allows; the operator has been told.",
	PolicyMismatch:       "The data source does not agree with its allowlist; the operator has been told.",
}

// reasons is the closed table of what servers say about a statement. What is not here is
// EXECUTION_FAILED without a reason.
var reasons = map[uint16]string{
	parser.ErrFieldNotInGroupBy:       "NOT_GROUPED",
	parser.ErrMixOfGroupFuncAndFields: "NOT_GROUPED",
	errAggregateOrderNonAgg:           "NOT_GROUPED",
	parser.ErrNonGroupingFieldUsed:    "NOT_GROUPED",

	parser.ErrIllegalReference: "ALIAS_OF_AGGREGATE",

	parser.ErrInvalidGroupFuncUse: "AGGREGATE_MISPLACED",
	parser.ErrWrongGroupField:     "AGGREGATE_MISPLACED",

	parser.ErrDataOutOfRange:           "OUT_OF_RANGE",
	parser.ErrWarnDataOutOfRange:       "OUT_OF_RANGE",
	parser.ErrDatetimeFunctionOverflow: "OUT_OF_RANGE",
	parser.ErrTooBigPrecision:          "OUT_OF_RANGE",
	parser.ErrTooBigScale:              "OUT_OF_RANGE",
	parser.ErrTooBigDisplaywidth:       "OUT_OF_RANGE",

	parser.ErrCantCreateGeometryObject:    "VALUE_INVALID",
	parser.ErrDivisionByZero:              "VALUE_INVALID",
	parser.ErrTruncatedWrongValueForField: "VALUE_INVALID",
	parser.ErrTruncatedWrongValue:         "VALUE_INVALID",
	parser.ErrWrongValue:                  "VALUE_INVALID",
	parser.ErrWrongValueForType:           "VALUE_INVALID",
	parser.ErrIllegalValueForType:         "VALUE_INVALID",
	parser.ErrInvalidCharacterString:      "VALUE_INVALID",
	parser.ErrDataTooLong:                 "VALUE_INVALID",

	parser.ErrCantAggregate2collations: "COLLATION",
	parser.ErrCantAggregate3collations: "COLLATION",
	parser.ErrCantAggregateNcollations: "COLLATION",
	parser.ErrCollationCharsetMismatch: "COLLATION",
	errCannotConvertString:             "COLLATION",

	parser.ErrWrongArguments:             "ARGUMENTS",
	parser.ErrWrongParamcountToNativeFct: "ARGUMENTS",
	parser.ErrWrongParametersToNativeFct: "ARGUMENTS",
	parser.ErrSpWrongNoOfArgs:            "ARGUMENTS",
	errParameterTypes:                    "ARGUMENTS",
	errParameterType:                     "ARGUMENTS",

	errOrderNotSelected:          "ORDER_NOT_SELECTED",
	errAggregateOrderNotSelected: "ORDER_NOT_SELECTED",

	parser.ErrTooManyTables:                  "TOO_COMPLEX",
	parser.ErrTooManyFields:                  "TOO_COMPLEX",
	parser.ErrTooBigRowsize:                  "TOO_COMPLEX",
	parser.ErrTooBigSelect:                   "TOO_COMPLEX",
	parser.ErrStackOverrunNeedMore:           "TOO_COMPLEX",
	parser.ErrNetPacketTooLarge:              "TOO_COMPLEX",
	parser.ErrPsManyParam:                    "TOO_COMPLEX",
	parser.ErrTooHighLevelOfNestingForSelect: "TOO_COMPLEX",

	parser.ErrDiskFull:         "SERVER_RESOURCES",
	parser.ErrOutofMemory:      "SERVER_RESOURCES",
	parser.ErrOutOfSortMemory:  "SERVER_RESOURCES",
	parser.ErrOutOfResources:   "SERVER_RESOURCES",
	parser.ErrRecordFileFull:   "SERVER_RESOURCES",
	parser.ErrCantCreateThread: "SERVER_RESOURCES",

	parser.ErrCheckread:       "CONFLICT",
	parser.ErrLockDeadlock:    "CONFLICT",
	parser.ErrTableDefChanged: "CONFLICT",
	parser.ErrNeedReprepare:   "CONFLICT",

	parser.ErrLockWaitTimeout: "LOCKED",

	parser.ErrFilsortAbort:     "INTERRUPTED",
	parser.ErrQueryInterrupted: "INTERRUPTED",
	errConnectionKilled:        "INTERRUPTED",

	parser.ErrGetErrno:            TableDamaged,
	parser.ErrCantOpenFile:        TableDamaged,
	parser.ErrFileNotFound:        TableDamaged,
	parser.ErrNotFormFile:         TableDamaged,
	parser.ErrNotKeyFile:          TableDamaged,
	parser.ErrOldKeyFile:          TableDamaged,
	parser.ErrWrongMrgTable:       TableDamaged,
	parser.ErrCrashedOnUsage:      TableDamaged,
	parser.ErrCrashedOnRepair:     TableDamaged,
	parser.ErrTablespaceMissing:   TableDamaged,
	parser.ErrTablespaceDiscarded: TableDamaged,
	parser.ErrIndexCorrupt:        TableDamaged,
	errHandlerCrashed:             TableDamaged,
	errNoSuchTableInEngine:        TableDamaged,

	parser.ErrAccessDenied:                     PolicyMismatch, // a view whose definer may not read, or is gone
	parser.ErrNoSuchUser:                       PolicyMismatch,
	parser.ErrDBaccessDenied:                   PolicyMismatch,
	parser.ErrNoDB:                             PolicyMismatch,
	parser.ErrBadDB:                            PolicyMismatch,
	parser.ErrBadTable:                         PolicyMismatch,
	parser.ErrNonUniq:                          PolicyMismatch,
	parser.ErrBadField:                         PolicyMismatch,
	parser.ErrParse:                            PolicyMismatch,
	parser.ErrNonuniqTable:                     PolicyMismatch,
	parser.ErrUnknownTable:                     PolicyMismatch,
	parser.ErrTableaccessDenied:                PolicyMismatch,
	parser.ErrColumnaccessDenied:               PolicyMismatch,
	parser.ErrNoSuchTable:                      PolicyMismatch,
	parser.ErrSyntax:                           PolicyMismatch,
	parser.ErrSpecificAccessDenied:             PolicyMismatch,
	parser.ErrOptionPreventsStatement:          PolicyMismatch,
	parser.ErrUnsupportedPs:                    PolicyMismatch,
	parser.ErrSpDoesNotExist:                   PolicyMismatch,
	parser.ErrViewInvalid:                      PolicyMismatch,
	parser.ErrProcaccessDenied:                 PolicyMismatch,
	parser.ErrCantExecuteInReadOnlyTransaction: PolicyMismatch,
	parser.ErrReadOnlyMode:                     PolicyMismatch,
}

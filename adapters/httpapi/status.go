package httpapi

import (
	"net/http"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// statuses gives each code the status that it is answered with when no canonical record
// exists. With a record the answer is 200, whatever the code.
var statuses = map[fault.Code]int{
	fault.ToolCallIDInvalid: http.StatusBadRequest,
	fault.RequestInvalid:    http.StatusBadRequest,

	fault.Unauthenticated: http.StatusUnauthorized,

	fault.Forbidden:         http.StatusForbidden,
	fault.ToolNotAuthorized: http.StatusForbidden,
	fault.ToolNotReadOnly:   http.StatusForbidden,
	fault.RunMismatch:       http.StatusForbidden,

	fault.RunNotFound:        http.StatusNotFound,
	fault.InvocationNotFound: http.StatusNotFound,
	fault.ToolUnknown:        http.StatusNotFound,
	fault.DataSourceUnknown:  http.StatusNotFound,
	fault.RouteNotFound:      http.StatusNotFound,

	fault.MethodNotAllowed: http.StatusMethodNotAllowed,

	fault.RunExists:           http.StatusConflict,
	fault.DuplicateToolCall:   http.StatusConflict,
	fault.RunInactive:         http.StatusConflict,
	fault.RunDeadlineExceeded: http.StatusConflict,

	fault.RequestTooLarge: http.StatusRequestEntityTooLarge,

	fault.QueryRejected: http.StatusUnprocessableEntity,

	fault.ToolBudgetExhausted: http.StatusTooManyRequests,
	fault.RunBudgetExhausted:  http.StatusTooManyRequests,
	fault.RunBytesExhausted:   http.StatusTooManyRequests,
	fault.RefusalLimitReached: http.StatusTooManyRequests,
	fault.RateLimited:         http.StatusTooManyRequests,

	fault.StoreUnavailable: http.StatusServiceUnavailable,
	fault.ServerStopping:   http.StatusServiceUnavailable,
	// Cancelled before it began: the service is stopping, or the client has gone away.
	fault.ExecutionCancelled: http.StatusServiceUnavailable,

	fault.Internal: http.StatusInternalServerError,

	// These end a call that has begun, so a record exists; they are here so that the table is
	// total, and mean that something upstream of the service failed.
	fault.DataSourceUnavailable: http.StatusServiceUnavailable,
	fault.DataSourceBusy:        http.StatusServiceUnavailable,
	fault.ExecutionFailed:       http.StatusInternalServerError,
	fault.ExecutionTimeout:      http.StatusInternalServerError,
	fault.ExecutionLost:         http.StatusInternalServerError,
	fault.ResultTooLarge:        http.StatusInternalServerError,
	fault.ProjectionFailed:      http.StatusInternalServerError,
}

// statusOf returns the status of a code; one that is not on the list is 500.
func statusOf(code fault.Code) int {
	if status, ok := statuses[code]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// retryAfter reports whether an answer with this code tells when to call again: the same
// request can succeed, and nothing of it is recorded.
func retryAfter(code fault.Code) bool { return code.Again() && statusOf(code) >= 429 }

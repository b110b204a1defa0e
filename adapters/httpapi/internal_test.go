package httpapi

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
)

func TestEveryCodeHasAStatus(t *testing.T) {
	for _, code := range fault.Codes() {
		status, ok := statuses[code]
		require.True(t, ok, "%s has no status", code)
		require.GreaterOrEqual(t, status, 400)
	}
	require.Len(t, statuses, len(fault.Codes()))
	require.Equal(t, http.StatusInternalServerError, statusOf("NO_SUCH_CODE"))

	for status, codes := range map[int][]fault.Code{
		400: {fault.RequestInvalid, fault.ToolCallIDInvalid},
		401: {fault.Unauthenticated},
		403: {fault.Forbidden, fault.ToolNotAuthorized, fault.ToolNotReadOnly, fault.RunMismatch},
		404: {fault.RunNotFound, fault.InvocationNotFound, fault.ToolUnknown, fault.DataSourceUnknown, fault.RouteNotFound},
		405: {fault.MethodNotAllowed},
		409: {fault.RunExists, fault.DuplicateToolCall, fault.RunInactive, fault.RunDeadlineExceeded},
		413: {fault.RequestTooLarge},
		422: {fault.QueryRejected},
		429: {fault.ToolBudgetExhausted, fault.RunBudgetExhausted, fault.RunBytesExhausted, fault.RefusalLimitReached, fault.RateLimited},
		503: {fault.StoreUnavailable, fault.ServerStopping},
		500: {fault.Internal},
	} {
		for _, code := range codes {
			require.Equal(t, status, statusOf(code), code)
		}
	}
}

func TestDurationNeverWraps(t *testing.T) {
	for seconds, want := range map[int64]bool{1 << 62: true, 9223372036: true, 9223372037: true, -1: false, -1 << 62: false, 0: false} {
		require.Equal(t, want, *duration(&seconds) > 0, seconds)
	}
	require.Nil(t, duration(nil))
	hour := int64(3600)
	require.Equal(t, time.Hour, *duration(&hour))
}

func TestDetailsNameOnlyKnownMembers(t *testing.T) {
	require.Equal(t, ", in budget.max_calls_per_tool", in("/budget/max_calls_per_tool/CANARY"))
	require.Equal(t, ", in references.12.run_id", in("/references/12/run_id"))
	require.Equal(t, "", in("/CANARY/run_id"))
	require.Equal(t, "", in(""))
}

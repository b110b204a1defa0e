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
		require.GreaterOrEqual(t, status, 400, code)
	}
	require.Len(t, statuses, len(fault.Codes()))
	require.Equal(t, http.StatusInternalServerError, statusOf("NO_SUCH_CODE"))

	for status, codes := range map[int][]fault.Code{
		400: {fault.RequestInvalid, fault.ToolCallIDInvalid},
		401: {fault.Unauthenticated},
		403: {fault.Forbidden, fault.ToolNotAuthorized, fault.ToolNotReadOnly, fault.RunMismatch},
		404: {
			fault.RunNotFound, fault.InvocationNotFound, fault.ToolUnknown, fault.DataSourceUnknown,
			fault.RouteNotFound,
		},
		405: {fault.MethodNotAllowed},
		409: {fault.RunExists, fault.DuplicateToolCall, fault.RunInactive, fault.RunDeadlineExceeded},
		413: {fault.RequestTooLarge},
		422: {fault.QueryRejected},
		429: {
			fault.ToolBudgetExhausted, fault.RunBudgetExhausted, fault.RunBytesExhausted,
			fault.RefusalLimitReached, fault.RateLimited,
		},
		503: {fault.StoreUnavailable, fault.ServerStopping},
		500: {fault.Internal},
	} {
		for _, code := range codes {
			require.Equal(t, status, statusOf(code), code)
		}
	}
}

func TestDurationNeverWraps(t *testing.T) {
	of := func(seconds int64) time.Duration {
		d := duration(&seconds)
		require.NotNil(t, d, "of %d seconds", seconds)
		return *d
	}
	for _, seconds := range []int64{1 << 62, 9223372036, 9223372037, 1} {
		require.Positive(t, of(seconds), "of %d seconds", seconds)
	}
	for _, seconds := range []int64{0, -1, -1 << 62} {
		require.LessOrEqual(t, of(seconds), time.Duration(0), "of %d seconds", seconds)
	}
	require.Nil(t, duration(nil))
	require.Equal(t, time.Hour, of(3600))
}

func TestDetailsNameOnlyKnownMembers(t *testing.T) {
	require.Equal(t, ", in budget.max_calls_per_tool", in("/budget/max_calls_per_tool/CANARY"))
	require.Equal(t, ", in references.12.run_id", in("/references/12/run_id"))
	require.Equal(t, "", in("/CANARY/run_id"))
	require.Equal(t, "", in(""))
}

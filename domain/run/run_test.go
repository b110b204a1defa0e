package run_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
)

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func active() run.Run {
	return run.Run{ID: "r1", State: run.Active, CreatedAt: start, Deadline: start.Add(time.Minute),
		Budget: run.Budget{MaxCalls: 3, MaxCallsPerTool: map[string]int64{"a": 1}, MaxBytes: 100, MaxRefusals: 2}}
}

func TestS01_RunID(t *testing.T) {
	for id, ok := range map[run.ID]bool{
		"r1": true, "A.b_c:d-e": true, run.ID(strings.Repeat("x", run.MaxID)): true, "7": true,
		"": false, ".r": false, "-r": false, "r 1": false, "r{1}": false, "r\n": false, "é": false, "r\nr": false,
		run.ID(strings.Repeat("x", run.MaxID+1)): false,
	} {
		t.Run(fmt.Sprintf("%.20q", id), func(t *testing.T) {
			if err := id.Check(); ok {
				require.NoError(t, err)
			} else {
				require.Equal(t, fault.RequestInvalid, fault.CodeOf(err))
			}
		})
	}
}

// TestARunOutlivesItsRecordsAndTokens is about the last record that can begin: just before the
// deadline. What agent tokens have to do with it is tested where they are issued.
func TestARunOutlivesItsRecordsAndTokens(t *testing.T) {
	r := active()
	r.RecordTTL = time.Hour
	last := r.Deadline.Add(-time.Millisecond)
	require.NoError(t, r.Live(last))
	require.Equal(t, r.Deadline.Add(time.Hour+run.Afterlife), r.Forgotten())
	require.Greater(t, r.Forgotten().Sub(last.Add(r.RecordTTL)), run.Afterlife)
}

func TestS06_Live(t *testing.T) {
	r := active()
	require.NoError(t, r.Live(r.Deadline.Add(-time.Millisecond)))
	require.Equal(t, fault.RunDeadlineExceeded, fault.CodeOf(r.Live(r.Deadline)))
	require.Equal(t, fault.RunDeadlineExceeded, r.Interrupted(r.Deadline))
	ended, err := r.End(run.Cancelled)
	require.NoError(t, err)
	require.Equal(t, fault.RunInactive, fault.CodeOf(ended.Live(start)))
	require.Equal(t, fault.ExecutionCancelled, ended.Interrupted(start))
	_, err = ended.End(run.Completed)
	require.Equal(t, fault.RunInactive, fault.CodeOf(err))
	again, err := ended.End(run.Cancelled)
	require.NoError(t, err)
	require.Equal(t, ended, again)
	_, err = ended.End(run.Active)
	require.Error(t, err)
}

func TestS08_S09_Spend(t *testing.T) {
	r, err := active().Spend("a", 10)
	require.NoError(t, err)
	_, err = r.Spend("a", 10)
	require.Equal(t, fault.ToolBudgetExhausted, fault.CodeOf(err))
	_, err = r.Spend("b", 91)
	require.Equal(t, fault.RunBytesExhausted, fault.CodeOf(err))
	r, err = r.Spend("b", 90)
	require.NoError(t, err, "exactly at the limit passes")
	r, err = r.Spend("b", 0)
	require.NoError(t, err)
	_, err = r.Spend("b", 0)
	require.Equal(t, fault.RunBudgetExhausted, fault.CodeOf(err))
	require.Equal(t, run.Usage{Calls: 3, CallsPerTool: map[string]int64{"a": 1, "b": 2}, Bytes: 100}, r.Usage)
	require.Zero(t, active().Usage, "values, not shared state")
}

func TestS09_ChargeIsExact(t *testing.T) {
	r, fits := active().Charge(100)
	require.True(t, fits, "exactly at the budget fits")
	require.EqualValues(t, 100, r.Usage.Bytes)
	same, fits := r.Charge(1)
	require.False(t, fits)
	require.Equal(t, r, same, "what does not fit is not charged")
	_, fits = r.Charge(0)
	require.True(t, fits)
}

func TestWhatTheAgentGotWrongCounts(t *testing.T) {
	counts := map[fault.Code]bool{
		fault.ToolCallIDInvalid: true, fault.ToolUnknown: true, fault.DataSourceUnknown: true,
		fault.ToolNotAuthorized: true,
		fault.ToolNotReadOnly:   true, fault.RequestInvalid: true, fault.RequestTooLarge: true, fault.QueryRejected: true,
		fault.RunMismatch: true,
	}
	for _, code := range fault.Codes() {
		require.Equal(t, counts[code], run.CountsAsRefusal(code), "%s", code)
	}
}

func TestS06_RefuseIsOverriddenByTheEnd(t *testing.T) {
	r := active()
	for range 2 {
		var err error
		r, err = r.Refuse(run.Refusal{Code: fault.QueryRejected}, true, start)
		require.NoError(t, err)
	}
	_, err := r.Refuse(run.Refusal{Code: fault.QueryRejected}, true, start)
	require.Equal(t, fault.RefusalLimitReached, fault.CodeOf(err))
	r, err = r.Refuse(run.Refusal{Code: fault.DuplicateToolCall}, false, start)
	require.NoError(t, err, "duplicates do not count")
	require.Len(t, r.Refusals, 3)
	require.Equal(t, start, r.Refusals[0].At)
	_, err = r.Refuse(run.Refusal{Code: fault.QueryRejected}, true, r.Deadline)
	require.Equal(t, fault.RunDeadlineExceeded, fault.CodeOf(err))
	for range run.MaxRefusalLog + 5 {
		r, err = r.Refuse(run.Refusal{Code: fault.DuplicateToolCall}, false, start)
		require.NoError(t, err)
	}
	require.Len(t, r.Refusals, run.MaxRefusalLog)
}

func TestARefusalChangesNoOtherValue(t *testing.T) {
	r := active()
	r.Refusals = make([]run.Refusal, 1, 4)
	one, err := r.Refuse(run.Refusal{Code: fault.QueryRejected}, true, start)
	require.NoError(t, err)
	other, err := r.Refuse(run.Refusal{Code: fault.DuplicateToolCall}, true, start)
	require.NoError(t, err)
	require.Equal(t, fault.QueryRejected, one.Refusals[1].Code)
	require.Equal(t, fault.DuplicateToolCall, other.Refusals[1].Code)
}

package redisstore

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/ports/record"
)

// TestTheLayoutIsThatOfEveryRecord finds in any record what the scripts look for at the positions
// that were measured on one.
func TestTheLayoutIsThatOfEveryRecord(t *testing.T) {
	moment := rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "unset") {
			return time.Time{}
		}
		return time.UnixMilli(rapid.Int64Range(0, 253402300799999).Draw(t, "ms")).UTC()
	})
	rapid.Check(t, func(t *rapid.T) {
		owner := rapid.StringMatching(`[A-Za-z0-9_-]{22}`).Draw(t, "owner")
		id := rapid.StringMatching(`[!#-&(-\[\]-~]{1,40}`).Draw(t, "id")
		r := invocation.Begin(invocation.Key{RunID: "r1", ToolCallID: id}, owner, "tool", []byte(`{}`))
		switch rapid.IntRange(0, 2).Draw(t, "status") {
		case 1:
			p := evidence.Projection{AgentResult: []byte(`{}`), Status: evidence.Found}
			next, err := r.Ready([]byte(`1`), p, limits.Default(), record.EncodedLen)
			require.NoError(t, err)
			r = next
		case 2:
			r = r.Failed(fault.Because(fault.QueryRejected, id, id))
		}
		r.StartedAt, r.CompletedAt = moment.Draw(t, "started"), moment.Draw(t, "completed")
		r.LeaseUntil = moment.Draw(t, "lease")
		encoded, err := record.Encode(r)
		require.NoError(t, err)
		value := string(encoded)

		require.Equal(t, string(r.Status)[0], value[stored.status])
		require.Equal(t, r.Status == invocation.Projecting, strings.HasPrefix(value, stored.begins+owner+`"`))
		require.Equal(t, len(stored.begins+owner+`"`), stored.ownerEnd)
		for at, want := range map[int]time.Time{
			stored.startedAt: r.StartedAt, stored.completedAt: r.CompletedAt, stored.leaseUntil: r.LeaseUntil,
		} {
			text := value[at : at+stored.timeLength]
			if want.IsZero() {
				require.Equal(t, "null", strings.TrimSpace(text))
				continue
			}
			got, err := parseTime(text)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		require.Equal(t, stored.leaseUntil+stored.timeLength, stored.end)
		require.Equal(t, byte(','), value[stored.end])
	})
}

func TestTheStatusesDifferInTheirFirstLetter(t *testing.T) {
	require.Contains(t, stored.lua(), "local STATUS = {P = 'PROJECTING', R = 'READY', E = 'ERROR', }")
}

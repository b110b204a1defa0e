package redisstore_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/servers"
)

// TestScriptsFormatTimesAsGoDoes compares the scripts' calendar with Go's. That the stored form has
// Go's times in this form is the business of ports/record and its golden files.
func TestScriptsFormatTimesAsGoDoes(t *testing.T) {
	c := servers.Redis(t).Client(t)
	format := redisstore.Library() +
		"local out = {}; for i, ms in ipairs(ARGV) do out[i] = stamp(tonumber(ms)) end; return out"
	check := func(t kit.T, times []int64) {
		args := make([]any, len(times))
		want := make([]string, len(times))
		for i, ms := range times {
			args[i], want[i] = ms, time.UnixMilli(ms).UTC().Format(`"2006-01-02T15:04:05.000Z"`)
		}
		got, err := c.Eval(t.Context(), format, []string{"k"}, args...).StringSlice()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	// Each day of a whole cycle of the calendar, 400 years, at its ends.
	const day = int64(24 * time.Hour / time.Millisecond)
	var days []int64
	for d := int64(0); d < 146_097+366; d++ {
		days = append(days, max(1, d*day), d*day+day-1)
	}
	for chunk := range slices.Chunk(days, 5000) {
		check(t, chunk)
	}
	last := time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli()
	rapid.Check(t, func(rt *rapid.T) {
		check(rt, rapid.SliceOfN(rapid.Int64Range(1, last), 1, 200).Draw(rt, "times"))
	})
}

func TestScriptsKeepWholeNumbersExact(t *testing.T) {
	c := servers.Redis(t).Client(t)
	for _, n := range []int64{0, 999_999_999_999_999, 1_789_012_345_678_901, math.MaxInt32, 1 << 53} {
		got, err := c.Eval(t.Context(), redisstore.Library()+"return int(ARGV[1] + 0)", []string{"k"}, n).Int64()
		require.NoError(t, err)
		require.Equal(t, n, got)
	}
}

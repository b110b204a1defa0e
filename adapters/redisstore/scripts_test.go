package redisstore_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/servers"
)

func TestScriptsFormatTimesAsGoDoes(t *testing.T) {
	c := servers.Redis(t).Client(t)
	format := redisstore.Library() + "local out = {}; for i, ms in ipairs(ARGV) do out[i] = stamp(tonumber(ms)) end; return out"
	check := func(t kit.T, times []int64) {
		args := make([]any, len(times))
		want := make([]string, len(times))
		for i, ms := range times {
			args[i], want[i] = ms, invocation.Time(time.UnixMilli(ms))
		}
		got, err := c.Eval(t.Context(), format, []string{"k"}, args...).StringSlice()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	var edges []int64
	for year := 1970; year <= 2420; year++ {
		for _, month := range []time.Month{1, 2, 3, 12} {
			first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
			edges = append(edges, max(1, first-1), max(1, first), first+999)
		}
	}
	check(t, edges)
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

package redisstore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/test/servers"
)

// BenchmarkCall begins and settles calls, against the floor of storing the same two values
// with SET NX and SET XX KEEPTTL: no budget, no state, no times.
func BenchmarkCall(b *testing.B) {
	r := servers.Redis(b, "--appendonly", "no")
	s := open(b, patient(r.Addr))
	warm(b, s)
	for _, size := range []int{1 << 10, 8 << 10, 15 << 10, 17 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20} {
		raw := size
		name := fmt.Sprintf("%dKiB", size>>10)
		b.Run("store/"+name, func(b *testing.B) {
			on := openRun(b, s, run.ID(fresh()), func(r *run.Run) { r.RecordTTL = time.Minute })
			b.ReportAllocs()
			for b.Loop() {
				rec, err := begin(b.Context(), s, on, call(on, fresh()))
				require.NoError(b, err)
				_, err = s.Settle(b.Context(), answered(b, rec, raw))
				require.NoError(b, err)
			}
			flush(b, s.Client())
		})
		b.Run("floor/"+name, func(b *testing.B) {
			c := s.Client()
			on := run.Run{ID: "floor"}
			b.ReportAllocs()
			for b.Loop() {
				rec := call(on, fresh())
				key := s.RecordKey(rec.Key())
				require.NoError(b, c.SetArgs(b.Context(), key, encode(b, rec), redis.SetArgs{Mode: "NX", TTL: time.Minute}).Err())
				next := answered(b, rec, raw)
				require.NoError(b, c.SetArgs(b.Context(), key, encode(b, next), redis.SetArgs{Mode: "XX", KeepTTL: true}).Err())
			}
			flush(b, c)
		})
	}
}

func flush(b *testing.B, c redis.UniversalClient) {
	b.Helper()
	require.NoError(b, c.FlushAll(b.Context()).Err())
}

// BenchmarkMemory reports what Redis needs for a record of 1 KiB and a run of 50 calls.
func BenchmarkMemory(b *testing.B) {
	r := servers.Redis(b, "--appendonly", "no")
	s := open(b, patient(r.Addr))
	on := openRun(b, s, "r1", func(r *run.Run) {
		r.Grants = run.Grants{Tools: []string{"mysql_query", "mysql_schema"}, DataSources: []string{"shop"}}
	})
	var last invocation.Record
	for range 50 {
		rec, err := begin(b.Context(), s, on, call(on, "toolu_"+strings.Repeat("x", 24)+fresh()))
		require.NoError(b, err)
		last, err = s.Settle(b.Context(), answered(b, rec, 1<<10))
		require.NoError(b, err)
	}
	perRecord, err := s.Client().MemoryUsage(b.Context(), s.RecordKey(last.Key())).Result()
	require.NoError(b, err)
	ledger, err := s.Client().MemoryUsage(b.Context(), s.RunKey("r1"), 0).Result()
	require.NoError(b, err)
	for b.Loop() {
	}
	b.ReportMetric(float64(perRecord), "B/record")
	b.ReportMetric(float64(len(encode(b, last))), "B/value")
	b.ReportMetric(float64(ledger), "B/run")
}

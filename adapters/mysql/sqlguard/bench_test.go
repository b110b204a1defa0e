package sqlguard_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
)

// BenchmarkPrepare reports the mean over the corpus's accepted statements, and the median as p50-µs.
func BenchmarkPrepare(b *testing.B) {
	g := shop(b)
	type prepared struct {
		sql    string
		params []sqlguard.Param
	}
	var accepts []prepared
	for _, e := range corpus(b) {
		if e.Verdict == "accept" {
			params, err := sqlguard.ParamsFromJSON(e.Params)
			require.NoError(b, err)
			accepts = append(accepts, prepared{e.SQL, params})
		}
	}
	took := make([]time.Duration, 0, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		a := accepts[i%len(accepts)]
		start := time.Now()
		if _, err := g.Prepare(a.sql, a.params); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1000, "p50-µs")
}

package mysql_test

import (
	"fmt"
	"testing"
)

// BenchmarkExecute is a whole call against a real server on loopback: two round trips, and
// then the rows.
func BenchmarkExecute(b *testing.B) {
	m := shop(b)
	r := newRig(b, m)
	for _, rows := range []int{1, 100, 10000} {
		plan := r.plan(b, fmt.Sprintf("SELECT id, LEFT(body, 50) AS text FROM v_large LIMIT %d", rows))
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Execute(b.Context(), plan, 4<<20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("prepare", func(b *testing.B) {
		request := request(b, "SELECT o.id, c.name, SUM(o.total) AS s FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.status = ? GROUP BY o.id, c.name ORDER BY s DESC LIMIT 10", "paid")
		for b.Loop() {
			if _, err := r.Prepare(request, scope); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package bench

import (
	"testing"

	"github.com/toolboundary/toolboundary/test/servers"
)

// BenchmarkCall is one call of a 1 KiB answer by one caller: for profiles and allocations.
func BenchmarkCall(b *testing.B) {
	db, rd := servers.MariaDB(b), servers.Redis(b)
	load(b, db)
	user, password := db.Account(b, "SELECT ON bench.*")
	s := boundary(b, db, rd, user, password)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.call(b.Context(), "1KiB"); err != nil {
			b.Fatal(err)
		}
	}
}

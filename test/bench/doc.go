// Package bench measures the boundary against the floor: what any service would have to do for
// the same answer, the same query by the bare driver and one SET NX and one SET KEEPTTL of the
// same bytes. Both run in turn in one process, so that the ratios hold where absolute times drift.
package bench

package logsearch

import (
	"maps"
	"slices"
	"time"
)

// maxIntervals is the most intervals that matches are counted in.
const maxIntervals = 60

// intervals are the lengths of an interval, in seconds.
var intervals = []int64{1, 10, 60, 5 * 60, 15 * 60, hour, 4 * hour, day, 7 * day, 28 * day, 365 * day, 3650 * day}

const (
	hour = 3600
	day  = 24 * hour
)

// counts counts matches per interval. It begins with seconds and takes longer intervals as
// the matches spread.
type counts struct {
	length  int // in intervals
	matches map[int64]int64
}

func (c *counts) add(t time.Time, n int64) {
	if c.matches == nil {
		c.matches = map[int64]int64{}
	}
	c.matches[c.begin(t.Unix())] += n
	for len(c.matches) > maxIntervals && c.length < len(intervals)-1 {
		c.length++
		merged := map[int64]int64{}
		for at, n := range c.matches {
			merged[c.begin(at)] += n
		}
		c.matches = merged
	}
}

// begin returns where the interval of a second begins.
func (c *counts) begin(at int64) int64 {
	length := intervals[c.length]
	return at - ((at%length)+length)%length
}

// list returns the intervals with matches, in order: [begin, matches].
func (c *counts) list() [][2]any {
	list := make([][2]any, 0, len(c.matches))
	for _, at := range slices.Sorted(maps.Keys(c.matches)) {
		list = append(list, [2]any{time.Unix(at, 0).UTC().Format(time.RFC3339), c.matches[at]})
	}
	return list
}

func (c *counts) interval() string {
	if len(c.matches) == 0 {
		return ""
	}
	return (time.Duration(intervals[c.length]) * time.Second).String()
}

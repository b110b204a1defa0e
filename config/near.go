package config

import (
	"slices"
	"strings"
)

// nearest returns the candidate that most likely was meant, or "": the only one that begins
// with the word, else the one that needs the fewest typing errors.
func nearest(word string, candidates []string) string {
	best, least := "", len(word)/3+1
	if len(word) > maxName {
		return ""
	}
	longer := slices.DeleteFunc(slices.Clone(candidates), func(c string) bool { return !strings.HasPrefix(c, word) })
	if len(longer) == 1 && len(word) >= 4 {
		return longer[0]
	}
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), c); d < least {
			best, least = c, d
		}
	}
	return best
}

// suggest says which name was meant, else which there are.
func suggest(word string, candidates []string, list string) string {
	if near := nearest(word, candidates); near != "" {
		return "Did you mean " + near + "? " + list + strings.Join(candidates, ", ") + "."
	}
	return list + strings.Join(candidates, ", ") + "."
}

// distance counts the letters to change, add, drop or swap with their neighbour to make one
// word of the other (optimal string alignment).
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = slices.Min([]int{change, last[j] + 1, row[j-1] + 1})
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

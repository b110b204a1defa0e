package strictyaml

import (
	"slices"
	"strings"
)

// maxWord is the longest word, in bytes, that is looked for among the candidates.
const maxWord = 64

// Suggest returns a sentence for a word that is none of the candidates: which one was probably
// meant, if any, and which there are. The word list begins the second sentence, such as "It is
// one of ".
func Suggest(word string, candidates []string, list string) string {
	sentence := list + strings.Join(candidates, ", ") + "."
	if near := nearest(word, candidates); near != "" {
		return "Did you mean " + near + "? " + sentence
	}
	return sentence
}

// nearest returns the candidate that was probably meant, or "": the only one that begins with
// the word, else the one that is the fewest typing errors away, at most a third of the letters.
func nearest(word string, candidates []string) string {
	if len(word) > maxWord {
		return ""
	}
	longer := slices.DeleteFunc(slices.Clone(candidates), func(c string) bool { return !strings.HasPrefix(c, word) })
	if len(longer) == 1 && len(word) >= 4 {
		return longer[0]
	}
	best, least := "", len(word)/3+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), c); d < least {
			best, least = c, d
		}
	}
	return best
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

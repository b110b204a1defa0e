package logsearch

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// matcher is a regular expression with the texts that a line must hold for it to match: most
// lines hold none, and looking for a text is many times faster than trying the expression.
type matcher struct {
	*regexp.Regexp
	// needles are in small letters. A line without any of them does not match; none at all
	// says nothing.
	needles []string
}

func newMatcher(pattern string) (matcher, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return matcher{}, err
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return matcher{}, err
	}
	return matcher{re, needles(tree)}, nil
}

// maxNeedles is the most texts that are looked for.
const maxNeedles = 6

// possible reports whether a line, given in small letters, can match.
func (m matcher) possible(small []byte) bool {
	if len(m.needles) == 0 {
		return true
	}
	for _, n := range m.needles {
		if bytes.Contains(small, []byte(n)) {
			return true
		}
	}
	return false
}

// lower appends the line with ASCII capitals made small, and nothing else changed.
func lower(out, line []byte) []byte {
	out = slices.Grow(out, len(line))
	for _, c := range line {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		out = append(out, c)
	}
	return out
}

// needles returns texts of which every match holds at least one, or nil.
func needles(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if text := longestSure(re); len(text) > 1 {
			return []string{text}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return needles(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needles(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if found := needles(sub); shortest(found) > shortest(best) {
				best = found
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			found := needles(sub)
			if found == nil {
				return nil
			}
			all = append(all, found...)
		}
		if len(all) <= maxNeedles {
			return all
		}
	}
	return nil
}

func shortest(list []string) int {
	if len(list) == 0 {
		return 0
	}
	return len(slices.MinFunc(list, func(a, b string) int { return len(a) - len(b) }))
}

// longestSure returns the longest part of a literal whose every match is the same once ASCII
// capitals are made small: other letters have capitals elsewhere, and so have k and s (the
// Kelvin sign, the long s) when case is ignored.
func longestSure(re *syntax.Regexp) string {
	best, current := "", ""
	for _, r := range string(re.Rune) {
		folds := re.Flags&syntax.FoldCase != 0 && strings.ContainsRune("kKsS", r)
		if r >= 0x80 || folds {
			current = ""
			continue
		}
		current += strings.ToLower(string(r))
		if len(current) > len(best) {
			best = current
		}
	}
	return best
}

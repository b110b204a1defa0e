package logsearch

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lineMatcher matches lines against the agent's pattern.
type lineMatcher struct {
	search
	small *[]byte // memory for a line in small letters
}

// match reports whether a line without its secrets matches, as it is written or, when plain is not nil,
// as its escapes mean it, and where in the written line: from says where the bytes of plain are in it.
func (m *lineMatcher) match(text, plain []byte, from []int32) (at [2]int, matches bool) {
	if at, matches = m.one(text); matches {
		return at, true
	}
	if plain == nil {
		plain = text
	} else if at, matches = m.one(plain); matches {
		return [2]int{int(from[at[0]]), int(from[at[1]])}, true
	}
	// A letter with an accent may be written as one character, or as two.
	if m.foreign && !norm.NFC.IsNormal(plain) {
		return m.one(norm.NFC.Bytes(plain))
	}
	return at, false
}

func (m *lineMatcher) one(text []byte) (at [2]int, matches bool) {
	if len(m.pattern.needles) > 0 {
		if *m.small = lower((*m.small)[:0], text); !m.pattern.possible(*m.small) {
			return at, false
		}
	}
	if len(text) <= m.source.MaxLine { // all of it is shown
		return at, m.pattern.Match(text)
	}
	found := m.pattern.FindIndex(text)
	if found == nil {
		return at, false
	}
	return [2]int{found[0], found[1]}, true
}

// foreign reports whether a match may need a character outside ASCII that is named.
func foreign(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r >= utf8.RuneSelf {
				return true
			}
		}
	case syntax.OpCharClass:
		return len(re.Rune) > 0 && re.Rune[0] >= utf8.RuneSelf
	}
	return slices.ContainsFunc(re.Sub, foreign)
}

// wantsNewline reports whether every match holds a newline.
func wantsNewline(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpCapture, syntax.OpPlus:
		return wantsNewline(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min > 0 && wantsNewline(re.Sub[0])
	case syntax.OpConcat:
		return slices.ContainsFunc(re.Sub, wantsNewline)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !wantsNewline(sub) })
	}
	return false
}

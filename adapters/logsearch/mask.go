package logsearch

import (
	"errors"
	"fmt"
	"regexp"
)

// masks replace secrets, in the order in which they are configured.
type masks []matcher

func newMasks(patterns []string) (masks, error) {
	var m masks
	var problems []error
	for _, p := range patterns {
		re, err := newMatcher(p)
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("the mask %q: %w", p, err))
		case re.MatchString(""):
			problems = append(problems, fmt.Errorf("the mask %q matches nothing at all, everywhere", p))
		default:
			m = append(m, re)
		}
	}
	return m, errors.Join(problems...)
}

// overlap is how much of a line is read past the bytes that are examined, so that masks
// recognise a secret that the bound goes through.
const overlap = 4 << 10

// masker applies masks; it keeps memory between lines.
type masker struct {
	masks masks
	small []byte // the line in small letters
}

// apply returns the first bytes of a line without its secrets, and whether bytes were left
// out; the same memory when there is nothing to mask. partial says that the line goes on past
// what was read of it: then its end is given up, since it may be the beginning of a secret.
func (m *masker) apply(line []byte, partial bool, most int) ([]byte, bool) {
	if len(m.masks) > 0 {
		m.small = lower(m.small[:0], line)
	}
	for _, re := range m.masks {
		// What a mask writes must not hide from the next one: it looks at the new line.
		if re.possible(m.small) {
			line = mask(re.Regexp, line)
			m.small = lower(m.small[:0], line)
		}
	}
	if partial {
		line = line[:max(len(line)-overlap, 0)]
	}
	if len(line) > most {
		return line[:most], true
	}
	return line, partial
}

func mask(re *regexp.Regexp, line []byte) []byte {
	found := re.FindAllSubmatchIndex(line, -1)
	if found == nil {
		return line
	}
	var out []byte
	done := 0
	for _, at := range found {
		groups := at[2:]
		if len(groups) == 0 {
			groups = at
		}
		for g := 0; g < len(groups); g += 2 {
			from, to := groups[g], groups[g+1]
			if from < done || from == to { // nested in the group before, or did not take part
				continue
			}
			out = append(append(out, line[done:from]...), Masked...)
			done = to
		}
	}
	return append(out, line[done:]...)
}

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
	plain unescaper
	small []byte // the line in small letters
}

// apply returns the line without its secrets; the same memory when there is nothing to mask. Masks look
// at the line as it is written and then at what its escapes stand for: what they find there is masked
// where it is written. plain is then the line without secrets and without escapes, nil when it has no
// escapes; it is valid until the next call.
func (m *masker) apply(line []byte) (masked, plain []byte) {
	line = m.each(line, func(re *regexp.Regexp, line []byte) []byte { return replace(line, secrets(re, line), nil) })
	if !escaped(line) || !m.plain.of(line) {
		return line, nil
	}
	m.each(m.plain.text, func(re *regexp.Regexp, text []byte) []byte {
		if found := secrets(re, text); len(found) > 0 {
			line = replace(line, found, m.plain.from)
			m.plain.of(line)
		}
		return m.plain.text
	})
	return line, m.plain.text
}

// each hides from no mask what another one wrote: each looks at the new line.
func (m *masker) each(line []byte, mask func(*regexp.Regexp, []byte) []byte) []byte {
	if len(m.masks) > 0 {
		m.small = lower(m.small[:0], line)
	}
	for _, re := range m.masks {
		if re.possible(m.small) {
			line = mask(re.Regexp, line)
			m.small = lower(m.small[:0], line)
		}
	}
	return line
}

// cut returns the first bytes of what apply returned for a line, and whether bytes were left out.
// partial says that the line goes on past what was read of it: then its end is given up, since it may be
// the beginning of a secret.
func cut(text []byte, partial bool, most int) ([]byte, bool) {
	if partial {
		text = text[:max(len(text)-overlap, 0)]
	}
	if len(text) > most {
		return text[:most], true
	}
	return text, partial
}

// secrets returns where the mask finds secrets: [from, to).
func secrets(re *regexp.Regexp, line []byte) [][2]int {
	var list [][2]int
	done := 0
	for _, at := range re.FindAllSubmatchIndex(line, -1) {
		groups := at[2:]
		if len(groups) == 0 {
			groups = at
		}
		for g := 0; g < len(groups); g += 2 {
			from, to := groups[g], groups[g+1]
			if from < done || from == to { // nested in the group before, or did not take part
				continue
			}
			list = append(list, [2]int{from, to})
			done = to
		}
	}
	return list
}

// replace returns the line with Masked in place of the secrets. Where they were found in an unescaped
// line, origin says where each of its bytes is written.
func replace(line []byte, found [][2]int, origin []int32) []byte {
	if len(found) == 0 {
		return line
	}
	var out []byte
	done := 0
	for _, at := range found {
		from, to := at[0], at[1]
		if origin != nil {
			from, to = int(origin[from]), int(origin[to])
		}
		out = append(append(out, line[done:from]...), Masked...)
		done = to
	}
	return append(out, line[done:]...)
}

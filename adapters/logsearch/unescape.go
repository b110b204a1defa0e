package logsearch

import (
	"bytes"
	"regexp"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const escape = 0x1b

// colours are the sequences by which terminals are told of colours and the like.
var colours = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")

// unescaper writes a line as the one who logged it meant it: escapes as what they stand for, and no
// colours. It keeps memory between lines.
type unescaper struct {
	// all escapes are those of JSON; otherwise only \u and its digits is one, since other texts have
	// backslashes for other reasons.
	all bool

	text []byte
	// from holds for each byte of text where it comes from in the line, and one for its end.
	from []int32
}

// escaped reports whether the line has anything to unescape.
func escaped(line []byte) bool {
	return bytes.IndexByte(line, '\\') >= 0 || bytes.IndexByte(line, escape) >= 0
}

// of sets text to the line without escapes, and reports whether it differs from the line.
func (u *unescaper) of(line []byte) bool {
	u.text, u.from = u.text[:0], u.from[:0]
	for i := 0; i < len(line); {
		n, r := u.one(line[i:])
		switch {
		case n == 0:
			u.put(line[i:i+1], i)
			n = 1
		case r >= 0:
			var b [utf8.UTFMax]byte
			u.put(b[:utf8.EncodeRune(b[:], r)], i)
		}
		i += n
	}
	u.from = append(u.from, int32(len(line)))
	return len(u.text) != len(line)
}

func (u *unescaper) put(b []byte, from int) {
	for _, c := range b {
		u.text, u.from = append(u.text, c), append(u.from, int32(from))
	}
}

var short = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// one returns the length of the escape that the text begins with, zero if with none, and what it
// stands for, negative for nothing.
func (u *unescaper) one(text []byte) (int, rune) {
	switch {
	case text[0] == escape:
		if at := colours.FindIndex(text[:min(len(text), 32)]); at != nil && at[0] == 0 {
			return at[1], -1
		}
	case text[0] != '\\' || len(text) < 2:
	case text[1] == 'u':
		return unicodeEscape(text)
	case u.all:
		if r, ok := short[text[1]]; ok {
			return 2, r
		}
	}
	return 0, 0
}

func unicodeEscape(text []byte) (int, rune) {
	r := hex4(text)
	if r < 0 {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if pair := utf16.DecodeRune(r, hex4(text[6:])); pair != utf8.RuneError {
			return 12, pair
		}
	}
	return 6, r // EncodeRune makes U+FFFD of half a pair
}

func hex4(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

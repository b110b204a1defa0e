// Package cell writes texts as JSON strings of a bounded size, as projectors must with values that
// come from a data source.
//
// A text that is cut says so, and how long the whole is. It is cut between characters, and the
// result is valid JSON in valid UTF-8, whatever the text.
package cell

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// Append appends the text as a JSON string of at most most bytes, quotes included, and reports
// whether it had to be cut.
func Append(out []byte, text string, most int) ([]byte, bool) {
	start := len(out)
	out = Quote(out, text)
	if len(out)-start <= most {
		return out, false
	}
	return AppendCut(out[:start], text, most), true
}

// AppendCut appends, in at most most bytes, a JSON string that holds the beginning of the text
// and says how many bytes the whole has. Below four bytes only the quotes remain.
func AppendCut(out []byte, text string, most int) []byte {
	mark := "…[cut, " + strconv.Itoa(len(text)) + " bytes]"
	room := most - len(`""`)
	switch {
	case room >= len(mark):
		text = prefix(text, room-len(mark)) + mark
	case room >= len("…"):
		text = "…"
	default:
		text = ""
	}
	return Quote(out, text)
}

// prefix returns the longest beginning of text that ends between two characters and takes at
// most room bytes between the quotes.
func prefix(text string, room int) string {
	for i, r := range text {
		if room -= cost(r); room < 0 {
			return text[:i]
		}
	}
	return text
}

// cost returns the bytes that a character takes between the quotes.
func cost(r rune) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t':
		return 2
	case r < ' ':
		return 6
	default:
		return utf8.RuneLen(r)
	}
}

// Quote appends the text as a JSON string. It escapes no more than JSON asks for; bytes that
// are not UTF-8 become U+FFFD.
func Quote(out []byte, text string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\r':
			out = append(out, `\r`...)
		case r == '\t':
			out = append(out, `\t`...)
		case r < ' ':
			out = append(out, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}

// Marshal returns v as JSON, as encoding/json writes it but for <, > and &, which stay readable.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

package mysqlrows

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// leastCell is the least room in which a cut cell still shows something of its value.
const leastCell = 64

// appendCut appends, in at most most bytes, a JSON string that holds the beginning of the
// cell and says how many bytes the whole has: of the text when the cell is a string, else of
// its JSON, which as a whole would be broken by a cut.
func appendCut(out []byte, cell json.RawMessage, most int) []byte {
	text := string(cell)
	var s string
	if json.Unmarshal(cell, &s) == nil {
		text = s
	}
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
	out, _ = jsontext.AppendQuote(out, text) // its only error is invalid UTF-8, which the caller has refused
	return out
}

// prefix returns the longest beginning of text that ends between two characters and takes at
// most room bytes between the quotes of a JSON string.
func prefix(text string, room int) string {
	for i, r := range text {
		cost := utf8.RuneLen(r)
		switch {
		case r == '"' || r == '\\' || r == '\b' || r == '\f' || r == '\n' || r == '\r' || r == '\t':
			cost = 2
		case r < ' ':
			cost = 6
		}
		if room -= cost; room < 0 {
			return text[:i]
		}
	}
	return text
}

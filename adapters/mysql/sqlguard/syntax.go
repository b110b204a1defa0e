package sqlguard

import (
	"regexp"
	"strings"
)

var position = regexp.MustCompile(`^line (\d+) column (\d+) near "`)

// syntaxDetail says where the parser stopped. Its own message quotes the statement, literals and all; a short piece of that is enough.
func syntaxDetail(err error) string {
	text := err.Error()
	at := position.FindStringSubmatch(text)
	if at == nil {
		return "the statement cannot be parsed"
	}
	near := strings.TrimSpace(text[len(at[0]):])
	if end := strings.LastIndexByte(near, '"'); end >= 0 {
		near = near[:end]
	}
	near = strings.TrimSpace(near)
	if near == "" {
		return "the statement ends too early"
	}
	const shown = 32
	return "cannot be parsed at line " + at[1] + " near " + show(clip(near, shown))
}

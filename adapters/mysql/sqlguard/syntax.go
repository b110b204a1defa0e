package sqlguard

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser"
)

// syntaxDetail says where the parser stopped. Its own message quotes the statement, literals and all; a short piece of that is enough.
func (l *lexed) syntaxDetail(err error) string {
	text := err.Error()
	_, near, found := strings.Cut(text, ` near "`)
	if !found || !strings.HasPrefix(text, "line ") {
		return "the statement cannot be parsed"
	}
	if end := strings.LastIndexByte(near, '"'); end >= 0 {
		near = near[:end]
	}
	near = strings.TrimSpace(near)
	if near == "" {
		return "the statement ends too early"
	}
	const shown = 32
	return "the statement cannot be parsed near " + show(clip(near, shown)) + l.syntaxHint(near)
}

// syntaxHint tells the usual cause of a failure to parse, if it looks like one.
func (l *lexed) syntaxHint(near string) string {
	at := strings.LastIndex(l.src, near)
	before := strings.TrimRight(l.src[:max(at, 0)], " \t\n\r")
	word := strings.ToUpper(near[:skip(near, 0, isNameByte)])
	switch {
	case l.interval:
		return "; where the count of an INTERVAL is in parentheses, write DATE_ADD(x, INTERVAL (…) DAY)"
	case near[0] == '(' && at > len(before), near[0] == '*' && strings.HasSuffix(before, " ("):
		return "; leave no blank before the parenthesis of a function"
	case near[0] == ':' || near[0] == '$' || near[0] == '%':
		return "; placeholders are written ?"
	case near[0] == '[':
		return "; names with odd characters are written in backquotes"
	case strings.HasSuffix(before, "."):
		return "; a number may not end in a point"
	case isCastTypeElsewhere(word):
		return "; " + castTypes
	case isReserved(word):
		return "; if " + show(word) + " is meant as a name, write it in backquotes"
	}
	return ""
}

func isCastTypeElsewhere(word string) bool {
	switch word {
	case "INT", "INTEGER", "BIGINT", "VARCHAR", "TEXT", "STRING", "NUMERIC", "BOOLEAN", "TIMESTAMP":
		return true
	}
	return false
}

func isReserved(word string) bool {
	for _, k := range parser.Keywords {
		if k.Reserved && k.Word == word {
			return true
		}
	}
	return false
}

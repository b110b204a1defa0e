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
	case strings.Contains(l.src, "```"):
		return "; leave the code fence (```) out"
	case strings.ContainsAny(l.src, oddBlanks):
		return "; it may be a no-break space or another odd blank: write plain ones"
	case word == "NULLS":
		return "; write ORDER BY x IS NULL, x to have NULL last"
	case word == "OUTER" || word == "FULL":
		return "; there is no FULL OUTER JOIN: send two queries, one with LEFT JOIN"
	case near[0] == ')' && strings.HasSuffix(before, "(") && strings.HasSuffix(strings.ToUpper(strings.TrimRight(before[:len(before)-1], blanks)), "IN"):
		return "; a list may not be empty: leave the condition out"
	case near[0] == '"', near[0] == '.' && strings.HasSuffix(before, "\""):
		return "; names are written without quotes or in backquotes"
	case strings.HasPrefix(near, "::"):
		return "; write CAST(x AS type)"
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
	case isClause(word):
		return "; something is missing or too much before " + word
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

// isClause reports words that begin a clause, and are hardly meant as names.
func isClause(word string) bool {
	switch word {
	case "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "ON", "AND", "OR", "JOIN", "SELECT":
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

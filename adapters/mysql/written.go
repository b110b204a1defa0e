package mysql

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
)

// written is a value that the agent wrote: a literal or a parameter.
type written struct {
	text   string
	number bool
	// bytes is set for a literal of hexadecimal digits or bits.
	bytes bool
}

// writtenIn returns the values in a plan: those of its statement, as the guard prints them, and its
// parameters.
func writtenIn(plan *sqlguard.Plan) []written {
	var out []written
	for _, arg := range plan.Args {
		switch v := arg.(type) {
		case nil:
		case string:
			out = append(out, written{text: v})
		case bool:
			out = append(out, written{text: map[bool]string{false: "0", true: "1"}[v], number: true})
		default:
			out = append(out, written{text: fmt.Sprint(v), number: true})
		}
	}
	return appendLiterals(out, plan.SQL)
}

// appendLiterals reads a printed statement: names are in backquotes, texts in single ones, and what
// begins with a digit is a number.
func appendLiterals(out []written, sql string) []written {
	for i := 0; i < len(sql); {
		switch c := sql[i]; {
		case c == '`':
			_, i = quoted(sql, i)
		case c == '\'':
			text, end := quoted(sql, i)
			kind := byte(0)
			if i > 0 {
				kind = sql[i-1] | 0x20
			}
			out, i = append(out, written{text: text, bytes: kind == 'x' || kind == 'b'}), end
		case c >= '0' && c <= '9':
			end := i + 1
			for end < len(sql) && (sql[end] == '.' || isWord(sql[end]) || isSign(sql, end)) {
				end++
			}
			text := sql[i:end]
			out, i = append(out, written{text: text, number: true, bytes: strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0b")}), end
		case isWord(c):
			for i < len(sql) && isWord(sql[i]) {
				i++
			}
		default:
			i++
		}
	}
	return out
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// isSign reports whether the byte is the sign of an exponent.
func isSign(sql string, i int) bool {
	return (sql[i] == '-' || sql[i] == '+') && (sql[i-1]|0x20) == 'e'
}

// quoted returns what is between the quote at from and the next one that is not doubled, and where
// it ends. A backslash escapes in texts only.
func quoted(sql string, from int) (text string, end int) {
	quote := sql[from]
	var out strings.Builder
	for i := from + 1; i < len(sql); i++ {
		switch {
		case sql[i] == '\\' && quote == '\'' && i+1 < len(sql):
			i++
			out.WriteByte(unescaped(sql[i]))
		case sql[i] != quote:
			out.WriteByte(sql[i])
		case i+1 < len(sql) && sql[i+1] == quote:
			i++
			out.WriteByte(quote)
		default:
			return out.String(), i + 1
		}
	}
	return out.String(), len(sql)
}

func unescaped(c byte) byte {
	switch c {
	case '0':
		return 0
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 'Z':
		return 0x1a
	}
	return c
}

// mayBe reports whether a server may mean w where it shows a value in a warning. Servers cut such
// values, escape what is not ASCII, and show what was computed of them: in doubt they mean w.
func (w written) mayBe(shown string) bool {
	if w.bytes {
		return true
	}
	if w.number {
		if w.text == shown {
			return true
		}
		a, errA := strconv.ParseFloat(w.text, 64)
		b, errB := strconv.ParseFloat(strings.TrimPrefix(shown, "-"), 64)
		return errA == nil && errB == nil && (a == b || a == -b)
	}
	text, shown := strings.ToLower(w.text), strings.ToLower(shown)
	if text == shown {
		return true
	}
	shown = strings.TrimSuffix(shown, "...")
	if strings.ContainsFunc(w.text, isOdd) && strings.ContainsFunc(shown, isOdd) {
		return true
	}
	const telling = 3 // characters; shorter ones are part of too many values
	return len(shown) >= telling && strings.Contains(text, shown) || len(text) >= telling && strings.Contains(shown, text)
}

// isOdd reports characters that servers show in another way.
func isOdd(r rune) bool { return r < ' ' || r >= 0x7f || r == '\\' || r == '?' }

// show returns the value for a person, as SQL writes it.
func (w written) show() string {
	const most = 60
	text := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, w.text)
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	if w.number {
		return text
	}
	return "'" + text + "'"
}

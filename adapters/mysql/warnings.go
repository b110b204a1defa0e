package mysql

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	parser "github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/ports/rowset"
)

// A server computes with a value that does not fit, and warns: a text that is not a time is no time,
// or the earliest one; a text that is not a number is 0. So the answer is not that of the question.
// Where the agent wrote such a value the call fails. Where it is stored, the rows stand and say so,
// and no row is not a finding. In doubt the agent wrote it. docs/negatives.md has the table.

// Error numbers that the parser's table does not have.
const (
	errBadData = 1918 // MariaDB: ER_BAD_DATA, a text that is not a number
)

// ours are warnings of what the statement itself asks for, whatever is stored: a value that is cut,
// or changed to the nearest one of its type.
var ours = map[uint16]string{
	parser.ErrWarnDataOutOfRange:          "a value does not fit the type that it is cast to: use a larger one",
	parser.WarnDataTruncated:              "a value does not fit the type that it is cast to: use a larger one",
	parser.ErrWarnAllowedPacketOverflowed: "a text gets longer than the server can make it: use LEFT, or ask for less",
	parser.ErrCutValueGroupConcat:         "GROUP_CONCAT gets longer than the server can make it: group by more, or ask for the rows",
}

// harmless are warnings that say nothing of a value: deprecated syntax, character sets and types.
var harmless = map[uint16]bool{
	parser.ErrWarnDeprecatedSyntax: true, 1681: true, 3719: true, 3720: true, 3778: true,
}

// named is how servers name the value that does not fit, and what it should be.
var named = regexp.MustCompile(`(?s)^(?:Truncated incorrect|Incorrect|Invalid|Encountered illegal) ?(.*?) ?(?:value:?|character string:) ` +
	`'(.*?)'(?: for (?:function|column) .*| when converting to (.*)|)$`)

// weigh says what the warnings of a statement mean for its answer: the notes that go with its rows,
// or the fault of a value that the agent wrote.
func weigh(plan *sqlguard.Plan, warnings []server.Warning, all bool) ([]rowset.Warning, error) {
	var notes []rowset.Warning
	var values []written
	for _, w := range warnings {
		if harmless[w.Number] {
			continue
		}
		if why, known := ours[w.Number]; known {
			return nil, invalid(w.Number, why)
		}
		note := "the server warned of error " + fmt.Sprint(w.Number)
		switch m := named.FindStringSubmatch(w.Text); {
		case m != nil:
			kind := strings.ToLower(m[1] + m[3])
			if strings.HasPrefix(kind, "char(") || strings.HasPrefix(kind, "binary(") {
				continue // cut to the length that was asked for
			}
			if values == nil {
				values = writtenIn(plan)
			}
			for _, v := range values {
				if v.mayBe(m[2]) {
					return nil, invalid(w.Number, advice(v, kind))
				}
			}
			note = "a stored value is not valid as " + typeOf(kind)
		case w.Number == parser.ErrDivisionByZero:
			note = "division by zero, which is NULL"
		case w.Number == parser.ErrDatetimeFunctionOverflow:
			note = "a computed time is out of range, which is NULL"
		case quotes(w.Number):
			return nil, invalid(w.Number, "a value does not have the form of the type that it is used as")
		}
		notes = rowset.AddWarning(notes, note)
	}
	if !all {
		return nil, invalid(0, "too many stored values do not have the form of the type that they are used as: "+
			"compare texts with texts, and numbers with numbers")
	}
	return notes, nil
}

// quotes reports the warnings that name a value, should the server's words not be understood.
func quotes(number uint16) bool {
	return number == parser.ErrTruncatedWrongValue || number == parser.ErrTruncatedWrongValueForField ||
		number == parser.ErrWrongValueForType || number == parser.ErrWrongValue || number == errBadData
}

func invalid(number uint16, detail string) error {
	return fault.Because(fault.ExecutionFailed, "VALUE_INVALID", detail).WithCause(server.Cause("warning", number))
}

// typeOf returns the type that a value was used as, in words.
func typeOf(kind string) string {
	switch {
	case isTime(kind):
		return "a time"
	case isNumber(kind):
		return "a number"
	case strings.HasPrefix(kind, "utf8"):
		return "a text"
	}
	return "the type that it is used as"
}

func isTime(kind string) bool {
	return strings.Contains(kind, "date") || strings.Contains(kind, "time")
}

func isNumber(kind string) bool {
	return strings.Contains(kind, "int") || strings.Contains(kind, "decimal") || strings.Contains(kind, "double") || strings.Contains(kind, "float")
}

// advice says what to write instead of a value.
func advice(v written, kind string) string {
	switch {
	case v.bytes:
		return "a literal of bytes is used as a text or a number that it is not"
	case isTime(kind):
		if at, ok := zoned(v.text); ok {
			return v.show() + " has an offset, which a server may leave out: write '" + at + "', the same time in UTC"
		}
		if v.number {
			return v.show() + " is not a time: write one as '2024-01-31 23:59:00', or FROM_UNIXTIME of seconds"
		}
		return v.show() + " is not a time: write one as '2024-01-31 23:59:00', in UTC"
	case isNumber(kind):
		return v.show() + " is not a number: compare texts with texts, and numbers with numbers"
	}
	return v.show() + " does not have the form of the type that it is used as"
}

// short is a time of hours and minutes with an offset. A server takes the offset for the seconds,
// and does not warn.
var short = regexp.MustCompile(`\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d ?[+-]\d\d`)

// misread refuses a plan with a value that a server misreads without a word.
func misread(plan *sqlguard.Plan) error {
	suspect := short.MatchString(plan.SQL)
	for _, arg := range plan.Args {
		text, ok := arg.(string)
		suspect = suspect || ok && short.MatchString(text)
	}
	if !suspect {
		return nil
	}
	for _, v := range writtenIn(plan) {
		if _, ok := zoned(v.text); ok && short.MatchString(v.text) {
			return fault.Because(fault.QueryRejected, "VALUE_INVALID", advice(v, "time"))
		}
	}
	return nil
}

// zoned reads a time that has an offset and returns it in UTC, the zone of all sessions, as SQL writes
// it.
func zoned(text string) (string, bool) {
	text = strings.ToUpper(strings.TrimSpace(text))
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05"} {
		for _, zone := range []string{"Z07:00", "Z0700", "Z07", " Z07:00", " Z0700", " Z07"} {
			if at, err := time.Parse(layout+zone, text); err == nil {
				return at.UTC().Format("2006-01-02 15:04:05.999999"), true
			}
		}
	}
	return "", false
}

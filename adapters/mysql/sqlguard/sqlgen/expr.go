package sqlgen

import (
	"fmt"
	"strings"
)

// paren sets parentheses around an operand; in a Loose statement only at times.
func (g *Generator) paren(e string) string {
	if g.kind == Loose && g.chance(70) {
		return e
	}
	return "(" + e + ")"
}

func (g *Generator) expr(t Type, depth int) string {
	if depth <= 0 || g.chance(30) {
		return g.atom(t)
	}
	if g.chance(12) {
		return g.choice(t, depth)
	}
	switch t {
	case Text:
		return g.text(depth)
	case Date:
		return g.date(depth)
	}
	return g.number(depth)
}

func (g *Generator) atom(t Type) string {
	switch {
	case g.chance(70):
		return g.column(t)
	case g.chance(30):
		return g.param(t)
	}
	return g.literal(t)
}

var texts = []string{
	"", "paid", "DE", "it''s", `back\\slash`, `a\'b`, "100%", `50\%`, `a\_b`, "x -- y", "/*! x */", "#", "?", "ü李", "\\\\", `\\'' OR 1=1 -- `,
	"`", `\"`, "a\tb", `\n`, "; DROP TABLE orders", "2024-01-01", "12abc", `\Z\0`,
}

func (g *Generator) literal(t Type) string {
	switch t {
	case Text:
		switch g.r.IntN(12) {
		case 0:
			return pick(g, "x'41'", "0x5A65726F", "b'01000001'", "X'4A'", "0b1000001")
		case 1:
			return "'a' 'b'"
		case 2:
			return `"` + strings.ReplaceAll(pick(g, texts...), `\"`, "q") + `"`
		}
		return "'" + pick(g, texts...) + "'"
	case Date:
		return g.orNull(pick(g, "'2024-02-29'", "'2025-06-30 12:00:00'", "'1970-01-01'", "'0000-00-00'", "'2024-12-31 23:59:59.999'"))
	}
	if g.kind == Loose && g.chance(2) {
		return "3." // the parser takes a word after it for a name
	}
	return g.orNull(pick(g, "0", "1", "2", "10", "255", "0.5", ".25", "1.50", "1e2", "2.5e-1", "100.00", "007", "0x0A", "18446744073709551615", "TRUE", "FALSE"))
}

// orNull is the literal or, where it may stand and at times, NULL.
func (g *Generator) orNull(literal string) string {
	if g.nullable && g.chance(8) {
		return "NULL"
	}
	return literal
}

func (g *Generator) param(t Type) string {
	switch t {
	case Text:
		g.params = append(g.params, pick[any](g, "paid", "DE", `a\b'c"`, "%", "", "ü", "2024"))
	case Date:
		g.params = append(g.params, pick[any](g, "2024-06-01", "2025-01-01 00:00:00"))
	default:
		g.params = append(g.params, pick[any](g, int64(3), int64(-1), 2.5, true, int64(1)<<40, "7"))
	}
	if g.nullable && g.chance(12) {
		g.params[len(g.params)-1] = nil
	}
	return "?"
}

// choice is a function or CASE that gives one of its arguments.
func (g *Generator) choice(t Type, depth int) string {
	before := g.nullable
	defer func() { g.nullable = before }()
	one := func() string {
		g.nullable = true
		return g.expr(t, depth-1)
	}
	switch g.r.IntN(8) {
	case 0:
		return "COALESCE(" + one() + ", " + one() + ")"
	case 1:
		return "IFNULL(" + one() + ", " + one() + ")"
	case 2:
		return "NULLIF(" + one() + ", " + one() + ")"
	case 3:
		return "IF(" + g.boolean(depth-1) + ", " + one() + ", " + one() + ")"
	case 4:
		return pick(g, "GREATEST(", "LEAST(") + one() + ", " + one() + ")"
	case 5:
		value := one()
		g.nullable = false
		return "CASE " + value + " WHEN " + g.expr(t, depth-1) + " THEN " + one() + " END"
	case 6:
		return "CASE WHEN " + g.boolean(depth-1) + " THEN " + one() + " WHEN " + g.boolean(depth-1) + " THEN " + one() + " ELSE " + one() + " END"
	}
	return g.paren(g.expr(t, depth-1))
}

func (g *Generator) number(depth int) string {
	num := func() string { return g.expr(Number, depth-1) }
	operand := func() string { return g.paren(num()) }
	switch g.r.IntN(26) {
	case 20:
		return pick(g, "LOCATE(", "INSTR(", "FIND_IN_SET(", "STRCMP(") + g.expr(Text, depth-1) + ", " + g.atom(Text) + ")"
	case 21:
		return "FIELD(" + g.expr(Text, depth-1) + ", " + g.literal(Text) + ", " + g.literal(Text) + ")"
	case 22:
		return "EXTRACT(" + pick(g, "HOUR", "YEAR_MONTH", "DAY", "quarter", "SECOND_MICROSECOND") + " FROM " + g.expr(Date, depth-1) + ")"
	case 23:
		return pick(g, "WEEK", "QUARTER", "SECOND", "WEEKDAY", "YEARWEEK", "DAYOFYEAR", "TO_DAYS", "TIME_TO_SEC") + "(" + g.expr(Date, depth-1) + ")"
	case 24:
		l := operand()
		return l + pick(g, " & ", " | ", " << ", " >> ") + g.paren(pick(g, "1", "3", g.column(Number)))
	case 25:
		switch g.r.IntN(4) {
		case 0:
			return "ISNULL(" + g.expr(pick(g, Number, Text, Date), depth-1) + ")"
		case 1:
			return pick(g, "SIGN(", "LOG2(", "SQRT(") + num() + ")"
		case 2:
			return "TRUNCATE(" + num() + ", 1)"
		}
		return "JSON_CONTAINS('[1,[2]]', CAST(" + g.column(Number) + " AS CHAR), " + pick(g, "'$'", "'$[1]'") + ") + JSON_LENGTH('[1,[2]]', '$[1]')"
	case 0, 1, 2, 3:
		l := operand()
		return l + pick(g, " + ", " - ", " * ", " / ", " % ", " DIV ", " MOD ") + operand()
	case 4:
		return "- " + operand()
	case 5:
		return pick(g, "ABS", "FLOOR", "CEIL", "CEILING", "ROUND", "round", "LENGTH") + "(" + num() + ")"
	case 6:
		return "ROUND(" + num() + ", " + pick(g, "0", "1", "2", "-1") + ")"
	case 7:
		return "MOD(" + num() + ", " + num() + ")"
	case 8:
		return pick(g, "LENGTH", "CHAR_LENGTH") + "(" + g.expr(Text, depth-1) + ")"
	case 9, 10:
		return pick(g, "YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "UNIX_TIMESTAMP") + "(" + g.expr(Date, depth-1) + ")"
	case 11:
		return "DATEDIFF(" + g.expr(Date, depth-1) + ", " + g.expr(Date, depth-1) + ")"
	case 12:
		return "TIMESTAMPDIFF(" + pick(g, "DAY", "HOUR", "MONTH", "SQL_TSI_YEAR", "second") + ", " + g.expr(Date, depth-1) + ", " + g.expr(Date, depth-1) + ")"
	case 13:
		return pick(g, "CAST(", "cast(") + num() + " AS " + pick(g, "SIGNED", "UNSIGNED", "DECIMAL(10,2)", "DECIMAL", "DECIMAL(8)", "DOUBLE", "SIGNED INTEGER") + ")"
	case 14:
		return "CONVERT(" + g.expr(Text, depth-1) + ", " + pick(g, "SIGNED", "DECIMAL(12,4)", "UNSIGNED") + ")"
	}
	return g.paren(g.boolean(depth - 1))
}

func (g *Generator) text(depth int) string {
	txt := func() string { return g.expr(Text, depth-1) }
	num := func() string { return g.expr(Number, depth-1) }
	switch g.r.IntN(18) {
	case 14:
		return "SUBSTRING_INDEX(" + txt() + ", " + g.literal(Text) + ", " + pick(g, "1", "2", "-1") + ")"
	case 15:
		return pick(g, "HEX(", "UNHEX(", "REVERSE(", "UCASE(") + txt() + ")"
	case 16:
		return pick(g, "DAYNAME(", "MONTHNAME(") + g.expr(Date, depth-1) + ")"
	case 17:
		return pick(g, "JSON_UNQUOTE(", "(") + pick(g, "JSON_EXTRACT(", "JSON_VALUE(") + `CONCAT('{"a":', ` + g.column(Number) + `, '}'), '$.a'))`
	case 0, 1:
		return "CONCAT(" + txt() + ", " + g.expr(pick(g, Text, Number, Date), depth-1) + ")"
	case 2:
		// Of atoms only: MariaDB 10.11 appends to the value of a nested call, and the rows then depend on how often it was evaluated.
		return "CONCAT_WS(" + g.literal(Text) + ", " + g.atom(Text) + ", " + g.atom(Number) + ")"
	case 3, 4:
		return pick(g, "LOWER", "UPPER", "TRIM", "LTRIM", "RTRIM", "lower", "`lower`", "LOWER ") + "(" + txt() + ")"
	case 5:
		return "TRIM(" + pick(g, "BOTH ", "LEADING ", "TRAILING ", "") + txt() + " FROM " + txt() + ")"
	case 6:
		return "TRIM(" + pick(g, "BOTH", "LEADING", "TRAILING") + " FROM " + txt() + ")"
	case 7:
		return pick(g, "LEFT(", "RIGHT(") + txt() + ", " + num() + ")"
	case 8:
		return "SUBSTRING(" + txt() + ", " + num() + ", " + pick(g, "1", "2", "10") + ")"
	case 9:
		return "SUBSTRING(" + txt() + " FROM " + pick(g, "1", "2", "-3") + pick(g, "", " FOR 4") + ")"
	case 10:
		// Not in a value of adjacent literals: MariaDB 10.11 changes REPLACE('a' 'b', 'ab', x) in place, so that the next row replaces in the last
		// row's result. Printed as one literal it is right.
		return "REPLACE(" + g.column(Text) + ", " + txt() + ", " + pick(g, g.literal, g.param)(Text) + ")"
	case 11:
		return "DATE_FORMAT(" + g.expr(Date, depth-1) + ", " + pick(g, "'%Y-%m'", "'%H:%i'", `"%W"`, "'%%x'") + ")"
	case 12:
		return "CAST(" + g.expr(pick(g, Number, Text, Date), depth-1) + " AS " + pick(g, "CHAR", "CHAR(3)", "CHAR(0)", "CHARACTER(20)") + ")"
	}
	return g.atom(Text)
}

func (g *Generator) date(depth int) string {
	day := func() string { return g.expr(Date, depth-1) }
	interval := func() string {
		n := pick(g, "1", "7", "?", "'1'", "2 + 1", "-3")
		if n == "?" {
			g.params = append(g.params, int64(g.r.IntN(40)))
		}
		return "INTERVAL " + n + " " + pick(g, "DAY", "day", "MONTH", "HOUR", "WEEK", "SECOND", "YEAR", "QUARTER", "SQL_TSI_DAY")
	}
	switch g.r.IntN(15) {
	case 12:
		return pick(g, "DATE '2024-02-29'", "TIMESTAMP '2024-02-29 12:00:00'", "TIMESTAMP'2025-01-01 00:00:00.5'", "UTC_TIMESTAMP()", "UTC_TIMESTAMP", "UTC_DATE()")
	case 13:
		return pick(g, "LAST_DAY(", "TIMESTAMP(") + day() + ")"
	case 14:
		return "CONVERT_TZ(" + day() + ", '+00:00', " + pick(g, "'+02:00'", "'-05:30'") + ")"
	case 0, 1:
		d := g.paren(day())
		return d + pick(g, " - ", " + ") + interval()
	case 2:
		d := day()
		return pick(g, "DATE_ADD(", "DATE_SUB(") + d + ", " + interval() + ")"
	case 3:
		i := interval()
		return i + " + " + g.paren(day())
	case 4:
		return "DATE(" + day() + ")"
	case 5:
		return pick(g, "NOW()", "CURDATE()", "CURRENT_DATE", "CURRENT_DATE()", "CURRENT_TIMESTAMP", "NOW(3)", "CURRENT_TIMESTAMP(6)", "now()")
	case 6:
		// Of integers: of a DECIMAL, MariaDB shows as many digits as its type has, and a guard may have it show six.
		return "FROM_UNIXTIME(CAST(" + g.expr(Number, depth-1) + " AS SIGNED))"
	case 7:
		return "CAST(" + day() + " AS " + pick(g, "DATE", "DATETIME", "DATETIME(3)", "TIME") + ")"
	case 8:
		return pick(g, "DATE_ADD(", "date_sub(") + "'2024-01-31', INTERVAL " + pick(g, "'1:30' MINUTE_SECOND", "'2 3' DAY_HOUR", "'1-2' YEAR_MONTH") + ")"
	}
	return g.atom(Date)
}

func (g *Generator) boolean(depth int) string {
	before := g.nullable
	defer func() { g.nullable = before }()
	g.nullable = false
	t := pick(g, Number, Number, Text, Date)
	if depth <= 0 {
		l := g.atom(t)
		return l + pick(g, " = ", " <> ", " < ", " >= ") + g.atom(t)
	}
	side := func() string { return g.paren(g.expr(t, depth-1)) }
	switch g.r.IntN(16) {
	case 0, 1, 2:
		l := g.paren(g.boolean(depth - 1))
		return l + pick(g, " AND ", " OR ", " XOR ", " && ", " and ") + g.paren(g.boolean(depth-1))
	case 3:
		return "NOT " + g.paren(g.boolean(depth-1))
	case 4, 5, 6, 7:
		l := side()
		return l + pick(g, " = ", " <> ", " != ", " < ", " <= ", " > ", " >= ", " <=> ", "=") + side()
	case 8:
		l := side()
		return l + pick(g, " IN (", " NOT IN (") + g.expr(t, 1) + ", " + g.expr(t, 0) + ")"
	case 9:
		l := side()
		m := side()
		return l + pick(g, " BETWEEN ", " NOT BETWEEN ") + m + " AND " + side()
	case 10, 11:
		l := side()
		return l + pick(g, " LIKE ", " NOT LIKE ") + g.pattern()
	case 12:
		return side() + pick(g, " IS NULL", " IS NOT NULL", " IS TRUE", " IS NOT FALSE", " IS FALSE", " IS UNKNOWN")
	}
	return g.paren(g.boolean(depth - 1))
}

func (g *Generator) pattern() string {
	switch g.r.IntN(5) {
	case 0:
		g.params = append(g.params, pick[any](g, "%a%", `\_%`, `100\%`))
		return "?"
	case 1:
		return pick(g, `'100!%%' ESCAPE '!'`, `'%|_%' ESCAPE '|'`, `'%\\\\%' ESCAPE '\\'`, `'a%' ESCAPE 'a'`)
	case 2:
		return "CONCAT('%', " + g.literal(Text) + ", '%')"
	}
	return pick(g, "'%a%'", `'50\%%'`, `'%\\\\%'`, "'_'", `'under\_score%'`, "'%ü%'", `"%'%"`)
}

func (g *Generator) aggregate(depth int) string {
	switch g.r.IntN(9) {
	case 7:
		c := g.column(Number) // how many digits are certain depends on how large the numbers are
		return "ROUND(" + pick(g, "STDDEV(", "STD(", "STDDEV_SAMP(", "VARIANCE(", "VAR_SAMP(") + c + ") / (1 + MAX(ABS(" + c + ")) * MAX(ABS(" + c + "))), 6)"
	case 8:
		c := g.column(pick(g, Number, Text))
		return "GROUP_CONCAT(" + pick(g, "DISTINCT ", "") + c + " ORDER BY " + c + pick(g, "", " DESC", " SEPARATOR '; '") + ")"
	case 0, 1:
		return pick(g, "COUNT(*)", "count(*)", "COUNT( * )")
	case 2:
		return "COUNT(DISTINCT " + g.column(Number) + pick(g, "", ", "+g.column(Text)) + ")"
	case 3:
		return pick(g, "SUM(", "AVG(") + pick(g, "", "DISTINCT ") + g.expr(Number, depth) + ")"
	case 4:
		return pick(g, "MIN(", "MAX(") + g.expr(pick(g, Number, Text, Date), depth) + ")"
	case 5:
		return "SUM(" + g.paren(g.boolean(depth)) + ")"
	}
	return fmt.Sprintf("ROUND(%s / COUNT(*), %d)", g.paren("SUM("+g.expr(Number, depth)+")"), g.r.IntN(4))
}

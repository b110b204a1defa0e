package sqlguard

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The longest value of each kind of expression, by hand.
func TestSizes(t *testing.T) {
	g, err := New(Policy{DefaultSchema: "s", MaxRows: 1, Functions: KnownFunctions(), Tables: []Table{{Schema: "s", Name: "t", Columns: []Column{
		{Name: "v", Type: "varchar(40)"}, {Name: "c", Type: "CHAR(10) NOT NULL"}, {Name: "x", Type: "text"}, {Name: "l", Type: "longtext"},
		{Name: "n", Type: "int(11)"}, {Name: "u"}, {Name: "m", MaxLength: 100}, {Name: "b", Type: "varbinary(16)"}, {Name: "o", Type: "geometry"},
	}}}})
	require.NoError(t, err)
	for sql, chars := range map[string]float64{
		"v": 40, "c": 10, "x": 65535, "l": LongLength, "n": scalarChars, "u": UnknownLength, "m": 100, "b": 16, "o": UnknownLength,
		"'héé'": 3, "NULL": 0, "TRUE": 1, "?": 7, "12": 32, "v = c": 1, "v + c": scalarChars, "-v": scalarChars, "v IN (c)": 1, "v LIKE c": 1,
		"CONCAT(v, c, 'ab')": 52, "CONCAT_WS(', ', v, c, m)": 154, "CONCAT_WS(', ', v)": 42,
		"REPLACE(v, 'a', 'bb')": 80, "REPLACE(v, 'ab', 'abc')": 60, "REPLACE(v, 'a', '')": 40, "REPLACE(v, c, 'bb')": 80, "REPLACE(v, 'a', c)": 400,
		"LEFT(x, 5)": 5, "RIGHT(v, 100)": 40, "LEFT(x, n)": 65535, "SUBSTRING(x, 5)": 65535, "SUBSTRING(x, 1, 5)": 5, "SUBSTRING(x, -5, ?)": 65535, "LEFT(v, 0x1)": 40,
		"LOWER(v)": 40, "TRIM(v)": 40, "TRIM('x' FROM v)": 40, "COALESCE(v, c, m)": 100, "IF(v, c, m)": 100, "NULLIF(c, m)": 10,
		"CASE WHEN v THEN c ELSE m END": 100, "CASE v WHEN 1 THEN c WHEN 2 THEN v END": 40,
		"CAST(x AS CHAR(7))": 7, "CAST(v AS CHAR)": 40, "CAST(v AS SIGNED)": scalarChars, "MAX(v)": 40, "COUNT(v)": scalarChars,
		"DATE_FORMAT(v, '%Y-%m')": 80, "NOW()": scalarChars, "DATE_ADD(v, INTERVAL 1 DAY)": scalarChars, "TIMESTAMPDIFF(DAY, v, v)": scalarChars,
		"SUBSTRING_INDEX(v, ',', 1)": 40, "LENGTH(x)": scalarChars,
	} {
		require.Equal(t, chars, sizeOfItem(t, g, sql).chars, sql)
	}
}

func sizeOfItem(t *testing.T, g *Guard, sql string) size {
	t.Helper()
	params := make([]Param, strings.Count(sql, "?"))
	for i := range params {
		params[i] = StringParam("7 chars")
	}
	text := "SELECT " + sql + " AS k FROM t"
	w := newWorker()
	stmt, rejection := w.read(g, text, params, nil, maxNesting)
	require.Nil(t, rejection, sql)
	m := measure{t: &translator{guard: g, stmt: stmt, params: params}, fields: make([]size, 1), known: make([]bool, 1)}
	return m.of(stmt.fields[0].expr)
}

// What is refused, and what next to it is not.
func TestStatementsThatCouldNotBeStopped(t *testing.T) {
	g, err := New(Policy{DefaultSchema: "s", MaxRows: 1, Functions: KnownFunctions(), Tables: []Table{{Schema: "s", Name: "t", Columns: []Column{
		{Name: "v", Type: "varchar(255)"}, {Name: "x", Type: "text"}, {Name: "l", Type: "longtext"}, {Name: "u"}, {Name: "id"}}}}})
	require.NoError(t, err)
	nested := func(before, inner, after string, n int) string {
		return strings.Repeat(before, n) + inner + strings.Repeat(after, n)
	}
	const tooLong, tooSlow = "LIMIT: a value could get longer than 1048576 characters", "LIMIT: one row could take too long"
	for sql, want := range map[string]string{
		"SELECT " + nested("REPLACE(", "'aaaaaaaaaaaaaaaaaaaa'", ",'a','aaaaaaaaaa')", 5) + " FROM t":                                      tooLong,
		"SELECT " + nested("REPLACE(", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'", ",'a','aaaaaaaaaa')", 4) + " FROM t":                            tooSlow,
		"SELECT REPLACE('" + strings.Repeat("a", 40_000) + "', 'a', 'bbbbbbbbbbbbb') FROM t":                                               tooSlow,
		"SELECT '" + strings.Repeat("a", 5000) + "' AS k FROM t HAVING CONCAT(k" + strings.Repeat(",k", 24) + ") LIKE CONCAT('%',k,k,'b')": tooSlow,
		"SELECT id FROM t WHERE x LIKE CONCAT('%', x, '%')":                                                                                tooSlow,
		"SELECT TRIM(TRAILING 'ab' FROM x) FROM t":                                                                                         tooSlow,
		"SELECT LOCATE(x, l) FROM t":                                 tooSlow,
		"SELECT " + nested("NULLIF(", "id", ", 9)", 24) + " FROM t":  tooSlow,
		"SELECT " + nested("(", "id", " IN (1, v))", 24) + " FROM t": tooSlow,
		"SELECT CONCAT(l, l, l, l, l) FROM t":                        tooLong,

		"SELECT " + nested("REPLACE(", "v", ",'a','')", 9) + " FROM t":                                             "",
		"SELECT REPLACE(REPLACE(x, '\\n', ' '), 'secret', '***') FROM t":                                           "",
		"SELECT REPLACE(LEFT(x, 1000), 'a', '&amp;') FROM t":                                                       "",
		"SELECT id FROM t WHERE l LIKE '%connection refused%' OR l LIKE '%timed out%' OR l LIKE '%reset by peer%'": "",
		"SELECT id FROM t WHERE u LIKE CONCAT('%', v, '%') AND x LIKE CONCAT('%', v, '%')":                         "",
		"SELECT TRIM(BOTH ' ' FROM x), TRIM(TRAILING ', ' FROM v) FROM t":                                          "",
		"SELECT NULLIF(NULLIF(NULLIF(TRIM(v), ''), '-'), 'n/a') FROM t":                                            "",
		"SELECT CONCAT(x, ' ', x, ' ', l) FROM t":                                                                  "",
	} {
		_, err := g.Prepare(sql, nil)
		if want == "" {
			require.NoError(t, err, sql)
			continue
		}
		require.ErrorContains(t, err, want, "%.100s", sql)
	}
	_, err = g.Prepare("SELECT id FROM t WHERE CONCAT(?, id) LIKE CONCAT('%', ?)", []Param{StringParam(strings.Repeat("a", 30_000)), StringParam(strings.Repeat("a", 20_000))})
	require.ErrorContains(t, err, tooSlow, "parameters count")
}

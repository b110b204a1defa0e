package mysql_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// odd is what each row of shop.odd must be in JSON, column by column.
var odd = map[string][4]string{
	"ti": {`-128`, `0`, `null`, `1`}, "tu": {`255`, `0`, `null`, `1`}, "si": {`-32768`, `0`, `null`, `1`}, "mi": {`16777215`, `0`, `null`, `1`},
	"i":   {`-2147483648`, `0`, `null`, `1`},
	"bi":  {`"-9223372036854775808"`, `9007199254740992`, `null`, `"-9007199254740993"`},
	"bu":  {`"18446744073709551615"`, `"9007199254740993"`, `null`, `1`},
	"de":  {`"12345678901234567890123456789012345.123456789012345678901234567890"`, `"0.000000000000000000000000000000"`, `null`, `"1.500000000000000000000000000000"`},
	"fl":  {`1.1`, `0`, `null`, `16777216`},
	"dbl": {`1.7976931348623157e+308`, `5e-324`, `null`, `1e+21`},
	"bt":  {`682`, `0`, `null`, `1`},
	"yr":  {`2155`, `1901`, `null`, `2000`},
	"d":   {`"9999-12-31"`, `"0000-00-00"`, `null`, `"2024-00-00"`},
	"dt":  {`"9999-12-31 23:59:59"`, `"0000-00-00 00:00:00"`, `null`, `"2024-01-02 03:04:05"`},
	"dt6": {`"2024-02-29 23:59:59.123456"`, `"0000-00-00 00:00:00.000000"`, `null`, `"2024-01-02 03:04:05.000000"`},
	"ts":  {`"2024-02-29 23:59:59.120"`, `null`, `null`, `"2024-01-02 03:04:05.000"`},
	"tm":  {`"-838:59:59"`, `"00:00:00"`, `null`, `"01:02:03"`},
	"tm3": {`"838:59:58.999"`, `"00:00:00.000"`, `null`, `"-00:00:00.500"`},
	"c":   {`"abcde"`, `""`, `null`, `"a"`},
	"v":   {`"Ünï 😀 \"q\" \\ <&>"`, `""`, `null`, `"a"`},
	"tx":  {`"line\nline\ttab"`, `""`, `null`, `"a"`},
	"l1":  {`"café"`, `""`, `null`, `"a"`},
	"en":  {`"b"`, `"a"`, `null`, `"a"`}, "st": {`"x,z"`, `""`, `null`, `"x"`},
	"bin": {`{"base64":"AP8QAA=="}`, `{"base64":"AAAAAA=="}`, `null`, `{"base64":"AQAAAA=="}`},
	"vb":  {`{"base64":"gA=="}`, `{"base64":""}`, `null`, `{"base64":"AQ=="}`},
	"bl":  {`{"base64":"//4="}`, `{"base64":""}`, `null`, `{"base64":"YQ=="}`},
	"js":  {`"{\"a\": [1.50, 9007199254740993], \"b\": null}"`, `"[]"`, `null`, `"\"s\""`}, // MariaDB's JSON is text
}

// Every type as it is stored, with and without params: the two must not take different ways.
func TestS37_ValuesOfEveryType(t *testing.T) {
	r := newRig(t, shop(t))
	for column, want := range odd {
		sqlText := "SELECT n, " + column + " FROM odd ORDER BY n"
		for _, rows := range [][][]json.RawMessage{r.ask(t, sqlText), r.ask(t, "SELECT n, "+column+" FROM odd WHERE n > ? ORDER BY n", 0)} {
			require.Len(t, rows, 4)
			for i, row := range rows {
				require.Equal(t, want[i], string(row[1]), "%s of row %d", column, i+1)
			}
		}
	}
	point := r.ask(t, "SELECT ge FROM odd WHERE n = 1")
	require.Contains(t, string(point[0][0]), `{"base64":"`)
}

// What expressions have for a type, as opposed to columns, is decided by the server; their
// values must be those that the text protocol shows.
func TestS37_ValuesOfExpressions(t *testing.T) {
	m := shop(t)
	r, admin := newRig(t, m), m.Admin(t)
	for _, e := range []string{
		"COUNT(*)", "SUM(total)", "AVG(total)", "MIN(placed_at)", "MAX(note)", "SUM(id)", "AVG(id)", "COUNT(DISTINCT status)", "MAX(id) / 3", "MAX(id) DIV 3", "MAX(id) % 3",
		"SUM(id) + 0.1", "MAX(COALESCE(note, 'x'))", "MAX(IFNULL(total, 0))", "MAX(IF(id > 3, status, note))", "MAX(CASE WHEN id = 1 THEN 1 ELSE NULL END)", "MAX(CASE WHEN id = 1 THEN placed_at ELSE note END)",
		"ROUND(MAX(total), 1)", "FLOOR(MAX(total))", "CEIL(MAX(total))", "GREATEST(MAX(placed_at), MIN(placed_at))", "LOWER(MAX(status))", "CONCAT(MAX(id), '-', MAX(placed_at))", "LENGTH(MAX(note))",
		"DATE(MAX(placed_at))", "YEAR(MAX(placed_at))", "DATE_FORMAT(MAX(placed_at), '%Y-%m')", "DATEDIFF(MAX(placed_at), MIN(placed_at))", "TIMESTAMPDIFF(HOUR, MIN(placed_at), MAX(placed_at))",
		"DATE_ADD(MAX(placed_at), INTERVAL 1 MONTH)", "DATE_SUB(MAX(placed_at), INTERVAL 1 HOUR)", "DATE_ADD('2024-01-31', INTERVAL 1 MONTH)", "UNIX_TIMESTAMP(MAX(placed_at))", "FROM_UNIXTIME(MAX(id))", "FROM_UNIXTIME(1.25)",
		"CAST(MAX(total) AS SIGNED)", "CAST(MAX(total) AS DECIMAL(20,4))", "CAST(MAX(id) AS CHAR)", "CAST(MAX(placed_at) AS DATE)", "CAST(MAX(placed_at) AS DATETIME(6))", "CAST(MAX(placed_at) AS TIME)", "CAST(MAX(total) AS DOUBLE)", "CAST(-1 AS UNSIGNED)",
		"MAX(id) = 160", "MAX(id) > 3 AND MIN(id) < 2", "NOT MAX(id)", "MAX(note) LIKE '%x%'", "-MAX(total)", "NULLIF(MAX(id), 160)", "MAX(TRIM(note))", "SUBSTRING(MAX(status), 2)", "REPLACE(MAX(status), 'a', 'b')",
		"MAX(id) * 1e0", "MAX(id) * 1.5e300", "1e0 / 3 * MAX(id)", "MAX(CONVERT(total, CHAR))", "ABS(MIN(total))", "MOD(MAX(total), 7)",
	} {
		got := r.ask(t, "SELECT "+e+" AS v FROM orders")
		var text sql.NullString
		require.NoError(t, admin.QueryRow("SELECT "+e+" FROM shop.orders").Scan(&text), e)
		var shown any
		require.NoError(t, json.Unmarshal(got[0][0], &shown))
		switch v := shown.(type) {
		case nil:
			require.False(t, text.Valid, e)
		case string:
			require.Equal(t, text.String, v, e)
		case float64:
			var want float64
			_, err := fmt.Sscan(text.String, &want)
			require.NoError(t, err, "%s: %s is shown for %s", e, got[0][0], text.String)
			require.InEpsilon(t, want+1e-300, v+1e-300, 1e-15, e)
		default:
			t.Errorf("%s is shown as %s, it is %q", e, got[0][0], text.String)
		}
	}
}

func TestS35_ParamsAreBoundExactly(t *testing.T) {
	r := newRig(t, shop(t))
	for _, c := range []struct{ column, param, want string }{
		{"bu", `18446744073709551615`, "1"}, {"bi", `-9223372036854775808`, "1"}, {"bu", `9007199254740993`, "2"}, {"bi", `-9007199254740993`, "4"},
		{"v", `"Ünï 😀 \"q\" \\ <&>"`, "1"}, {"tx", `"line\nline\ttab"`, "1"}, {"de", `1.5`, "4"}, {"dt6", `"2024-02-29 23:59:59.123456"`, "1"}, {"tu", `true`, "4"},
	} {
		request := json.RawMessage(`{"data_source":"shop","sql":"SELECT n FROM odd WHERE ` + c.column + ` = ?","params":[` + c.param + `]}`)
		plan, err := r.Prepare(request, scope)
		require.NoError(t, err, c.param)
		raw, err := r.Execute(t.Context(), plan, 1<<20)
		require.NoError(t, err)
		require.Contains(t, string(raw), `"rows":[[`+c.want+`]]`, "%s = %s", c.column, c.param)
	}
	require.Len(t, r.ask(t, "SELECT n FROM odd WHERE v <=> ?", nil), 1)
	require.Empty(t, r.ask(t, "SELECT n FROM odd WHERE v = ?", "' OR 1=1 -- "))
}

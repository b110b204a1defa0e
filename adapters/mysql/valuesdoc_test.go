package mysql_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/domain/fault"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/values.md")

const valuesDoc = "../../docs/values.md"

type columnType struct{ name, value, other string }

// columnTypes are the types of docs/values.md: each with a value as SQL writes it, and another one.
var columnTypes = []columnType{
	{"BOOLEAN", "TRUE", "FALSE"},
	{"TINYINT", "-128", "1"}, {"TINYINT UNSIGNED", "255", "1"}, {"SMALLINT", "-32768", "1"}, {"MEDIUMINT", "8388607", "1"},
	{"INT", "-2147483648", "1"}, {"INT UNSIGNED", "4294967295", "1"}, {"INT(5) ZEROFILL", "123", "1"},
	{"BIGINT", "9007199254740992", "1"}, {"BIGINT NOT NULL", "-9007199254740993", "1"},
	{"BIGINT UNSIGNED", "18446744073709551615", "1"},
	{"DECIMAL(20,0)", "123", "1"}, {"DECIMAL(30,0)", "9007199254740993", "1"}, {"DECIMAL(8,2)", "42.5", "1"},
	{"DECIMAL(8,2) ZEROFILL", "42.5", "1"},
	{"FLOAT", "0.7", "1"}, {"DOUBLE", "0.1", "1"},
	{"BIT(1)", "b'1'", "b'0'"}, {"BIT(8)", "b'10101010'", "b'1'"}, {"BIT(64)", "x'ffffffffffffffff'", "b'1'"},
	{"YEAR", "2024", "2025"}, {"DATE", "'2024-01-31'", "'2024-01-01'"}, {"DATETIME", "'2024-01-31 23:59:58'", "'2024-01-01'"},
	{"DATETIME(6)", "'2024-01-31 23:59:58.123456'", "'2024-01-01'"},
	{"TIMESTAMP(3) NULL", "'2024-01-31 23:59:58.123'", "'2024-01-01'"},
	{"TIME", "'-838:59:59'", "'1:00'"}, {"TIME(3)", "'23:59:58.123'", "'1:00'"},
	{"CHAR(5)", "'ab'", "'b'"}, {"VARCHAR(20)", "'1.5'", "'b'"}, {"VARCHAR(20) CHARACTER SET latin1", "'café'", "'b'"},
	{"TEXT", "'a text'", "'b'"}, {"ENUM('a','b')", "'a'", "'b'"}, {"SET('x','y')", "'x,y'", "'x'"},
	{"BINARY(4)", "x'00ff10ab'", "'b'"}, {"VARBINARY(20)", "x'00ff10ab'", "'b'"}, {"BLOB", "'a text'", "'b'"},
	{"JSON", `'{"a": 1.50}'`, "'2'"}, {"POINT", "POINT(1, 2)", "POINT(1, 3)"},
}

// keeping are the expressions that keep the type of a column: c, or a like column o.
var keeping = []string{
	"MIN(c)", "MAX(c)", "COALESCE(c, o)", "IFNULL(c, o)", "IF(TRUE, c, o)", "CASE WHEN TRUE THEN c END", "CASE WHEN FALSE THEN o ELSE c END",
	"NULLIF(c, o)", "GREATEST(c, c)", "LEAST(c, c)",
}

// templates say how a function is called that does not take just one argument.
var templates = map[string]string{
	"CAST": "CAST(c AS CHAR)", "CONCAT": "CONCAT(c, '')", "CONCAT_WS": "CONCAT_WS('-', c, c)", "CONVERT": "CONVERT(c, CHAR)",
	"COUNT": "COUNT(c)", "DATEDIFF": "DATEDIFF(c, '2024-01-01')", "DATE_ADD": "DATE_ADD(c, INTERVAL 1 DAY)",
	"DATE_FORMAT": "DATE_FORMAT(c, '%Y')", "DATE_SUB": "DATE_SUB(c, INTERVAL 1 DAY)", "FIELD": "FIELD(c, 1, c)",
	"INSTR": "INSTR(c, '1')", "LEFT": "LEFT(c, 2)", "LOCATE": "LOCATE('1', c)", "MID": "MID(c, 1, 2)", "MOD": "MOD(c, 7)",
	"POW": "POW(c, 1)", "POWER": "POWER(c, 1)", "REPLACE": "REPLACE(c, '1', '2')", "RIGHT": "RIGHT(c, 2)",
	"STRCMP": "STRCMP(c, c)", "STR_TO_DATE": "STR_TO_DATE(c, '%Y-%m-%d')", "SUBSTR": "SUBSTR(c, 1, 2)",
	"SUBSTRING": "SUBSTRING(c, 1, 2)", "SUBSTRING_INDEX": "SUBSTRING_INDEX(c, '.', 1)", "TIMEDIFF": "TIMEDIFF(c, c)",
	"TIMESTAMPADD": "TIMESTAMPADD(DAY, 1, c)", "TIMESTAMPDIFF": "TIMESTAMPDIFF(DAY, '2024-01-01', c)", "TRUNCATE": "TRUNCATE(c, 1)",
	"CONVERT_TZ": "CONVERT_TZ(c, '+00:00', '+01:00')", "EXTRACT": "EXTRACT(YEAR FROM c)", "FIND_IN_SET": "FIND_IN_SET(c, '1,2')",
	"JSON_CONTAINS": "JSON_CONTAINS(c, '1')", "JSON_EXTRACT": "JSON_EXTRACT(c, '$.a')", "JSON_VALUE": "JSON_VALUE(c, '$.a')",
	"GROUP_CONCAT": "GROUP_CONCAT(c ORDER BY c)",
}

// apart are the functions that have no column here: those of the clock, and those of the first table.
var apart = strings.Fields("NOW CURDATE CURRENT_DATE CURRENT_TIMESTAMP UTC_TIMESTAMP UTC_DATE UTC_TIME CURTIME CURRENT_TIME " +
	"COALESCE IFNULL NULLIF IF GREATEST LEAST MIN MAX")

// shownTypes are the columns of the table of functions.
var shownTypes = []string{
	"INT(5) ZEROFILL", "BIGINT UNSIGNED", "DECIMAL(8,2)", "FLOAT", "BIT(8)", "DATETIME(6)", "VARCHAR(20)", "VARBINARY(20)", "JSON",
}

// kindsRig is a rig over a table with a column of each type, all functions allowed.
func kindsRig(t *testing.T) *rig {
	m := shop(t)
	create, values := []string{"n INT PRIMARY KEY"}, [2][]string{{"1"}, {"2"}}
	table := sqlguard.Table{Schema: "shop", Name: "kinds", Columns: []sqlguard.Column{{Name: "n", Key: true}}}
	for i, k := range columnTypes {
		name := fmt.Sprintf("c%d", i)
		create = append(create, name+" "+k.name)
		values[0], values[1] = append(values[0], k.value), append(values[1], k.other)
		typeName, _, _ := strings.Cut(strings.ToLower(k.name), " ")
		table.Columns = append(table.Columns, sqlguard.Column{Name: name, Type: typeName})
	}
	m.Load(t, "SET NAMES utf8mb4; USE shop; DROP TABLE IF EXISTS kinds; CREATE TABLE kinds ("+strings.Join(create, ", ")+"); INSERT INTO kinds VALUES ("+
		strings.Join(values[0], ", ")+"), ("+strings.Join(values[1], ", ")+")")
	user, password := m.Account(t, "SELECT ON shop.kinds")
	return rigFor(t, m.Addr, user, password, func(s *mysql.Source, _ *mysql.Options) {
		p := sqlguard.Policy{DefaultSchema: "shop", MaxRows: 10, Tables: []sqlguard.Table{table}, Functions: sqlguard.KnownFunctions()}
		s.Guard = guard(t, p)
	})
}

// warned marks a value of an answer that has warnings.
const warned = " ⚠"

// cell returns the JSON of an expression of the column, or in parentheses why there is none.
func (r *rig) cell(t *testing.T, column int, expression, rest string) string {
	t.Helper()
	e := replaceNames(expression, fmt.Sprintf("a.c%d", column), fmt.Sprintf("b.c%d", column))
	sql := "SELECT " + e + " AS v FROM kinds a JOIN kinds b ON b.n = 2 WHERE a.n = 1" + rest
	plan, err := r.Prepare(request(t, sql), scope)
	if err != nil {
		return "(" + fault.Of(err).Reason + ")"
	}
	raw, err := r.Execute(t.Context(), plan, 1<<20)
	if err != nil {
		require.Equal(t, fault.ExecutionFailed, fault.CodeOf(err), "%s", sql)
		require.NotEmpty(t, fault.Of(err).Reason, "%s", sql)
		return "(" + fault.Of(err).Reason + ")"
	}
	var set struct {
		Rows     [][]json.RawMessage
		Warnings []json.RawMessage
	}
	require.NoError(t, json.Unmarshal(raw, &set))
	require.Len(t, set.Rows, 1, sql)
	require.True(t, utf8.Valid(set.Rows[0][0]))
	if len(set.Warnings) > 0 {
		return string(set.Rows[0][0]) + warned
	}
	return string(set.Rows[0][0])
}

// replaceNames puts names in the places of c and o.
func replaceNames(expression, c, o string) string {
	word := func(r rune) bool {
		return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}
	var out strings.Builder
	for i, r := range expression {
		alone := (i == 0 || !word(rune(expression[i-1]))) && (i+1 == len(expression) || !word(rune(expression[i+1])))
		switch {
		case alone && r == 'c':
			out.WriteString(c)
		case alone && r == 'o':
			out.WriteString(o)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// Every type has one form: bare, and through every function that keeps it. docs/values.md shows them.
func TestS37_OneFormForEachType(t *testing.T) {
	r := kindsRig(t)
	var types strings.Builder
	types.WriteString("| type | stored | in the answer |\n|---|---|---|\n")
	for i, k := range columnTypes {
		bare := r.cell(t, i, "c", "")
		for _, again := range []string{r.cell(t, i, "c", " ORDER BY v"), r.cell(t, i, "c", " GROUP BY a.n, v"), r.cell(t, i, "DISTINCT c", "")} {
			require.Equal(t, bare, again, k.name)
		}
		for _, e := range keeping {
			require.Equal(t, bare, r.cell(t, i, e, ""), "%s of %s", e, k.name)
		}
		fmt.Fprintf(&types, "| `%s` | `%s` | `%s` |\n", k.name, k.value, bare)
	}
	functions := r.functionTable(t)
	text, err := os.ReadFile(valuesDoc)
	require.NoError(t, err)
	got := between(t, between(t, string(text), "types", types.String()), "functions", functions)
	if *update {
		require.NoError(t, os.WriteFile(valuesDoc, []byte(got), 0o644))
		return
	}
	require.Equal(t, got, string(text), "run: go test ./adapters/mysql -run OneForm -update")
}

// functionTable shows what each function that can be allowed makes of the types.
func (r *rig) functionTable(t *testing.T) string {
	var functions strings.Builder
	functions.WriteString("| function | `" + strings.Join(shownTypes, "` | `") + "` |\n|" + strings.Repeat("---|", len(shownTypes)+1) + "\n")
	for _, name := range sqlguard.KnownFunctions() {
		if slices.Contains(apart, name) {
			continue
		}
		e, ok := templates[name]
		if !ok {
			e = name + "(c)"
		}
		fmt.Fprintf(&functions, "| `%s` |", e)
		for _, typeName := range shownTypes {
			i := slices.IndexFunc(columnTypes, func(k columnType) bool { return k.name == typeName })
			fmt.Fprintf(&functions, " %s |", shownCell(r.cell(t, i, e, "")))
		}
		functions.WriteString("\n")
	}
	return functions.String()
}

func shownCell(cell string) string {
	if strings.HasPrefix(cell, "(") {
		return strings.Trim(cell, "()")
	}
	value, mark := strings.CutSuffix(cell, warned)
	value = "`" + strings.ReplaceAll(value, "|", `\|`) + "`"
	if mark {
		value += warned
	}
	return value
}

// between returns the text with what is between the marks replaced.
func between(t *testing.T, text, mark, content string) string {
	before, rest, ok := strings.Cut(text, "<!-- "+mark+" -->\n")
	require.True(t, ok)
	_, after, ok := strings.Cut(rest, "<!-- /"+mark+" -->")
	require.True(t, ok)
	return before + "<!-- " + mark + " -->\n" + content + "<!-- /" + mark + " -->" + after
}

package sqlguard_test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
)

func raw(t testing.TB, values ...any) []json.RawMessage {
	t.Helper()
	out, err := toRaw(values)
	require.NoError(t, err)
	return out
}

// The printed statement, in full, for what is easy to get wrong.
func TestPrinted(t *testing.T) {
	for name, c := range map[string]struct {
		sql     string
		params  []any
		printed string
		args    []any
	}{
		"strings stay closed": {
			`SELECT 'x\\' AS a, ', v FROM secrets -- ' AS b FROM customers WHERE name = 'it''s' AND name <> "\"\'\n\r\0\Z\%"`, nil,
			`SELECT 'x\\' AS ` + "`_o1`" + `, ', v FROM secrets -- ' AS ` + "`_o2` FROM `shop`.`customers` AS `_t1` WHERE ((`_t1`.`name` = 'it''s') AND " +
				"(`_t1`.`name` <> '\"''" + `\n\r\0\Z\\%` + "')) LIMIT 201", nil,
		},
		"markers move with their parameters": {
			"SELECT TRIM(? FROM name) AS t FROM customers WHERE created_at > (INTERVAL ? DAY + ?) ORDER BY id LIMIT ? OFFSET ?", []any{"x", 3, "2026-01-01", 5, 2},
			"SELECT TRIM(BOTH ? FROM `_t1`.`name`) AS `_o1` FROM `shop`.`customers` AS `_t1` WHERE (`_t1`.`created_at` > DATE_ADD(?, INTERVAL ? DAY)) " +
				"ORDER BY `_t1`.`id`, `_o1` LIMIT 5 OFFSET 2", []any{"x", "2026-01-01", int64(3)},
		},
		"an alias of an aggregate in an expression is repeated, with its parameter": {
			"SELECT status, SUM(total * ?) AS s FROM orders GROUP BY status ORDER BY s / ? DESC", []any{2, 10},
			"SELECT `_t1`.`status` AS `_o1`, SUM((`_t1`.`total` * ?)) AS `_o2` FROM `shop`.`orders` AS `_t1` GROUP BY `_t1`.`status` " +
				"ORDER BY (SUM((`_t1`.`total` * ?)) / ?) DESC, `_t1`.`status` DESC LIMIT 201", []any{int64(2), int64(2), int64(10)},
		},
		"spellings of numbers": {
			"SELECT 0x0A + x'0a', 007, 1.50, .5e-3, 18446744073709551616, (3.) FROM orders", nil,
			"SELECT (0x0A + x'0a') AS `_o1`, 7 AS `_o2`, 1.50 AS `_o3`, .5e-3 AS `_o4`, 18446744073709551616 AS `_o5`, (3.) AS `_o6` " +
				"FROM `shop`.`orders` AS `_t1` LIMIT 201", nil,
		},
		"FROM_UNIXTIME of what may be a text": {
			"SELECT FROM_UNIXTIME(note), FROM_UNIXTIME(TRUNCATE(total, 6)), FROM_UNIXTIME(total, '%Y') FROM orders", nil,
			"SELECT FROM_UNIXTIME(TRUNCATE(`_t1`.`note`, 6)) AS `_o1`, FROM_UNIXTIME(TRUNCATE(`_t1`.`total`, 6)) AS `_o2`, " +
				"FROM_UNIXTIME(`_t1`.`total`, '%Y') AS `_o3` FROM `shop`.`orders` AS `_t1` ORDER BY `_o1`, `_o2`, `_o3` LIMIT 201", nil,
		},
		"sides of TRIM and precisions": {
			"SELECT TRIM(BOTH 'x' FROM note), TRIM('x' FROM note), CAST(placed_at AS DATETIME(0)), CAST(placed_at AS TIME(6)) FROM orders", nil,
			"SELECT TRIM(BOTH 'x' FROM `_t1`.`note`) AS `_o1`, TRIM(BOTH 'x' FROM `_t1`.`note`) AS `_o2`, " +
				"CAST(`_t1`.`placed_at` AS DATETIME) AS `_o3`, CAST(`_t1`.`placed_at` AS TIME(6)) AS `_o4` " +
				"FROM `shop`.`orders` AS `_t1` ORDER BY `_o1`, `_o3`, `_o4` LIMIT 201", nil,
		},
		"joins": {
			"SELECT c.id FROM customers c LEFT JOIN (orders o JOIN order_items i ON i.order_id = o.id) ON o.customer_id = c.id", nil,
			"SELECT `_t1`.`id` AS `_o1` FROM `shop`.`customers` AS `_t1` LEFT JOIN (`shop`.`orders` AS `_t2` JOIN `shop`.`order_items` AS `_t3` ON " +
				"(`_t3`.`order_id` = `_t2`.`id`)) ON (`_t2`.`customer_id` = `_t1`.`id`) ORDER BY `_o1` LIMIT 201", nil,
		},
		"an alias hides a hidden column from nobody": {
			"SELECT vip AS ssn, COUNT(*) FROM customers GROUP BY ssn HAVING MAX(ssn) >= 0 ORDER BY LENGTH(ssn)", nil,
			"SELECT `_t1`.`vip` AS `_o1`, COUNT(*) AS `_o2` FROM `shop`.`customers` AS `_t1` GROUP BY `_o1` HAVING (MAX(`_o1`) >= 0) ORDER BY LENGTH(`_o1`), `_o1` LIMIT 201", nil,
		},
		"binding of names that are alias and column": {
			"SELECT -id AS id, name AS country FROM customers GROUP BY id, country, name HAVING id > 1 AND MAX(id) > 1 ORDER BY id, id + 0, country", nil,
			"SELECT (-`_t1`.`id`) AS `_o1`, `_t1`.`name` AS `_o2` FROM `shop`.`customers` AS `_t1` GROUP BY `_t1`.`id`, `_t1`.`country`, `_t1`.`name` " +
				"HAVING ((`_t1`.`id` > 1) AND (MAX(`_t1`.`id`) > 1)) ORDER BY `_o1`, (`_t1`.`id` + 0), `_o2`, `_t1`.`id`, `_t1`.`country` LIMIT 201", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan, rejection := prepare(t, shop(t), c.sql, raw(t, c.params...))
			require.Nil(t, rejection)
			require.Equal(t, c.printed, plan.SQL)
			require.Equal(t, len(c.args), len(plan.Args))
			for i := range c.args {
				require.Equal(t, c.args[i], plan.Args[i])
			}
		})
	}
}

// S35 S38: LIMIT is clamped to one row more than may be delivered; a bound count does not reach the server as a parameter.
func TestLimitS35S38(t *testing.T) {
	for _, c := range []struct {
		tail   string
		params []any
		suffix string
		rows   int
		probe  bool
	}{
		{"", nil, "LIMIT 201", 200, true}, {"LIMIT 10", nil, "LIMIT 10", 10, false}, {"LIMIT 200", nil, "LIMIT 200", 200, false},
		{"LIMIT 201", nil, "LIMIT 201", 200, true}, {"LIMIT 18446744073709551615", nil, "LIMIT 201", 200, true}, {"LIMIT 1", nil, "LIMIT 1", 1, false},
		{"LIMIT 5, 10", nil, "LIMIT 10 OFFSET 5", 10, false}, {"LIMIT ?", []any{1000}, "LIMIT 201", 200, true}, {"LIMIT ?, ?", []any{7, 3}, "LIMIT 3 OFFSET 7", 3, false},
		{"LIMIT ? OFFSET ?", []any{7, 3}, "LIMIT 7 OFFSET 3", 7, false}, {"FETCH FIRST ROW ONLY", nil, "LIMIT 1", 1, false},
	} {
		plan, rejection := prepare(t, shop(t), "SELECT id FROM orders "+c.tail, raw(t, c.params...))
		require.Nil(t, rejection, c.tail)
		require.True(t, strings.HasSuffix(plan.SQL, " "+c.suffix), plan.SQL)
		require.Equal(t, c.rows, plan.MaxRows, c.tail)
		require.Equal(t, c.probe, plan.Probe, c.tail)
		require.Empty(t, plan.Args)
	}
}

// S40: headings are the agent's, sensitivity goes by source.
func TestColumnsS40(t *testing.T) {
	plan, rejection := prepare(t, shop(t), "SELECT c.email AS name, c.name AS email, c.ID, 1 + 1 /* n */, CONCAT(c.name, o.note, c.name) AS `we``ird`, 'it''s', 1 FROM customers c "+
		"LEFT JOIN shop.orders o ON o.customer_id = c.id JOIN archive.orders h ON h.id = o.id JOIN orders again ON again.id = o.id", nil)
	require.Nil(t, rejection)
	require.Equal(t, []sqlguard.OutColumn{
		{Heading: "name", Sensitive: true, Sources: []string{"shop.customers.email"}},
		{Heading: "email", Sources: []string{"shop.customers.name"}},
		{Heading: "ID", Sources: []string{"shop.customers.id"}},
		{Heading: "1 + 1 /* n */"},
		{Heading: "we`ird", Sources: []string{"shop.customers.name", "shop.orders.note"}},
		{Heading: "it's"},
		{Heading: "1"},
	}, plan.Columns)
	require.Equal(t, []string{"shop.customers", "shop.orders", "archive.orders"}, plan.Tables)
}

// S30: numbers reach the driver exactly.
func TestParamsS30(t *testing.T) {
	for text, want := range map[string]any{
		"1": int64(1), "-9223372036854775808": int64(-9223372036854775808), "9223372036854775808": uint64(9223372036854775808), "18446744073709551615": uint64(18446744073709551615),
		"18446744073709551616": "18446744073709551616", "12345678901234567890": uint64(12345678901234567890), "0.01": 0.01, "1e3": 1000.0, "123456789012345.67": "123456789012345.67",
		"true": true, "false": false, "null": nil, `"a\u0000b"`: "a\x00b", `"1"`: "1", " 7 ": int64(7), "-0": int64(0),
	} {
		p, err := sqlguard.ParamFromJSON(json.RawMessage(text))
		require.NoError(t, err, text)
		require.Equal(t, want, p.DriverValue(), text)
	}
	for _, text := range []string{"[1]", "{}", "", "01", "1.", "+1", "NaN", "1e999", `"a`, `"a" "b"`, "nul", strings.Repeat("9", 67), "0x10", "\"\xff\""} {
		_, err := sqlguard.ParamFromJSON(json.RawMessage(text))
		var r *sqlguard.Rejection
		require.ErrorAs(t, err, &r, text)
	}
}

// No text of the agent's is in what runs, but for literals: every word is a keyword, a function, a private name or of the allowlist.
func TestPrintedHasNoWordOfTheAgents(t *testing.T) {
	g := shop(t)
	known := map[string]bool{"TRUNCATE": true} // of FROM_UNIXTIME
	for _, w := range strings.Fields("SELECT DISTINCT AS FROM JOIN LEFT ON WHERE GROUP BY HAVING ORDER DESC LIMIT OFFSET AND OR XOR NOT IN BETWEEN LIKE ESCAPE IS NULL TRUE FALSE " +
		"CASE WHEN THEN ELSE END DIV INTERVAL BOTH LEADING TRAILING SIGNED UNSIGNED DECIMAL CHAR DATE DATETIME TIME DOUBLE MICROSECOND SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR " +
		"SECOND_MICROSECOND MINUTE_MICROSECOND MINUTE_SECOND HOUR_MICROSECOND HOUR_SECOND HOUR_MINUTE DAY_MICROSECOND DAY_SECOND DAY_MINUTE DAY_HOUR YEAR_MONTH") {
		known[w] = true
	}
	for _, f := range g.Functions() {
		known[f] = true
	}
	for _, table := range g.Tables() {
		known["`"+table.Schema+"`"], known["`"+table.Name+"`"] = true, true
		for _, c := range table.Columns {
			known["`"+c.Name+"`"] = true
		}
	}
	token := regexp.MustCompile("(?s)^(?:(`[^`]*`)|([xXbB]'[0-9A-Fa-f]*'|'(?:[^'\\\\]|''|\\\\.)*'|0x[0-9A-Fa-f]+|0b[01]+|[0-9]*\\.?[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]+\\.)|([A-Z_]+)|[-+*/%<>=(),.? ])")
	private := regexp.MustCompile("^`_[ot][0-9]+`$")
	statements := 0
	for _, e := range append(corpus(t), append(readEntries(t, "testdata/cases.jsonl"), readEntries(t, "testdata/oncall.jsonl")...)...) {
		plan, rejection := prepare(t, g, e.SQL, e.Params)
		if rejection != nil {
			continue
		}
		statements++
		for rest := plan.SQL; rest != ""; {
			at := token.FindStringSubmatch(rest)
			require.NotNil(t, at, "%q in %s", rest, plan.SQL)
			name, word := at[1], at[3]
			require.True(t, name == "" || known[name] || private.MatchString(name), "%s in %s", name, plan.SQL)
			require.True(t, word == "" || known[word], "%s in %s", word, plan.SQL)
			rest = rest[len(at[0]):]
		}
	}
	require.Greater(t, statements, 300)
}

// A guard is used by many calls at once; what each gets is what it gets alone.
func TestPrepareConcurrently(t *testing.T) {
	g := shop(t)
	entries := slices.DeleteFunc(corpus(t), func(e entry) bool { return len(e.SQL) > 4096 })
	type outcome struct{ plan, rejection any }
	judgeOne := func(e entry) outcome {
		plan, rejection := prepare(t, g, e.SQL, e.Params)
		if rejection != nil {
			return outcome{nil, *rejection}
		}
		return outcome{*plan, nil}
	}
	want := make([]outcome, len(entries))
	for i, e := range entries {
		want[i] = judgeOne(e)
	}
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			for i := range entries {
				at := (i*7 + worker*101) % len(entries)
				if got := judgeOne(entries[at]); !equalOutcome(got.plan, want[at].plan) || got.rejection != want[at].rejection {
					t.Errorf("%s differs when others are at work", entries[at].ID)
				}
			}
		})
	}
	wait.Wait()
}

func equalOutcome(a, b any) bool {
	x, ok := a.(sqlguard.Plan)
	y, also := b.(sqlguard.Plan)
	return ok == also && (!ok || x.SQL == y.SQL && len(x.Columns) == len(y.Columns) && len(x.Args) == len(y.Args))
}

// The parser's own printing is a hole (it leaves backslashes in strings as they are): this package must not use it.
func TestNoRestore(t *testing.T) {
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(f.Name())
		require.NoError(t, err)
		require.NotContains(t, string(text), "Restore(", f.Name())
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), text, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range parsed.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			require.True(t, !strings.Contains(path, ".") || strings.HasPrefix(path, "github.com/pingcap/tidb/pkg/parser"), "%s imports %s", f.Name(), path)
			require.NotContains(t, []string{"net", "os", "database/sql", "log", "net/http"}, path, f.Name())
		}
	}
}

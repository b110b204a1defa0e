package sqlguard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
)

// hang is far more than any statement takes on a busy machine under the race detector.
const hang = 30 * time.Second

// Nothing that fits into a statement takes long: without the bounds of the scan several of these take
// minutes or end the process.
func TestPrepareIsBounded(t *testing.T) {
	fill := func(prefix, unit, suffix string) string {
		n := (sqlguard.MaxStatementBytes - len(prefix) - len(suffix)) / len(unit)
		return prefix + strings.Repeat(unit, n) + suffix
	}
	const from = " FROM orders"
	statements := map[string]string{
		"blanks":            fill("SELECT id FROM orders", " ", ""),
		"empty comments":    fill("SELECT id FROM orders", "/**/", ""),
		"line comments":     fill("SELECT id FROM orders", "#\n", ""),
		"adjacent literals": fill("SELECT id FROM orders WHERE note = ", "'a'", ""),
		"spaced literals":   fill("SELECT id FROM orders WHERE note = ", "'a' /**/ ", ""),
		"parentheses":       fill("SELECT id FROM orders WHERE ", "(", ""),
		"closing":           fill("SELECT id FROM orders WHERE 1", ")", ""),
		"brackets":          fill("SELECT ", "{x ", ""),
		"calls":             fill("SELECT ", "LOWER(", ""),
		"not":               fill("SELECT id FROM orders WHERE ", "NOT ", "1"),
		"minus":             fill("SELECT ", "- ", "1"+from),
		"minus brackets":    fill("SELECT ", "-(", "1"+from),
		"case":              fill("SELECT ", "CASE WHEN ", from),
		"when":              fill("SELECT CASE ", "WHEN 1 THEN 1 ", "END"+from),
		"or":                fill("SELECT id FROM orders WHERE 1", " OR 1", ""),
		"and or":            fill("SELECT id FROM orders WHERE 1", " OR 1 AND id", ""),
		"sum":               fill("SELECT 1", "+1", from),
		"equal":             fill("SELECT 1", "=1", from),
		"is null":           fill("SELECT 1", " IS NULL", from),
		"between":           fill("SELECT id FROM orders WHERE 1 ", "BETWEEN 1 AND ", "1"),
		"in":                fill("SELECT id FROM orders WHERE id IN (1", ",1", ")"),
		"nested in":         fill("SELECT id FROM orders WHERE ", "1 IN (1,(", ""),
		"columns":           fill("SELECT id", ",id", from),
		"unknown columns":   fill("SELECT nosuch", ",nosuch", from),
		"joins":             fill("SELECT id FROM orders", " JOIN orders ON 1", ""),
		"commas":            fill("SELECT id FROM orders", ",orders", ""),
		"open joins":        fill("SELECT id FROM ", "orders JOIN ", "orders"),
		"markers":           fill("SELECT id FROM orders WHERE 1", " OR ?", ""),
		"digits":            fill("SELECT ", "9", from),
		"fraction":          fill("SELECT 0.", "9", from),
		"exponent":          fill("SELECT 1e", "9", from),
		"points":            fill("SELECT ", ".1", from),
		"hex":               fill("SELECT 0x", "4a", from),
		"long string":       fill("SELECT '", `\'`, "'"+from),
		"long name":         fill("SELECT `", "a", "`"+from),
		"backquotes":        fill("SELECT `", "``", "`"+from),
		"statements":        fill("", "SELECT 1;", ""),
		"semicolons":        fill("", ";", ""),
		"intervals":         fill("SELECT placed_at", " + INTERVAL 1 DAY", from),
		"prefix intervals":  fill("SELECT ", "INTERVAL 1 DAY + ", "placed_at"+from),
		"group by":          fill("SELECT id FROM orders GROUP BY id", ",id", ""),
		"order by":          fill("SELECT id FROM orders ORDER BY id", ",id+1", ""),
		"like":              fill("SELECT 'a' ", "LIKE 'a' ", from),
		"dots":              fill("SELECT a", ".a", from),
		"selects":           fill("", "SELECT ", ""),
		"unions":            fill("SELECT 1", " UNION SELECT 1", ""),
		"subqueries":        fill("", "(SELECT ", ""),
		"with":              fill("", "WITH a AS (", ""),
		"variables":         fill("SELECT @a", ":=@a", from),
		"collations":        fill("SELECT 'a'", " COLLATE a", from),
		"quotes":            fill("", "'", ""),
		"hint":              fill("SELECT /*+ ", "a(", "*/ id"+from),
		"unicode":           fill("SELECT `", "\U0010FFFF", "`"+from),
		"multiplying alias": "SELECT COUNT(" + strings.Repeat("id=1 OR ", 1500) + "1) AS n FROM orders GROUP BY id ORDER BY n" + strings.Repeat("+0,n", 990),
		"references": "SELECT " + aliases(900) + " FROM orders HAVING 1" +
			strings.Repeat(" OR COALESCE(a899"+strings.Repeat(",a1", 900)+")", 18),
		"grouped expressions": "SELECT " + strings.TrimSuffix(strings.Repeat("id+1,", 900), ",") + " FROM orders GROUP BY " + numbered("id+", 900),
		"many alias lookups":  "SELECT " + aliases(900) + " FROM orders ORDER BY " + strings.TrimSuffix(strings.Repeat("ABS(zz)+id,", 900), ","),
	}
	g := shop(t)
	for name, sql := range statements {
		require.LessOrEqual(t, len(sql), sqlguard.MaxStatementBytes, name)
		start := time.Now()
		_, err := g.Prepare(sql, ones(strings.Count(sql, "?")))
		took := time.Since(start)
		if took > hang {
			t.Errorf("%s took %v: %v", name, took, err)
		}
		if took > 20*time.Millisecond {
			t.Logf("%-20s %v %.80v", name, took.Round(time.Millisecond), err)
		}
	}
}

func aliases(n int) string {
	fields := make([]string, n)
	for i := range fields {
		fields[i] = fmt.Sprintf("id AS a%d", i)
	}
	return strings.Join(fields, ", ")
}

func ones(n int) []sqlguard.Param { return slices.Repeat([]sqlguard.Param{sqlguard.IntParam(1)}, n) }

// numbered is prefix0, prefix1, …
func numbered(prefix string, n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return strings.Join(items, ",")
}

package sqlguard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
)

// Questions that a server answers, but not with what was asked: each is refused, with the fix.
func TestMisreadQuestionsAreRefused(t *testing.T) {
	for sql, want := range map[string]string{
		// An aggregate beside a column.
		"SELECT status, COUNT(*) AS n FROM orders":                                 "NOT_GROUPED: orders.status stands beside an aggregate without GROUP BY: add GROUP BY orders.status, or use MAX(orders.status)",
		"SELECT o.id FROM orders o HAVING MAX(o.total) > 1":                        "NOT_GROUPED: o.id stands beside an aggregate without GROUP BY: add GROUP BY o.id, or use MAX(o.id)",
		"SELECT COUNT(*) + total FROM orders":                                      "NOT_GROUPED: orders.total stands beside",
		"SELECT id FROM orders ORDER BY COUNT(*)":                                  "NOT_GROUPED: orders.id stands beside",
		"SELECT status, id, COUNT(*) FROM orders GROUP BY status":                  "NOT_GROUPED: orders.id is neither grouped by nor in an aggregate: add it to GROUP BY, or use MAX(orders.id)",
		"SELECT LEFT(status, 2) FROM orders GROUP BY LEFT(status, 3)":              "NOT_GROUPED: orders.status is neither",
		"SELECT status FROM orders GROUP BY status ORDER BY id":                    "NOT_GROUPED: orders.id is neither",
		"SELECT id, status FROM orders GROUP BY id":                                "NOT_GROUPED: orders.status is neither",
		"SELECT status AS note FROM orders GROUP BY note":                          "NOT_GROUPED: orders.status is neither grouped by nor in an aggregate: add it to GROUP BY, or use MAX(orders.status); in GROUP BY note is the column orders.note, not the alias",
		"SELECT email, COUNT(*) FROM customers GROUP BY id":                        "NOT_GROUPED: customers.email is sensitive and cannot be grouped by: select it in a query without aggregates and GROUP BY",
		"SELECT total + ? FROM orders GROUP BY total + ?":                          "NOT_GROUPED: orders.total is neither",
		"SELECT DISTINCT status FROM orders ORDER BY id":                           "NOT_GROUPED: orders.id orders a SELECT DISTINCT and is not selected: select it too, or leave DISTINCT out",
		"SELECT DISTINCT status FROM orders GROUP BY status ORDER BY COUNT(*)":     "NOT_GROUPED: an aggregate orders a SELECT DISTINCT",
		"SELECT id FROM orders WHERE COUNT(*) > 1":                                 "NOT_GROUPED: COUNT cannot be used in WHERE or ON: move the condition to HAVING",
		"SELECT o.id FROM orders o JOIN customers c ON MAX(c.id) = 1":              "NOT_GROUPED: MAX cannot be used in WHERE or ON",
		"SELECT COUNT(*) FROM orders GROUP BY MAX(id)":                             "NOT_GROUPED: MAX cannot be grouped by: group by a column",
		"SELECT COUNT(*) AS n FROM orders GROUP BY n":                              "NOT_GROUPED: n cannot be grouped by",
		"SELECT MAX(COUNT(*)) FROM orders GROUP BY status":                         "NOT_GROUPED: an aggregate inside an aggregate is refused",
		"SELECT status, COUNT(*) AS n FROM orders GROUP BY status ORDER BY MAX(n)": "NOT_GROUPED: an aggregate inside an aggregate is refused",
		// HAVING on what does not exist there.
		"SELECT name FROM customers HAVING id > 5":                                                "UNKNOWN_COLUMN: HAVING can use selected or grouped columns, aliases and aggregates, not customers.id: move the condition to WHERE, or use SUM(customers.id) or MAX(customers.id)",
		"SELECT customer_id, SUM(total) FROM orders GROUP BY customer_id HAVING total > 100":      "UNKNOWN_COLUMN: HAVING can use",
		"SELECT COUNT(*) AS n FROM orders HAVING status = 'paid'":                                 "UNKNOWN_COLUMN: HAVING can use",
		"SELECT LEFT(status, 2) AS s FROM orders GROUP BY LEFT(status, 2) HAVING LEFT(status, 2)": "UNKNOWN_COLUMN: HAVING can use",
		"SELECT UPPER(name) FROM customers HAVING name = 'x'":                                     "UNKNOWN_COLUMN: HAVING can use",
		"SELECT total AS id, id FROM orders GROUP BY total, id HAVING -id":                        "AMBIGUOUS_COLUMN: id names more than one column",
		// A name in double quotes.
		`SELECT "status" FROM orders`:                                             `QUOTED_NAME: "status" is a text, not the column: write status without quotes or in backquotes, or 'status' if the text is meant`,
		`SELECT id FROM orders WHERE "Status" = 'paid'`:                           `QUOTED_NAME: "Status" is a text`,
		`SELECT status, COUNT(*) AS n FROM orders GROUP BY status HAVING "n" > 1`: `QUOTED_NAME: "n" is a text`,
		`SELECT o.id FROM orders o JOIN customers c ON "id" = o.id`:               `QUOTED_NAME: "id" is a text`,
		`SELECT id FROM orders ORDER BY "placed_at"`:                              `UNSUPPORTED_NODE: "placed_at" is a text, not the column`,
		// A comparison that is never true.
		"SELECT id FROM orders WHERE note = NULL":                      "NULL_COMPARISON: a comparison with NULL (=) is never true: write x IS NULL, x IS NOT NULL, or x <=> y",
		"SELECT id FROM orders WHERE note <> ?":                        "NULL_COMPARISON: a comparison with NULL (<>)",
		"SELECT id FROM orders WHERE NOT NULL < id":                    "NULL_COMPARISON: a comparison with NULL (<)",
		"SELECT id FROM orders WHERE total >= ? + 1":                   "NULL_COMPARISON",
		"SELECT id FROM orders WHERE placed_at >= ? - INTERVAL 1 DAY":  "NULL_COMPARISON",
		"SELECT id FROM orders WHERE id = CAST(? AS SIGNED)":           "NULL_COMPARISON",
		"SELECT id FROM orders WHERE id NOT IN (1, NULL)":              "NULL_COMPARISON: NOT IN with NULL in its list is never true: leave NULL out, and add AND x IS NOT NULL if it is meant",
		"SELECT id FROM orders WHERE id NOT IN (1, ?)":                 "NULL_COMPARISON: NOT IN",
		"SELECT id FROM orders WHERE id IN (?)":                        "NULL_COMPARISON: IN (NULL) is never true: write x IS NULL",
		"SELECT id FROM orders WHERE NULL IN (1)":                      "NULL_COMPARISON: a comparison with NULL (IN)",
		"SELECT id FROM orders WHERE total BETWEEN 1 AND ?":            "NULL_COMPARISON: a comparison with NULL (BETWEEN)",
		"SELECT id FROM orders WHERE note LIKE NULL":                   "NULL_COMPARISON: a comparison with NULL (LIKE)",
		"SELECT CASE note WHEN NULL THEN 1 ELSE 2 END FROM orders":     "NULL_COMPARISON: a comparison with NULL (CASE x WHEN NULL)",
		"SELECT status FROM orders GROUP BY status HAVING MAX(id) = ?": "NULL_COMPARISON",
		"SELECT o.id FROM orders o JOIN customers c ON c.id = NULL":    "NULL_COMPARISON",
		"SELECT id FROM orders WHERE id = 1 OR note = NULL":            "NULL_COMPARISON",
		"SELECT id FROM orders WHERE status IS NULL OR note = NULL":    "NULL_COMPARISON",
		// Others.
		"SELECT CAST(id AS DECIMAL(5,6)) FROM orders": "UNSUPPORTED_NODE: the type of a CAST",
		"SELECT id FROM orders LIMIT 0":               "LIMIT: LIMIT 0 asks for no row: leave it out or ask for one at least",
		"SELECT id FROM orders LIMIT 5, 0":            "LIMIT: LIMIT 0",
	} {
		_, err := shop(t).Prepare(sql, nulls(sql))
		require.ErrorContains(t, err, want, sql)
	}
	_, err := shop(t).Prepare("SELECT id FROM orders LIMIT ?", []sqlguard.Param{sqlguard.IntParam(0)})
	require.ErrorContains(t, err, "LIMIT: LIMIT 0")
}

// nulls is a null parameter for each placeholder.
func nulls(sql string) []sqlguard.Param {
	count := 0
	for _, c := range sql {
		if c == '?' {
			count++
		}
	}
	return make([]sqlguard.Param, count)
}

// What is close to a misread question and is none.
func TestPlainQuestionsAreNotRefused(t *testing.T) {
	for _, sql := range []string{
		"SELECT COUNT(*) FROM orders ORDER BY id", // one row: printed without the order
		"SELECT status, COUNT(*) FROM orders GROUP BY status ORDER BY COUNT(*) DESC, status",
		"SELECT UPPER(status) AS s, COUNT(*) FROM orders GROUP BY s HAVING s <> 'PAID' ORDER BY LENGTH(s)",
		"SELECT CONCAT(LEFT(status, 3), '…') FROM orders GROUP BY LEFT(status, 3)",
		"SELECT status FROM orders HAVING status = 'paid'",
		"SELECT total AS t FROM orders HAVING t > 5 AND total < 9",
		"SELECT MAX(total) - MIN(total) FROM orders HAVING COUNT(*) > 1",
		"SELECT DATE_FORMAT(placed_at, ?) AS m, COUNT(*) FROM orders GROUP BY m",
		"SELECT 1, NOW(), COUNT(*) FROM orders",
		"SELECT DISTINCT status, total FROM orders ORDER BY total DESC, LOWER(status)",
		"SELECT DISTINCT UPPER(status) AS s FROM orders ORDER BY s, UPPER(status)",
		`SELECT id FROM orders WHERE status = "paid"`, `SELECT id FROM orders WHERE status = "ssn"`, `SELECT id AS "status" FROM orders`,
		"SELECT id FROM orders WHERE status = 'status'",
		"SELECT id FROM orders WHERE note <=> ? OR id IN (1, NULL)",
		"SELECT id FROM orders WHERE note IS NULL OR note = ?",
		"SELECT id FROM orders WHERE ? IS NULL OR status = ?",
		"SELECT NULL, NULLIF(note, ''), COALESCE(note, NULL) FROM orders",
		"SELECT CASE WHEN note IS NULL THEN NULL ELSE 1 END FROM orders",
		"SELECT CAST(total AS DECIMAL(6,6)) FROM orders",
	} {
		_, err := shop(t).Prepare(sql, nulls(sql))
		require.NoError(t, err, sql)
	}
	plan, err := shop(t).Prepare("SELECT COUNT(*) FROM orders ORDER BY id + ?", nulls("?"))
	require.NoError(t, err)
	require.NotContains(t, plan.SQL, "ORDER BY")
	require.Empty(t, plan.Args)
}

// A number that cannot be bound as one is written as a literal: bound as a text it would be compared as a text.
func TestLongNumbersAreNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"12345678901234567890123":  "12345678901234567890123",
		"-12345678901234567890123": "(-12345678901234567890123)",
		"123456789012345.67":       "123456789012345.67",
	} {
		p, err := sqlguard.NumberParam(text)
		require.NoError(t, err)
		plan, err := shop(t).Prepare("SELECT id FROM orders WHERE note < ? AND id = ?", []sqlguard.Param{p, sqlguard.IntParam(1)})
		require.NoError(t, err)
		require.Contains(t, plan.SQL, "(`_t1`.`note` < "+want+") AND (`_t1`.`id` = ?)")
		require.Equal(t, []any{int64(1)}, plan.Args)
	}
	p := sqlguard.StringParam("12345678901234567890123")
	plan, err := shop(t).Prepare("SELECT id FROM orders WHERE note < ?", []sqlguard.Param{p})
	require.NoError(t, err)
	require.Equal(t, []any{"12345678901234567890123"}, plan.Args)
}

// EXTRACT(WEEK …) is printed as WEEK(…), which knows that a date of zeros has none.
func TestExtractWeek(t *testing.T) {
	plan, err := open(t).Prepare("SELECT EXTRACT(WEEK FROM placed_at) AS w FROM orders", nil)
	require.NoError(t, err)
	require.Contains(t, plan.SQL, "SELECT WEEK(`_t1`.`placed_at`) AS")
	p := shopPolicy()
	p.Functions = []string{"EXTRACT"}
	g, err := sqlguard.New(p)
	require.NoError(t, err)
	_, err = g.Prepare("SELECT EXTRACT(WEEK FROM placed_at) AS w FROM orders", nil)
	require.ErrorContains(t, err, "FUNCTION: EXTRACT(WEEK FROM x) is not allowed, because WEEK is not")
}

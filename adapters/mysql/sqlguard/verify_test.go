package sqlguard_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
)

// The self-check sees every difference between a statement and a text, so that a fault of the printer would end in a refusal.
func TestVerifySeesEveryDifference(t *testing.T) {
	g := shop(t)
	const sql = `SELECT DISTINCT c.name AS n, TRIM(LEADING ? FROM o.note) AS t, MAX(o.total) AS m, COUNT(*), CASE o.status WHEN 'a\\' THEN 1.5 ELSE NULL END AS k,
		CAST(o.id AS CHAR(3)), DATE_ADD(o.placed_at, INTERVAL ? DAY), TIMESTAMPDIFF(HOUR, o.placed_at, NOW(3)), x'41', TRUE, c.id FROM customers c LEFT JOIN orders o ON o.customer_id = c.id
		WHERE c.id BETWEEN 1 AND 2 AND o.id NOT IN (3, 4) AND o.note LIKE 'a' ESCAPE '!' AND o.total IS NOT NULL AND NOT o.id <=> -5
		GROUP BY c.id, n, o.note, o.status, o.id, o.placed_at HAVING m > 6 ORDER BY n DESC, ABS(c.id) LIMIT 7 OFFSET 8`
	params := []sqlguard.Param{sqlguard.StringParam("x"), sqlguard.IntParam(1)}
	plan, err := g.Prepare(sql, params)
	require.NoError(t, err)
	require.True(t, g.Verifies(sql, plan.SQL, params))
	for _, change := range [][2]string{
		{"SELECT DISTINCT", "SELECT"}, {"LEFT JOIN", "JOIN"}, {"`customers` AS `_t1`", "`products` AS `_t1`"}, {"`_t1`.`name` AS", "`_t1`.`country` AS"}, {"`_t1`.`name` AS", "`_t1`.`password_hash` AS"},
		{"LEADING", "TRAILING"}, {"FROM `_t2`.`note`", "FROM `_t2`.`status`"}, {"MAX(", "MIN("}, {"MAX(", "MAX(DISTINCT "}, {"COUNT(*)", "COUNT(1)"}, {`'a\\'`, `'a\'`}, {`'a\\'`, `'a'`}, {"1.5", "1.50"},
		{"NULL END", "0 END"}, {"ELSE NULL ", ""}, {"CHAR(3)", "CHAR(4)"}, {"INTERVAL ? DAY", "INTERVAL ? MONTH"}, {"DATE_ADD", "DATE_SUB"}, {"HOUR", "DAY"}, {"NOW(3)", "NOW()"}, {"x'41'", "0x41"},
		{"TRUE", "FALSE"}, {"BETWEEN 1 AND 2", "BETWEEN 2 AND 1"}, {"NOT IN", "IN"}, {"(3, 4)", "(3, 4, 5)"}, {"(3, 4)", "(4, 3)"}, {" ESCAPE '!'", ""}, {"LIKE 'a'", "LIKE 'A'"}, {"IS NOT NULL", "IS NULL"},
		{"<=>", "="}, {"(-5)", "5"}, {"(NOT (", "((NOT ("}, {"GROUP BY `_t1`.`id`, `_o1`", "GROUP BY `_t1`.`id`"}, {"> 6", ">= 6"}, {"`_o1` DESC", "`_o1`"}, {"ABS(`_t1`.`id`)", "`_t1`.`id`"},
		{"LIMIT 7", "LIMIT 6"}, {" OFFSET 8", ""}, {"OFFSET 8", "OFFSET 9"}, {" LIMIT", " FOR UPDATE LIMIT"}, {"OFFSET 8", "OFFSET 8; DROP TABLE orders"}, {"OFFSET 8", "OFFSET 8 UNION SELECT 1"},
		{"LEADING ? FROM", "LEADING 'x' FROM"}, {"SELECT DISTINCT", "SELECT DISTINCT ? AS `_o0`,"},
	} {
		text := strings.Replace(plan.SQL, change[0], change[1], 1)
		require.NotEqual(t, plan.SQL, text, change[0])
		require.False(t, g.Verifies(sql, text, params), "%s for %s", change[1], change[0])
	}
	const swapped = "SELECT TRIM(? FROM name) AS t FROM customers WHERE created_at > (INTERVAL ? DAY + ?)"
	params = append(params, sqlguard.StringParam("2026-01-01"))
	plan, err = g.Prepare(swapped, params)
	require.NoError(t, err)
	require.True(t, g.Verifies(swapped, plan.SQL, params))
	require.False(t, g.Verifies(swapped, strings.Replace(plan.SQL, "DATE_ADD(?, INTERVAL ? DAY)", "DATE_ADD('x', INTERVAL ? DAY)", 1), params))
}

// TestPrepareVerifies changes what was printed behind Prepare's back, as a broken printer would.
func TestPrepareVerifies(t *testing.T) {
	g := shop(t)
	const sql = "SELECT id FROM orders WHERE status = 'paid'"
	_, err := g.Prepare(sql, nil)
	require.NoError(t, err)
	for name, change := range map[string][2]string{
		"a clause is lost": {" WHERE (`_t1`.`status` = 'paid')", ""},
		"a name changes":   {"`_t1`.`id`", "`_t1`.`customer_id`"},
		"it is not SQL":    {"SELECT", "SELEKT"},
	} {
		t.Run(name, func(t *testing.T) {
			g := shop(t)
			g.AfterPrint(func(printed []byte) []byte {
				changed := bytes.Replace(printed, []byte(change[0]), []byte(change[1]), 1)
				require.NotEqual(t, string(printed), string(changed))
				return changed
			})
			_, err := g.Prepare(sql, nil)
			var rejected *sqlguard.Rejection
			require.ErrorAs(t, err, &rejected, "what does not come out equal must not run")
			require.Equal(t, sqlguard.ReasonUnsupportedNode, rejected.Reason)
		})
	}
}

package sqlguard_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
)

// S40: what the agent may see decides the order of rows, completely.
func TestOrderIsCompleteS40(t *testing.T) {
	for _, c := range []struct{ sql, without, with string }{ // ORDER BY where the policy knows no keys, and where it knows all
		{"SELECT id FROM orders", "`_o1`", "`_t1`.`id`"},
		{"SELECT id, total FROM orders ORDER BY total DESC", "`_t1`.`total` DESC, `_o1` DESC", "`_t1`.`total` DESC, `_t1`.`id` DESC"},
		{"SELECT id, status FROM orders ORDER BY status, id DESC", "`_t1`.`status`, `_t1`.`id` DESC", "`_t1`.`status`, `_t1`.`id` DESC"},
		{"SELECT total AS t FROM orders ORDER BY t", "`_o1`", "`_o1`, `_t1`.`id`"},
		{"SELECT status FROM orders ORDER BY id", "`_t1`.`id`, `_o1`", "`_t1`.`id`"},
		{"SELECT email, id, NOW(), UPPER(name) FROM customers", "`_o2`, `_o4`", "`_t1`.`id`"},
		{"SELECT email FROM customers", "", "`_t1`.`id`"}, // rows that look alike
		{"SELECT COUNT(*) FROM orders ORDER BY id", "", ""},
		{"SELECT MAX(id) AS m FROM orders HAVING m > 1", "", ""},
		{"SELECT status, COUNT(*) AS n FROM orders GROUP BY status ORDER BY n DESC", "`_o2` DESC, `_t1`.`status` DESC", "`_o2` DESC, `_t1`.`status` DESC"},
		{"SELECT COUNT(*) FROM orders GROUP BY status, UPPER(note)", "`_t1`.`status`, UPPER(`_t1`.`note`)", "`_t1`.`status`, UPPER(`_t1`.`note`)"},
		{"SELECT COUNT(*), MAX(id) FROM orders GROUP BY total + ?", "`_o1`, `_o2`", "`_o1`, `_o2`"},
		{"SELECT LEFT(status, ?) AS s FROM orders GROUP BY s", "`_o1`", "`_o1`"},
		{"SELECT DISTINCT status, total FROM orders ORDER BY total", "`_t1`.`total`, `_o1`", "`_t1`.`total`, `_o1`"},
		{"SELECT o.status, c.name FROM orders o JOIN customers c ON c.id = o.customer_id", "`_o1`, `_o2`", "`_t1`.`id`"},
		{"SELECT o.status FROM orders o LEFT JOIN customers c ON o.customer_id = c.id AND c.vip = 1", "`_o1`", "`_t1`.`id`"},
		{"SELECT o.id FROM customers c JOIN orders o ON c.id = o.customer_id", "`_o1`", "`_t1`.`id`, `_t2`.`id`"},
		{"SELECT i.sku FROM orders o JOIN order_items i ON i.order_id = o.id", "`_o1`", "`_t1`.`id`, `_t2`.`order_id`, `_t2`.`line_no`"},
		{"SELECT o.id FROM orders o JOIN customers c ON c.id = o.customer_id OR c.vip = 1", "`_o1`", "`_t1`.`id`, `_t2`.`id`"},
		{"SELECT o.id FROM orders o JOIN customers c ON c.id = c.vip", "`_o1`", "`_t1`.`id`, `_t2`.`id`"},
	} {
		params := make([]sqlguard.Param, strings.Count(c.sql, "?"))
		for i := range params {
			params[i] = sqlguard.IntParam(1)
		}
		for g, want := range map[*sqlguard.Guard]string{shop(t): c.without, keyed(t): c.with} {
			plan, err := g.Prepare(c.sql, params)
			require.NoError(t, err, c.sql)
			_, order, _ := strings.Cut(strings.TrimSuffix(plan.SQL, " LIMIT 201"), " ORDER BY ")
			require.Equal(t, want, order, c.sql)
			requireFixedPoint(t, g, plan)
			requireAsked(t, g, plan)
		}
	}
}

// keyed is the shop's guard with the keys of its tables.
func keyed(t testing.TB) *sqlguard.Guard {
	t.Helper()
	p := shopPolicy()
	for i, keys := range [][]string{{"id"}, {"id"}, {"order_id", "line_no"}, {"sku"}, {"id"}} {
		for j := range p.Tables[i].Columns {
			for _, k := range keys {
				if p.Tables[i].Columns[j].Name == k {
					p.Tables[i].Columns[j].Key = true
				}
			}
		}
	}
	g, err := sqlguard.New(p)
	require.NoError(t, err)
	return g
}

// Where the policy knows a table's key, GROUP BY that key allows its other columns, a sensitive one too.
func TestGroupingByAKey(t *testing.T) {
	g := keyed(t)
	for _, sql := range []string{
		"SELECT c.id, c.name, c.email, COUNT(*) AS n FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id ORDER BY n DESC, c.country",
		"SELECT i.sku, i.order_id, i.line_no FROM order_items i GROUP BY i.line_no, i.order_id",
	} {
		_, err := g.Prepare(sql, nil)
		require.NoError(t, err, sql)
		_, err = shop(t).Prepare(sql, nil)
		require.ErrorContains(t, err, "NOT_GROUPED", sql)
	}
	for sql, want := range map[string]string{
		"SELECT sku FROM order_items GROUP BY order_id":                                        "NOT_GROUPED", // half a key
		"SELECT o.status FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id": "NOT_GROUPED", // another table's
		"SELECT name FROM customers GROUP BY id HAVING country = 'DE'":                         "UNKNOWN_COLUMN",
		"SELECT name, COUNT(*) FROM customers":                                                 "NOT_GROUPED",
	} {
		_, err := g.Prepare(sql, nil)
		require.ErrorContains(t, err, want, sql)
	}
	p := shopPolicy()
	p.Tables[0].Columns[2].Key = true // email, which is sensitive
	g, err := sqlguard.New(p)
	require.NoError(t, err)
	plan, err := g.Prepare("SELECT id FROM customers", nil)
	require.NoError(t, err)
	require.NotContains(t, plan.SQL, "email", "a sensitive key orders nothing")
}

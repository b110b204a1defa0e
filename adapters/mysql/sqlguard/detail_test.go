package sqlguard_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
)

// A refusal tells what to write instead.
func TestDetailsTellTheFix(t *testing.T) {
	g := shop(t)
	for sql, want := range map[string]string{
		"SELECT nam FROM customers":                                                          "UNKNOWN_COLUMN: nam is not available; did you mean customers.name?",
		"SELECT c.creatd_at FROM customers c":                                                "UNKNOWN_COLUMN: c.creatd_at is not available; did you mean c.created_at?",
		"SELECT c.xyzzy FROM customers c":                                                    "UNKNOWN_COLUMN: c.xyzzy is not available; c has id, name, email, country, created_at, vip",
		"SELECT xyzzy FROM orders o JOIN customers c ON c.id = o.customer_id":                "UNKNOWN_COLUMN: xyzzy is not available; o has id, customer_id, status, total, placed_at, note; c has id, name, email, country, created_at, vip",
		"SELECT id FROM custmers":                                                            "UNKNOWN_TABLE: table custmers is not available; did you mean customers?",
		"SELECT id FROM shop.order":                                                          "UNKNOWN_TABLE: table shop.order is not available; did you mean shop.orders?",
		"SELECT id FROM Customers":                                                           "UNKNOWN_TABLE: table Customers is not available; did you mean customers?",
		"SELECT id FROM invoices_2024":                                                       "UNKNOWN_TABLE: table invoices_2024 is not available; the tables are shop.customers, shop.orders, shop.order_items, shop.products, archive.orders",
		"SELECT id FROM crm.customers":                                                       "UNKNOWN_SCHEMA: schema crm is not available; the tables are shop.customers, shop.orders, shop.order_items, shop.products, archive.orders",
		"SELECT id FROM orders o JOIN customers c ON c.id = o.customer_id":                   "AMBIGUOUS_COLUMN: id is in o and c: write which",
		"SELECT status FROM shop.orders JOIN archive.orders ON shop.orders.id = 1":           "AMBIGUOUS_COLUMN: status is in shop.orders and archive.orders: write which",
		"SELECT customers.id FROM customers c":                                               "UNKNOWN_ALIAS: customers is no table or alias here; there is c",
		"SELECT total * 2 AS t FROM orders WHERE t > 5":                                      "UNKNOWN_COLUMN: t is an alias, which only GROUP BY, HAVING and ORDER BY can use: repeat its expression",
		"SELECT * FROM order_items":                                                          "WILDCARD: name the columns instead of *; order_items has order_id, line_no, sku, qty, unit_price",
		"SELECT id FROM customers WHERE email = 'a'":                                         "SENSITIVE: customers.email is sensitive: it may only be selected as a column of its own (and is shown redacted), not compared, grouped, ordered or computed with",
		"SELECT name || country FROM customers":                                              "UNSUPPORTED_NODE: || is refused because its meaning depends on the server's mode: write CONCAT(a, b) to join texts, or OR",
		"SELECT id FROM orders WHERE id IN (SELECT 1)":                                       "SUBQUERY: subqueries are refused: use a JOIN, or send two queries",
		"SELECT o.id FROM orders o, customers c":                                             "UNSUPPORTED_JOIN: a join without ON (also a comma or CROSS JOIN) is refused: write joins as JOIN … ON or LEFT JOIN … ON",
		"SELECT id FROM orders ORDER BY 1":                                                   "UNSUPPORTED_NODE: ORDER BY needs a column or an alias: positions, placeholders and constants are refused",
		"SELECT ROUND(1, 2, 3) FROM orders":                                                  "FUNCTION: ROUND takes 1 to 2 arguments",
		"SELECT CONCAT() FROM orders":                                                        "FUNCTION: CONCAT takes at least 1 argument(s)",
		"SELECT ROW_NUMBER() OVER (ORDER BY id) FROM orders":                                 "UNSUPPORTED_NODE: window functions (OVER) are refused: use GROUP BY",
		"SELECT id FROM orders WHERE note REGEXP 'a'":                                        "UNSUPPORTED_NODE: REGEXP is refused: use LIKE",
		"SELECT id FROM orders WHERE note COLLATE utf8mb4_bin = 'a'":                         "UNSUPPORTED_NODE: COLLATE is refused: leave it out",
		"SELECT id FROM orders WHERE MATCH (note) AGAINST ('a')":                             "UNSUPPORTED_NODE: MATCH … AGAINST is refused: use LIKE",
		"SELECT IF(1, 2) FROM orders":                                                        "FUNCTION: IF takes 3 argument(s)",
		"SELECT id FROM orders WHERE id = ?":                                                 "PARAM_COUNT: the statement has 1 placeholder(s), 0 parameter(s) were given",
		"SELECT id AS rank FROM orders":                                                      "SYNTAX: the statement cannot be parsed near rank FROM orders; if RANK is meant as a name, write it in backquotes",
		"SELECT CAST(id AS INT) FROM orders":                                                 "SYNTAX: the statement cannot be parsed near INT) FROM orders; the type of a CAST may be SIGNED, UNSIGNED, DECIMAL(p,s), CHAR(n), DATE, DATETIME(n), TIME(n) or DOUBLE",
		"SELECT COUNT (*) FROM orders":                                                       "SYNTAX: the statement cannot be parsed near *) FROM orders; leave no blank before the parenthesis of a function",
		"SELECT id FROM orders WHERE id = :id":                                               "SYNTAX: the statement cannot be parsed near :id; placeholders are written ?",
		"SELECT id FROM orders WHERE":                                                        "SYNTAX: the statement ends too early",
		"DELETE FROM orders":                                                                 "WRITE: only SELECT is allowed",
		"SELECT id FROM information_schema.tables":                                           "METADATA: schema information_schema is refused: the tables and columns are in the schema tool",
		"SELECT a.id FROM orders a JOIN customers a ON 1":                                    "DUPLICATE_ALIAS: two tables are called a: give each an alias of its own",
		"SELECT status AS s, id AS s FROM orders ORDER BY s":                                 "AMBIGUOUS_COLUMN: s names more than one column of the select list: give them different aliases",
		"SELECT placed_at + INTERVAL (1 + 2) DAY FROM orders":                                "FUNCTION: INTERVAL is not allowed as a function (where the count is in parentheses, write DATE_ADD(x, INTERVAL (…) DAY)); allowed are " + strings.Join(g.Functions(), ", "),
		"SELECT SUBSTR(status, 1) FROM orders":                                               "FUNCTION: SUBSTR is not allowed (SUBSTRING is); allowed are " + strings.Join(g.Functions(), ", "),
		"SELECT EXTRACT(YEAR FROM placed_at) FROM orders":                                    "FUNCTION: EXTRACT is not allowed (YEAR is); allowed are " + strings.Join(g.Functions(), ", "),
		"SELECT SLEEP(5) FROM orders":                                                        "FUNCTION: SLEEP is not allowed; allowed are " + strings.Join(g.Functions(), ", "),
		"SELECT id FROM orders WHERE note = '" + strings.Repeat("secret ", 20) + "' AND AND": "",
		"SELECT " + strings.Repeat("x", 300) + " FROM orders":                                "",
		"SELECT `a\u0081\u202eb` FROM orders":                                                "UNKNOWN_COLUMN: a??b is not available; orders has id, customer_id, status, total, placed_at, note",
	} {
		_, err := g.Prepare(sql, nil)
		require.Error(t, err, sql)
		if want != "" {
			require.Equal(t, want, err.Error(), sql)
		}
		require.LessOrEqual(t, len(err.Error()), 640)
		require.NotContains(t, err.Error(), "secret secret")
	}
}

// S33: a hidden name and one that does not exist are answered alike, but for the name itself.
func TestHiddenNamesAreNoDifferentS33(t *testing.T) {
	g := shop(t)
	hidden := map[string]string{"password_hash": "qasxword_zash", "ssn": "qqn", "card_last4": "qard_zast4", "supplier_cost": "qupplier_zost", "secrets": "qecretz", "audit_log": "qudit_zog",
		"v_customer_pii": "q_zustomer_pii", "peek_secret": "qeek_zecret", "seq_invoice": "qeq_znvoice"}
	compared := 0
	for _, e := range append(corpus(t), readEntries(t, "testdata/cases.jsonl")...) {
		for name, other := range hidden {
			changed := strings.ReplaceAll(e.SQL, name, other)
			if changed == e.SQL || len(e.SQL) > 4096 {
				continue
			}
			compared++
			params, err := sqlguard.ParamsFromJSON(e.Params)
			require.NoError(t, err)
			plan, first := g.Prepare(e.SQL, params)
			again, second := g.Prepare(changed, params)
			require.Equal(t, first == nil, second == nil, e.ID)
			if first != nil {
				require.Equal(t, without(first.Error(), name), without(second.Error(), other), e.ID)
				continue
			}
			require.Equal(t, without(plan.SQL, name), without(again.SQL, other), e.ID)
		}
	}
	require.Greater(t, compared, 100)
}

// without removes a name, in either letter case and also where it was cut short in a quotation.
func without(text, name string) string {
	for n := len(name); n > 2; n-- {
		text = strings.ReplaceAll(strings.ReplaceAll(text, name[:n]+"…", "…"), strings.ToUpper(name[:n])+"…", "…")
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, name, ""), strings.ToUpper(name), "")
}

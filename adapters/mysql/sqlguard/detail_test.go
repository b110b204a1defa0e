package sqlguard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
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
		"SELECT id FROM information_schema.tables":                                           "METADATA: schema information_schema is refused: the tables and columns are in the tool mysql_schema",
		"SELECT a.id FROM orders a JOIN customers a ON 1":                                    "DUPLICATE_ALIAS: two tables are called a: give each an alias of its own",
		"SELECT status AS s, id AS s FROM orders ORDER BY s":                                 "AMBIGUOUS_COLUMN: s names more than one column of the select list: give them different aliases",
		"SELECT placed_at + INTERVAL (1 + 2) DAY FROM orders":                                "FUNCTION: INTERVAL is not allowed (where the count is in parentheses, write DATE_ADD(x, INTERVAL (…) DAY))",
		"SELECT SUBSTR(status, 1) FROM orders":                                               "FUNCTION: SUBSTR is not allowed (SUBSTRING is)",
		"SELECT EXTRACT(YEAR FROM placed_at) FROM orders":                                    "FUNCTION: EXTRACT is not allowed (YEAR, MONTH, DAY, HOUR and MINUTE are)",
		"SELECT SLEEP(5) FROM orders":                                                        "FUNCTION: SLEEP is not allowed",
		"SELECT CONCATT(note) FROM orders":                                                   "FUNCTION: CONCATT is not allowed; near it are allowed CONCAT, CONCAT_WS",
		"SELECT STDDEV(total), STD(id), VARIANCE(id) FROM orders":                            "FUNCTION: STDDEV is not allowed; also: STD is not allowed; also: VARIANCE is not allowed",
		"SELECT note->>'$.a' FROM orders":                                                    "FUNCTION: ->> is not allowed; also: -> is not allowed",
		"SELECT JSON_UNQUOTE(note) FROM orders":                                              "FUNCTION: JSON_UNQUOTE is not allowed",
		"SELECT id FROM orders WHERE placed_at > DATE '2024-01-02'":                          "FUNCTION: DATE '…' is not allowed: write the time as a text, or CAST('…' AS DATE)",
		"SELECT id FROM orders WHERE placed_at > TIMESTAMP '2024'":                           "FUNCTION: TIMESTAMP '…' is not allowed: write the time as a text, or CAST('…' AS DATETIME)",
		"SELECT STRING_AGG(note, ',') FROM orders":                                           "FUNCTION: STRING_AGG is not allowed",
		"SELECT UUID_TO_BIN('x') FROM orders":                                                "FUNCTION: UUID_TO_BIN is not allowed (write x'…' with the id's 32 hex digits)",
		"SELECT id FROM orders WHERE total & 4":                                              "UNSUPPORTED_NODE: the operator & is refused: to test a bit, write x DIV 4 % 2 = 1",
		"SELECT COUNT (id) FROM orders":                                                      "FUNCTION: COUNT is not written like this: write COUNT(x), without a blank before the parenthesis",
		"SELECT CONVERT(note USING utf8mb4) FROM orders":                                     "FUNCTION: CONVERT … USING is refused: write CAST(x AS CHAR)",
		"```sql\nSELECT id FROM orders\n```":                                                 "SYNTAX: the statement cannot be parsed near ```sql?SELECT id FROM orders?```; leave the code fence (```) out",
		"SELECT id FROM orders WHERE id\u00a0= 1":                                            "UNKNOWN_COLUMN: id? is not available: it holds a no-break space or another odd blank; write a plain one",
		"SELECT id FROM orders WHERE id = $1":                                                "UNKNOWN_COLUMN: $1 is not available: placeholders are written ?",
		"SELECT id FROM orders ORDER BY note NULLS LAST":                                     "SYNTAX: the statement cannot be parsed near NULLS LAST; write ORDER BY x IS NULL, x to have NULL last",
		"SELECT o.id FROM orders o FULL OUTER JOIN customers c ON 1=1":                       "SYNTAX: the statement cannot be parsed near FULL OUTER JOIN customers c O…; there is no FULL OUTER JOIN: send two queries, one with LEFT JOIN",
		"SELECT orders.id FROM orders FULL JOIN customers c ON c.id = 1":                     "UNSUPPORTED_JOIN: there is no FULL JOIN: send two queries, one with LEFT JOIN; also: orders is no table or alias here; there is FULL, c",
		"SELECT id FROM orders WHERE id IN ()":                                               "SYNTAX: the statement cannot be parsed near ); a list may not be empty: leave the condition out",
		"SELECT \"o\".\"id\" FROM orders o":                                                  "SYNTAX: the statement cannot be parsed near .\"id\" FROM orders o; names are written without quotes or in backquotes",
		"SELECT id FROM \"orders\"":                                                          "SYNTAX: the statement cannot be parsed near \"orders\"; names are written without quotes or in backquotes",
		"SELECT id::int FROM orders":                                                         "SYNTAX: the statement cannot be parsed near ::int FROM orders; write CAST(x AS type)",
		"SELECT id FROM orders WHERE LIMIT 3":                                                "SYNTAX: the statement cannot be parsed near LIMIT 3; something is missing or too much before LIMIT",
		"SELECT * FROM secrets":                                                              "WILDCARD: name the columns instead of *; also: table secrets is not available; the tables are shop.customers, shop.orders, shop.order_items, shop.products, archive.orders",
		"SELECT HEX(nam), SLEEP(1), xyzzy FROM customers ORDER BY 1":                         "UNSUPPORTED_NODE: ORDER BY needs a column or an alias: positions, placeholders and constants are refused; also: HEX is not allowed; also: SLEEP is not allowed; also: nam is not available; did you mean customers.name?; also: xyzzy is not available; customers has id, name, email, country, created_at, vip",
		"SELECT a, b, c FROM nosuch":                                                         "UNKNOWN_TABLE: table nosuch is not available; the tables are shop.customers, shop.orders, shop.order_items, shop.products, archive.orders",
		"SELECT id FROM orders WHERE note = '" + strings.Repeat("secret ", 20) + "' AND AND": "",
		"SELECT " + strings.Repeat("x", 300) + " FROM orders":                                "",
		"SELECT `a\u0081\u202eb` FROM orders":                                                "UNKNOWN_COLUMN: a??b is not available; orders has id, customer_id, status, total, placed_at, note",
	} {
		_, err := g.Prepare(sql, nil)
		require.Error(t, err, sql)
		if want != "" {
			assert.Equal(t, want, err.Error(), sql)
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

// Of many names a refusal lists the nearest eight.
func TestListsAreShort(t *testing.T) {
	columns := make([]sqlguard.Column, 50)
	for i := range columns {
		columns[i].Name = fmt.Sprintf("column_number_%02d", i)
	}
	columns[40].Name = "customer_ref"
	var tables []sqlguard.Table
	for i := range 20 {
		tables = append(tables, sqlguard.Table{Schema: "s", Name: fmt.Sprintf("table_%02d", i), Columns: columns})
	}
	g, err := sqlguard.New(sqlguard.Policy{DefaultSchema: "s", MaxRows: 1, Tables: tables})
	require.NoError(t, err)
	_, err = g.Prepare("SELECT customers_ref FROM table_01", nil)
	require.ErrorContains(t, err, "UNKNOWN_COLUMN: customers_ref is not available; did you mean table_01.customer_ref?")
	_, err = g.Prepare("SELECT xy FROM table_01", nil)
	require.Equal(t, 8, strings.Count(err.Error(), "column_number_")+strings.Count(err.Error(), "customer_ref"))
	require.ErrorContains(t, err, " and 42 more, which mysql_schema lists")
	_, err = g.Prepare("SELECT xy FROM orders_of_2024", nil)
	require.Equal(t, 8, strings.Count(err.Error(), "s.table_"))
	require.ErrorContains(t, err, " and 12 more, which mysql_schema lists")
}

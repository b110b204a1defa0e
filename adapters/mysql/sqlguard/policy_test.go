package sqlguard_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
)

func TestNewListsEveryProblem(t *testing.T) {
	_, err := sqlguard.New(sqlguard.Policy{
		DefaultSchema: "other",
		Tables: []sqlguard.Table{
			{Schema: "s", Name: "t", Columns: []sqlguard.Column{{Name: "id"}, {Name: "ID"}, {Name: ""}, {Name: "_o7"}, {Name: "tab\t"}, {Name: "end "}}},
			{Schema: "s", Name: "t", Columns: []sqlguard.Column{{Name: "id"}}},
			{Schema: "", Name: strings.Repeat("x", 65)},
			{Schema: "s", Name: "bad\xff", Columns: []sqlguard.Column{{Name: "id"}}},
		},
		Functions: []string{"LOWER", "lower", "SLEEP"},
	})
	require.Error(t, err)
	for _, want := range []string{
		"max rows must be at least 1", `column "ID" is listed twice`, `column "" is empty`, `column "_o7" has a name`, `column "tab\t" has a character`,
		`column "end " ends with a blank`, `table "s.t" is listed twice`, `name "" is empty`, "is longer than 64 characters", "has no allowed column",
		"is not valid UTF-8", `default schema "other" has no allowed table`, `function "lower" is listed twice`, `function "SLEEP" is not one`,
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = sqlguard.New(sqlguard.Policy{MaxRows: 1})
	require.ErrorContains(t, err, "no table is allowed")
}

// Functions, limits and the default schema come from the policy, and odd names of the allowlist are quoted.
func TestPolicyDecides(t *testing.T) {
	g, err := sqlguard.New(sqlguard.Policy{MaxRows: 5, Functions: []string{"Substr", "count"}, Tables: []sqlguard.Table{
		{Schema: "my db", Name: "ta`ble", Columns: []sqlguard.Column{{Name: "Sélect"}, {Name: "a b"}, {Name: "from"}, {Name: "x`y"}, {Name: "sku"}}},
	}})
	require.NoError(t, err)
	require.Equal(t, []string{"COUNT", "SUBSTR"}, g.Functions())
	require.Equal(t, 5, g.MaxRows())

	plan, err := g.Prepare("SELECT `SÉLECT` FROM `my db`.`ta``ble`", nil)
	require.Nil(t, plan)
	require.ErrorContains(t, err, "UNKNOWN_COLUMN", "only ASCII letters fold")
	plan, err = g.Prepare("SELECT `sélect`, `A B`, `FROM`, `x``y`, SUBSTR(sku, 1) FROM `my db`.`ta``ble` t ORDER BY t.`from`", nil)
	require.NoError(t, err)
	require.Equal(t, "SELECT `_t1`.`Sélect` AS `_o1`, `_t1`.`a b` AS `_o2`, `_t1`.`from` AS `_o3`, `_t1`.`x``y` AS `_o4`, SUBSTR(`_t1`.`sku`, 1) AS `_o5` "+
		"FROM `my db`.`ta``ble` AS `_t1` ORDER BY `_t1`.`from`, `_o1`, `_o2`, `_o4`, `_o5` LIMIT 6", plan.SQL)
	for sql, reason := range map[string]sqlguard.Reason{
		"SELECT LOWER(sku) FROM `my db`.`ta``ble`":                            sqlguard.ReasonFunction,
		"SELECT CAST(sku AS CHAR) FROM `my db`.`ta``ble`":                     sqlguard.ReasonFunction,
		"SELECT SUM(sku) FROM `my db`.`ta``ble`":                              sqlguard.ReasonFunction,
		"SELECT sku + INTERVAL 1 DAY FROM `my db`.`ta``ble`":                  sqlguard.ReasonFunction,
		"SELECT sku FROM `ta``ble`":                                           sqlguard.ReasonUnknownTable, // there is no default schema
		"SELECT `s\u212au` FROM `my db`.`ta``ble`":                            sqlguard.ReasonUnknownColumn,
		"SELECT sku FROM `my db`.`TA``BLE`":                                   sqlguard.ReasonUnknownTable,
		"SELECT sku FROM `my db`.`ta``ble` WHERE `my db`.`ta``ble`.`nosuch`":  sqlguard.ReasonUnknownColumn,
		"SELECT sku FROM `my db`.`ta``ble` WHERE `my  db`.`ta``ble`.`nosuch`": sqlguard.ReasonUnknownSchema,
	} {
		_, err := g.Prepare(sql, nil)
		var r *sqlguard.Rejection
		require.ErrorAs(t, err, &r, sql)
		require.Equal(t, reason, r.Reason, "%s: %v", sql, r)
	}
}

// Every function that a policy can name is printed in a form that is read back the same.
func TestEveryKnownFunctionCanBeCalled(t *testing.T) {
	policy := shopPolicy()
	policy.Functions = sqlguard.KnownFunctions()
	g, err := sqlguard.New(policy)
	require.NoError(t, err)
	special := map[string]string{
		"CAST": "CAST(id AS CHAR)", "CONVERT": "CONVERT(id, CHAR)", "DATE_ADD": "DATE_ADD(placed_at, INTERVAL 1 DAY)",
		"DATE_SUB": "DATE_SUB(placed_at, INTERVAL 1 DAY)", "TIMESTAMPDIFF": "TIMESTAMPDIFF(DAY, placed_at, placed_at)",
		"BIT_OPERATORS": "id & 1 | 2 << 3 >> 4", "TYPED_LITERALS": "DATE '2024-01-31'", "EXTRACT": "EXTRACT(HOUR FROM placed_at)",
		"JSON_EXTRACT": "JSON_EXTRACT(note, '$.a')", "JSON_VALUE": "JSON_VALUE(note, '$.a')", "JOIN_USING": "id", "WITH_ROLLUP": "id",
		"REPLACE": "REPLACE(status, 'a', 'b')", "TIMESTAMPADD": "TIMESTAMPADD(DAY, 1, placed_at)",
	}
	for _, name := range sqlguard.KnownFunctions() {
		call, tried := special[name], []string{}
		for args := 0; args <= 3 && call == ""; args++ {
			candidate := name + "(" + strings.Join(slices.Repeat([]string{"id"}, args), ", ") + ")"
			tried = append(tried, candidate)
			if _, err := g.Prepare("SELECT "+candidate+" FROM orders", nil); err == nil {
				call = candidate
			}
		}
		require.NotEmpty(t, call, "%v", tried)
		plan, err := g.Prepare("SELECT "+call+" AS x FROM orders", nil)
		require.NoError(t, err)
		requireFixedPoint(t, g, plan)
	}
	require.Subset(t, sqlguard.KnownFunctions(), sqlguard.DefaultFunctions())
}

func TestTablesForASchemaTool(t *testing.T) {
	g := shop(t)
	require.Equal(t, shopPolicy().Tables, g.Tables())
	g.Tables()[0].Columns[0].Name = "changed"
	require.Equal(t, shopPolicy().Tables, g.Tables(), "what is returned is a copy")

	table, _, found := g.Table("customers")
	require.True(t, found)
	require.Equal(t, "shop", table.Schema)
	table, _, found = g.Table("archive.orders")
	require.True(t, found)
	require.Equal(t, "archive", table.Schema)
	for name, near := range map[string]string{"customer": "customers", "archive.order": "archive.orders", "secrets": "", "SHOP.CUSTOMERS": "shop.customers", "": ""} {
		_, got, found := g.Table(name)
		require.False(t, found, name)
		require.Equal(t, near, got, name)
	}
}

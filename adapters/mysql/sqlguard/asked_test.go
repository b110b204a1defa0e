package sqlguard_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard/sqlgen"
)

func TestS12_S39_AskedIsWhatRanInTheAgentsNames(t *testing.T) {
	for name, c := range map[string]struct{ sql, asked string }{
		"aliases": {
			"SELECT c.name AS who, COUNT(*) n, country FROM customers c JOIN orders ON orders.customer_id = c.id " +
				"GROUP BY who, country ORDER BY n DESC",
			"SELECT `c`.`name` AS `who`, COUNT(*) AS `n`, `c`.`country` FROM `shop`.`customers` AS `c` JOIN `shop`.`orders` " +
				"ON (`orders`.`customer_id` = `c`.`id`) GROUP BY `who`, `c`.`country` ORDER BY `n` DESC LIMIT 201",
		},
		"one table name of two schemas": {
			"SELECT shop.orders.id AS a, archive.orders.id AS `b``c` FROM orders " +
				"JOIN archive.orders ON shop.orders.id = archive.orders.id",
			"SELECT `shop`.`orders`.`id` AS `a`, `archive`.`orders`.`id` AS `b``c` FROM `shop`.`orders` JOIN `archive`.`orders` " +
				"ON (`shop`.`orders`.`id` = `archive`.`orders`.`id`) LIMIT 201",
		},
		"comments are not shown": {
			"SELECT id /* of all orders */ FROM orders -- every one\n WHERE status = '/* kept */' LIMIT 3",
			"SELECT `orders`.`id` FROM `shop`.`orders` WHERE (`orders`.`status` = '/* kept */') LIMIT 3",
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan, rejection := prepare(t, shop(t), c.sql, nil)
			require.Nil(t, rejection)
			require.Equal(t, c.asked, plan.Asked)
			requireAsked(t, shop(t), plan)
		})
	}
}

// TestAskedIsTheSameStatement: what is shown of any statement is a statement that the guard accepts
// and prints as the same text. So it has no name but the agent's aliases and those of the allowlist.
func TestAskedIsTheSameStatement(t *testing.T) {
	g := open(t)
	statements := 0
	entries := slices.Concat(corpus(t), readEntries(t, "testdata/cases.jsonl"), readEntries(t, "testdata/oncall.jsonl"))
	for _, e := range entries {
		if plan, rejection := prepare(t, g, e.SQL, e.Params); rejection == nil {
			requireAsked(t, g, plan)
			statements++
		}
	}
	gen := sqlgen.New(2, sqlgen.Shop())
	for range 2_000 {
		s := gen.Next()
		if plan, err := g.Prepare(s.SQL, bind(t, s.Params)); err == nil {
			requireAsked(t, g, plan)
			statements++
		}
	}
	require.Greater(t, statements, 1_500)
}

func requireAsked(t *testing.T, g *sqlguard.Guard, plan *sqlguard.Plan) {
	t.Helper()
	again, err := g.Prepare(plan.Asked, bind(t, plan.Args))
	require.NoError(t, err, plan.Asked)
	require.Equal(t, plan.SQL, again.SQL, plan.Asked)
	require.Equal(t, plan.Asked, again.Asked)
}

func TestAskedIsBounded(t *testing.T) {
	alias := strings.Repeat("a", 30_000)
	sql := "SELECT id FROM orders " + alias + " WHERE " + strings.Repeat("id = 1 OR ", 1500) + "id = 2"
	plan, rejection := prepare(t, shop(t), sql, nil)
	require.Nil(t, rejection)
	require.Equal(t, plan.SQL, plan.Asked, "too long in the agent's names")
}

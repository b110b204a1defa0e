package sqloracle

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// S40: with indexes over a hidden and over a sensitive column, from which the server would read in their order, the
// rows come in an order that their visible values decide.
func TestNoOrderRanksHiddenValuesS40(t *testing.T) {
	o := newOracle(t)
	o.fullServer.Load(t, `USE shop;
ALTER TABLE customers ADD KEY h_ssn (ssn), ADD KEY h_email (email), ADD KEY h_vip (vip, ssn), ADD KEY h_country (country, email);
UPDATE customers SET ssn = REVERSE(LPAD(id * 7919 % 1000, 4, '0')), email = CONCAT(REVERSE(LPAD(id * 6007 % 1000, 4, '0')), '@x');
ANALYZE TABLE customers PERSISTENT FOR ALL;`)
	ranked, err := rows(t.Context(), session(t, o.fullServer.Addr, o.fullServer.AdminUser, o.fullServer.AdminPassword),
		"SELECT id FROM customers", nil)
	require.NoError(t, err)
	byID, err := rows(t.Context(), session(t, o.fullServer.Addr, o.fullServer.AdminUser, o.fullServer.AdminPassword),
		"SELECT id FROM customers ORDER BY id", nil)
	require.NoError(t, err)
	require.NotEqual(t, byID, ranked, "the server would rank: else this test proves nothing")

	run := func(sql string) []string {
		plan, err := o.guard.Prepare(sql, nil)
		require.NoError(t, err, sql)
		got, err := rows(t.Context(), o.least, plan.SQL, plan.Args)
		require.NoError(t, err, sql)
		return got
	}
	require.Equal(t, byID, run("SELECT id FROM customers"))
	require.Equal(t, byID[:6], run("SELECT id FROM customers LIMIT 6"), "and what LIMIT leaves out")
	require.Equal(t, byID[3:9], run("SELECT id FROM customers LIMIT 6 OFFSET 3"))
	require.Equal(t, byID, run("SELECT id FROM customers WHERE id > 0 AND vip IN (0, 1)"))
	for _, column := range []string{"vip", "country"} {
		again := run("SELECT " + column + ", id FROM customers ORDER BY " + column)
		sorted := run("SELECT " + column + ", id FROM customers ORDER BY " + column + ", id")
		require.Equal(t, sorted, again, "ties are decided by what is visible")
	}
	withEmail := run("SELECT email, id FROM customers")
	require.True(t, slices.Equal(withEmail, run("SELECT email, id FROM customers ORDER BY id")))
}

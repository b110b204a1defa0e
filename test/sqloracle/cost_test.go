package sqloracle

import (
	"database/sql"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/test/servers"
)

// expensive are forms of statement whose one row gets more expensive with n. Some were sent by a
// hostile author; all are of a kind for which the server looks for no kill.
var expensive = map[string]func(n int) string{
	"LIKE on what an alias builds": func(n int) string {
		return "SELECT '" + strings.Repeat("a", 2000) + "' AS v FROM customers WHERE id = 1 HAVING CONCAT(v" +
			strings.Repeat(",v", n) + ") LIKE CONCAT('%',v,v,'b')"
	},
	"LIKE on a literal": func(n int) string {
		return "SELECT id FROM customers WHERE id = 1 AND CONCAT(id, '" + strings.Repeat("a", n) + "') LIKE '%" +
			strings.Repeat("a", n/2) + "b'"
	},
	"many LIKE": func(n int) string {
		return "SELECT id FROM customers WHERE id = 1 AND NOT (0" +
			strings.Repeat(" OR CONCAT(id, '"+strings.Repeat("a", 400)+"') LIKE '%"+strings.Repeat("a", 200)+"b'", n) +
			")"
	},
	"REPLACE that doubles": func(n int) string {
		return "SELECT LENGTH(" + nest("REPLACE(", "CONCAT(id,'a')", ",'a','aa')", n) + ") FROM customers WHERE id = 1"
	},
	"REPLACE by ten": func(n int) string {
		return "SELECT LENGTH(" + nest("REPLACE(", "'aaaaaaaaaaaaaaaaaaaa'", ",'a','aaaaaaaaaa')", n) +
			") FROM customers WHERE id = 1"
	},
	"REPLACE that grows": func(n int) string {
		return "SELECT REPLACE(CONCAT(id,'" + strings.Repeat("a", n) + "'),'a','bb') FROM customers WHERE id = 1"
	},
	"REPLACE that shrinks": func(n int) string {
		return "SELECT '" + strings.Repeat("a", 1000) + "' AS v FROM customers WHERE id = 1 HAVING REPLACE(CONCAT(v" +
			strings.Repeat(",v", n) + "),'a','') = ''"
	},
	"REPLACE that searches": func(n int) string {
		return "SELECT REPLACE(CONCAT(id,'" + strings.Repeat("a", n) + "'),'" + strings.Repeat("a", n/2) +
			"b','c') FROM customers WHERE id = 1"
	},
	"TRIM from the end": func(n int) string {
		return "SELECT TRIM(TRAILING 'ab' FROM CONCAT(id,'" + strings.Repeat("ab", n) +
			"')) FROM customers WHERE id = 1"
	},
	"TRIM of an unknown text": func(n int) string {
		return "SELECT TRIM(BOTH CONCAT('a','b') FROM CONCAT(id,'" + strings.Repeat("ab", n) +
			"')) FROM customers WHERE id = 1"
	},
	"nested NULLIF": func(n int) string {
		return "SELECT " + nest("NULLIF(", "id", ",9)", n) + " FROM customers WHERE id = 1"
	},
	"nested NULLIF of a time": func(n int) string {
		return "SELECT " + nest("NULLIF(", "created_at", ",9)", n) + " FROM customers WHERE id = 1"
	},
	"nested IN": func(n int) string {
		return "SELECT " + nest("(", "created_at", " IN (1,id))", n) + " FROM customers WHERE id = 1"
	},
	"nested IN of many types": func(n int) string {
		return "SELECT " + nest("(", "created_at", " IN (id,name,created_at,1.5,2e0))", n) +
			" FROM customers WHERE id = 1"
	},
	"nested CASE": func(n int) string {
		return "SELECT " + nest("CASE ", "id",
			" WHEN 1 THEN 2 WHEN name THEN 3 WHEN created_at THEN 4 WHEN 1.5 THEN 5 ELSE id END", n) +
			" FROM customers WHERE id = 1"
	},
	"aliases of one long value": func(n int) string {
		return "SELECT id, UPPER('" + strings.Repeat("a", 20_000) +
			"') AS v FROM customers WHERE id = 1 HAVING id = 1" + strings.Repeat(" OR LOWER(v) = 'b'", n)
	},
	"nested LOWER": func(n int) string {
		return "SELECT " + nest("LOWER(UPPER(", "CONCAT(id,'"+strings.Repeat("ü", 20_000)+"')", "))", n) +
			" FROM customers WHERE id = 1"
	},
	"SUBSTRING_INDEX that searches": func(n int) string {
		return "SELECT SUBSTRING_INDEX(CONCAT(id,'" + strings.Repeat("a", n) + "'),'" + strings.Repeat("a", n/2) + "b',1) FROM customers WHERE id = 1"
	},
	"LOCATE that searches": func(n int) string {
		return "SELECT LOCATE('" + strings.Repeat("a", n/2) + "b',CONCAT(id,'" + strings.Repeat("a", n) + "')) FROM customers WHERE id = 1"
	},
	"FIND_IN_SET": func(n int) string {
		return "SELECT FIND_IN_SET('" + strings.Repeat("a", n/2) + "',CONCAT(id,'" + strings.Repeat(",", n) + "')) FROM customers WHERE id = 1"
	},
	"JSON_CONTAINS of numbers": func(n int) string {
		return "SELECT JSON_CONTAINS(CONCAT('[1','" + strings.Repeat(",4", n) + "',']'),'[" + strings.Repeat("2,", n/2) + "3]') FROM customers WHERE id = 1"
	},
	"JSON_CONTAINS of nested arrays": func(n int) string {
		return "SELECT JSON_CONTAINS('" + strings.Repeat("[", 30) + strings.Repeat("[[1]],", n) + "2" + strings.Repeat("]", 30) + "','[[[3]]]') FROM customers WHERE id = 1"
	},
	"JSON_EXTRACT of many paths": func(n int) string {
		return "SELECT " + nest("JSON_EXTRACT(", "'["+strings.Repeat("1,", 2000)+"2]'", ",'$[*]','$','$','$','$')", n) + " FROM customers WHERE id = 1"
	},
	"nested HEX": func(n int) string { return "SELECT " + nest("HEX(", "name", ")", n) + " FROM customers WHERE id = 1" },
	"GROUP_CONCAT and LIKE": func(n int) string {
		return "SELECT GROUP_CONCAT(id, '" + strings.Repeat("a", 2000) + "') AS v FROM customers HAVING v LIKE '%" + strings.Repeat("a", n) + "b'"
	},
	"CONCAT of aliases": func(n int) string {
		return "SELECT '" + strings.Repeat("a", 20_000) + "' AS v FROM customers WHERE id = 1 HAVING CONCAT(v" +
			strings.Repeat(",v", n) + ") = 'b'"
	},
}

// nest wraps inner n times.
func nest(before, inner, after string, n int) string {
	return strings.Repeat(before, n) + inner + strings.Repeat(after, n)
}

// TestNoRowTakesLong measures the most expensive statement of each form that the guard accepts: the server's own CPU
// time of one evaluation stays below a second.
func TestNoRowTakesLong(t *testing.T) {
	o := newOracle(t)
	o.fullServer.Load(t, "SET GLOBAL userstat = 1")
	functions := sqlguard.KnownFunctions()
	p := policy()
	p.Functions = functions
	guard, err := sqlguard.New(p)
	require.NoError(t, err)
	for name, form := range expensive {
		t.Run(name, func(t *testing.T) { measured(t, o.fullServer, guard, form) })
	}
}

func measured(t *testing.T, server *servers.MySQL, guard *sqlguard.Guard, form func(n int) string) {
	const most = 1 << 16
	accepted := func(n int) *sqlguard.Plan {
		plan, err := guard.Prepare(form(n), nil)
		if err != nil {
			return nil
		}
		return plan
	}
	n := sort.Search(most, func(n int) bool { return accepted(n+1) == nil })
	require.Positive(t, n, "the smallest one is refused")
	require.Less(t, n, most)
	plan := accepted(n)
	conn := session(t, server.Addr, server.AdminUser, server.AdminPassword)
	before := cpuTime(t, conn)
	_, err := rows(t.Context(), conn, plan.SQL, plan.Args)
	require.NoError(t, err)
	took := cpuTime(t, conn) - before
	t.Logf("n = %d, %d bytes: %.3f s of the server's CPU", n, len(plan.SQL), took)
	require.Less(t, took, 1.0)
}

// cpuTime is the CPU time that the connection's thread has used, in seconds.
func cpuTime(t *testing.T, conn *sql.Conn) float64 {
	t.Helper()
	var name string
	var seconds float64
	require.NoError(t, conn.QueryRowContext(t.Context(), "SHOW STATUS LIKE 'Cpu_time'").Scan(&name, &seconds))
	return seconds
}

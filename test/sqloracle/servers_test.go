package sqloracle

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/test/servers"
)

const data = "../../adapters/mysql/sqlguard/testdata/"

// oracle is the two sessions that every statement is tried on.
type oracle struct {
	guard *sqlguard.Guard
	pared *sql.Conn // the allowlist alone: originals run here
	// everything is there, for an account with grants on the allowlist: what the guard printed runs here
	least *sql.Conn

	paredServer, fullServer *servers.MySQL
	user, password          string
}

// policy is the allowlist of the schema in testdata, with as many rows as there are to compare.
func policy() sqlguard.Policy {
	table := func(schema, name string, columns ...string) sqlguard.Table {
		t := sqlguard.Table{Schema: schema, Name: name}
		for _, c := range columns {
			t.Columns = append(t.Columns, sqlguard.Column{Name: c, Sensitive: c == "email"})
		}
		return t
	}
	return sqlguard.Policy{DefaultSchema: "shop", MaxRows: 1_000_000, Tables: []sqlguard.Table{
		table("shop", "customers", "id", "name", "email", "country", "created_at", "vip"),
		table("shop", "orders", "id", "customer_id", "status", "total", "placed_at", "note"),
		table("shop", "order_items", "order_id", "line_no", "sku", "qty", "unit_price"),
		table("shop", "products", "sku", "title", "category", "price", "in_stock"),
		table("archive", "orders", "id", "customer_id", "status", "total", "placed_at"),
	}}
}

func newOracle(t *testing.T) *oracle {
	t.Helper()
	guard, err := sqlguard.New(policy())
	require.NoError(t, err)
	schema, err := os.ReadFile(data + "schema.sql")
	require.NoError(t, err)
	full := servers.MariaDB(t, "--innodb-stats-auto-recalc=0") // an option of its own makes a server of its own
	full.Load(t, string(schema))
	pared := servers.MariaDB(t, "--innodb-stats-auto-recalc=0")
	pared.Load(t, string(schema))
	pared.Load(t, pare)
	user, password := full.Account(t, grants()...)
	o := &oracle{guard: guard, paredServer: pared, fullServer: full, user: user, password: password}
	return o.another(t)
}

// another is the same oracle with sessions of its own.
func (o *oracle) another(t *testing.T) *oracle {
	t.Helper()
	copied := *o
	copied.pared = session(t, o.paredServer.Addr, o.paredServer.AdminUser, o.paredServer.AdminPassword)
	copied.least = session(t, o.fullServer.Addr, o.user, o.password)
	return &copied
}

// pare removes from the schema whatever the allowlist does not have.
const pare = `USE shop;
ALTER TABLE customers DROP password_hash, DROP ssn;
ALTER TABLE orders DROP card_last4;
ALTER TABLE products DROP supplier_cost;
DROP VIEW v_customer_pii;
DROP TABLE secrets, audit_log;
DROP SEQUENCE seq_invoice;
DROP FUNCTION peek_secret;
DROP FUNCTION upper_;
DROP FUNCTION ` + "`lower`;"

// grants is the allowlist as column privileges.
func grants() []string {
	var out []string
	for _, t := range policy().Tables {
		var columns []string
		for _, c := range t.Columns {
			columns = append(columns, "`"+c.Name+"`")
		}
		out = append(out, fmt.Sprintf("SELECT (%s) ON `%s`.`%s`", strings.Join(columns, ", "), t.Schema, t.Name))
	}
	return out
}

// session is one connection with the settings of a data source's connection, and the clock stopped
// so that NOW() is the same everywhere.
func session(t *testing.T, addr, user, password string) *sql.Conn {
	t.Helper()
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.Passwd, c.DBName = "tcp", addr, user, password, "shop"
	c.Collation = "utf8mb4_general_ci"
	c.Params = map[string]string{
		"sql_mode":             "'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
		"time_zone":            "'+00:00'",
		"timestamp":            "1782863999.123456",
		"max_session_mem_used": "536870912",
	}
	connector, err := mysql.NewConnector(c)
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	_, err = conn.ExecContext(t.Context(), "SET SESSION TRANSACTION READ ONLY")
	require.NoError(t, err)
	return conn
}

// rows runs a prepared statement (the binary protocol, whether there are parameters or not) and
// returns each row as one string.
func rows(ctx context.Context, conn *sql.Conn, text string, args []any) ([]string, error) {
	stmt, err := conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	result, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	names, err := result.Columns()
	if err != nil {
		return nil, err
	}
	values, targets := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		targets[i] = &values[i]
	}
	var out []string
	for result.Next() {
		if err := result.Scan(targets...); err != nil {
			return nil, err
		}
		out = append(out, rowText(values))
	}
	return out, result.Err()
}

func rowText(values []any) string {
	var b strings.Builder
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			b.WriteString("NULL|")
		case []byte:
			fmt.Fprintf(&b, "%q|", v)
		default:
			fmt.Fprintf(&b, "%v|", v)
		}
	}
	return fraction.ReplaceAllStringFunc(b.String(), func(s string) string { return trimFraction(s) })
}

// fraction is of a second. FROM_UNIXTIME of a DECIMAL shows as many digits as its type has; the guard cuts to six.
var fraction = regexp.MustCompile(`\d\d:\d\d:\d\d\.\d+`)

// trimFraction rounds to what a double of a time in seconds keeps, too.
func trimFraction(s string) string {
	whole, digits, _ := strings.Cut(s, ".")
	f, err := strconv.ParseFloat("0."+digits, 64)
	if err != nil {
		return s
	}
	return whole + strings.TrimRight(strings.TrimRight(strings.TrimPrefix(strconv.FormatFloat(f, 'f', 3, 64), "0"), "0"), ".")
}

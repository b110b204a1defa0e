package e2e

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
	"github.com/toolboundary/toolboundary/test/service"
)

const driftSchema = `DROP DATABASE IF EXISTS e2e_crm; DROP DATABASE IF EXISTS e2e_old;
CREATE DATABASE e2e_crm; CREATE DATABASE e2e_old; USE e2e_crm;
CREATE TABLE customers (id INT UNSIGNED PRIMARY KEY, name VARCHAR(80), email VARCHAR(80), created_at DATETIME);
CREATE TABLE orders (id BIGINT PRIMARY KEY, total DECIMAL(10,2), note TEXT);
CREATE TABLE products (sku CHAR(8) PRIMARY KEY, title VARCHAR(80));
CREATE TABLE e2e_old.orders (id BIGINT PRIMARY KEY, total DECIMAL(10,2));
INSERT INTO customers VALUES (1, 'canary-row', 'canary@example.com', NOW());`

// drifts are changes of the database that an allowlist no longer fits.
var drifts = []struct{ name, sql, kind, where string }{
	{"a schema is gone", "DROP DATABASE e2e_old", "SCHEMA_GONE", "e2e_old.orders"},
	{"a table is gone", "DROP TABLE e2e_crm.products", "TABLE_GONE", "e2e_crm.products"},
	{"a table is spelled differently", "RENAME TABLE e2e_crm.products TO e2e_crm.Products",
		"TABLE_CASE", "e2e_crm.products"},
	{"a column is gone", "ALTER TABLE e2e_crm.orders DROP note", "COLUMN_GONE", "e2e_crm.orders.note"},
	{"a column is spelled differently", "ALTER TABLE e2e_crm.orders CHANGE note Note TEXT",
		"COLUMN_CASE", "e2e_crm.orders.note"},
	{"a column is new, and looks sensitive", "ALTER TABLE e2e_crm.customers ADD card_number CHAR(16)",
		"NEW_COLUMN", "e2e_crm.customers.card_number"},
	{"a table became a view", becomesView, "VIEW", "e2e_crm.products"},
	{"a column has another type", "ALTER TABLE e2e_crm.orders MODIFY total VARCHAR(20)",
		"TYPE", "e2e_crm.orders.total"},
	{"a left-out column is gone", "ALTER TABLE e2e_crm.customers DROP email",
		"LEFT_OUT_GONE", "e2e_crm.customers.email"},
	{"a view is broken", becomesView + "; DROP TABLE e2e_crm.p", "UNREADABLE", "e2e_crm.products"},
}

const becomesView = "RENAME TABLE e2e_crm.products TO e2e_crm.p; " +
	"CREATE VIEW e2e_crm.products AS SELECT sku, title FROM e2e_crm.p"

// The command allowlist check finds every planted drift, and none before it is planted.
func TestAllowlistCheckFindsPlantedDrifts(t *testing.T) {
	m := servers.SharedMariaDB(t)
	secrets := append(service.Keys(t), m.AdminPassword, "canary-row", "canary@example.com")
	t.Setenv("SHOP_USER", m.AdminUser)
	t.Setenv("SHOP_PASSWORD", m.AdminPassword)
	m.Load(t, driftSchema)
	bare := service.Write(t, crm(m))
	draft := command(t, "", secrets, "allowlist", "init", "--config", bare, "--data-source", "crm",
		"--schema", "e2e_crm", "--schema", "e2e_old")
	require.Zero(t, draft.Code, draft.Stderr)
	config := service.Write(t, crm(m)+draft.Out)
	check := []string{"allowlist", "check", "--config", config, "--data-source", "crm", "--output", "json"}

	for _, row := range drifts {
		t.Run(row.name, func(t *testing.T) {
			m.Load(t, driftSchema)
			require.Empty(t, driftsOf(t, command(t, "", secrets, check...), 0), "nothing has drifted yet")
			m.Load(t, row.sql)
			var kinds []string
			for _, d := range driftsOf(t, command(t, "", secrets, check...), 1) {
				require.NotEmpty(t, d.Message)
				require.NotEmpty(t, d.Fix)
				kinds = append(kinds, d.Kind+" "+d.Where)
			}
			require.Contains(t, kinds, row.kind+" "+row.where)
		})
	}
}

// crm is the configuration of the data source crm, to which further members can be added.
func crm(m *servers.MySQL) string {
	return "data_sources:\n  crm:\n    address: " + m.Addr +
		"\n    user_env: SHOP_USER\n    password_env: SHOP_PASSWORD\n"
}

type drift struct{ Kind, Where, Message, Fix string }

// driftsOf returns what allowlist check reported, and requires its exit code.
func driftsOf(t testing.TB, r service.Result, code int) []drift {
	t.Helper()
	require.Equal(t, code, r.Code, "%s%s", r.Out, r.Stderr)
	var report struct{ Drifts []drift }
	require.NoError(t, json.Unmarshal([]byte(r.Out), &report), r.Out)
	return report.Drifts
}

// An account with column privileges does not see what it was not granted: check says so, and
// finds a missing grant.
func TestAllowlistCheckUnderALeastAccount(t *testing.T) {
	m := servers.SharedMariaDB(t)
	m.Load(t, driftSchema)
	user, password := m.Account(t, "SELECT (id, name) ON e2e_crm.customers", "SELECT (id) ON e2e_crm.orders")
	secrets := append(service.Keys(t), password)
	t.Setenv("SHOP_USER", user)
	t.Setenv("SHOP_PASSWORD", password)
	config := service.Write(t, crm(m)+`    allow:
      e2e_crm.customers: [id, name]
      e2e_crm.orders: [id, total]
    left_out:
      e2e_crm.customers: [email, created_at]
`)
	r := command(t, "", secrets, "allowlist", "check", "--config", config, "--data-source", "crm")
	require.Equal(t, 1, r.Code, "%s%s", r.Out, r.Stderr)
	require.Contains(t, r.Out, "COLUMN_GONE    e2e_crm.orders.total")
	require.Contains(t, r.Out, "new columns are hidden from it")
	require.Contains(t, r.Out, "1 difference(s)")
}

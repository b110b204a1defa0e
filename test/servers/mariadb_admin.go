package servers

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// Admin returns a small pool under the administrator's account, closed with the test.
func (m *MySQL) Admin(t testing.TB) *sql.DB {
	t.Helper()
	db, err := m.open(false)
	if err != nil {
		t.Fatalf("open the administrator's pool: %v", err)
	}
	db.SetMaxOpenConns(4)
	t.Cleanup(func() { db.Close() })
	return db
}

// Load runs the text of an SQL file, any number of statements, on a new connection: what it
// sets or USEs ends with it. There is no DELIMITER, so bodies of routines are single statements.
func (m *MySQL) Load(t testing.TB, sqlText string) {
	t.Helper()
	db, err := m.open(true)
	if err != nil {
		t.Fatalf("open the administrator's connection: %v", err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(t.Context(), adminBudget)
	defer cancel()
	if _, err := db.ExecContext(ctx, sqlText); err != nil {
		t.Fatalf("load SQL: %v", err)
	}
}

// Account makes a user that can log in from anywhere with the given grants (`SELECT ON shop.*`) and
// no others, dropped with the test.
func (m *MySQL) Account(t testing.TB, grants ...string) (user, password string) {
	t.Helper()
	user, password = "u_"+strings.ToLower(rand.Text()[:12]), rand.Text()
	var script strings.Builder
	fmt.Fprintf(&script, "CREATE USER '%s'@'%%' IDENTIFIED BY '%s';\n", user, password)
	for _, grant := range grants {
		fmt.Fprintf(&script, "GRANT %s TO '%s'@'%%';\n", grant, user)
	}
	m.Load(t, script.String())
	t.Cleanup(func() {
		db, err := m.open(false)
		if err != nil {
			return
		}
		defer db.Close()
		ctx, cancel := context.WithTimeout(context.Background(), adminBudget)
		defer cancel()
		// The server may be stopped by now, and takes its accounts with it.
		_, _ = db.ExecContext(ctx, "DROP USER IF EXISTS '"+user+"'@'%'")
	})
	return user, password
}

// Statement is a line of the server's process list.
type Statement struct {
	ID      uint64
	User    string
	Command string // Sleep, Query, Execute, …
	Info    string // the SQL text; empty when idle
}

// Processlist returns what every client connection does now, without this call's own connection.
// A connection that is preparing a statement is left out: nothing of the statement runs yet, and
// whoever loses that connection may prepare it again on another one.
func (m *MySQL) Processlist(t testing.TB) []Statement {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), adminBudget)
	defer cancel()
	db, err := m.open(false)
	if err != nil {
		t.Fatalf("open the administrator's connection: %v", err)
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, `
		SELECT ID, USER, COMMAND, COALESCE(INFO, '') FROM information_schema.PROCESSLIST
		WHERE ID <> CONNECTION_ID() AND COMMAND <> 'Prepare'`)
	if err != nil {
		t.Fatalf("process list: %v", err)
	}
	defer rows.Close()
	var list []Statement
	for rows.Next() {
		var s Statement
		if err := rows.Scan(&s.ID, &s.User, &s.Command, &s.Info); err != nil {
			t.Fatalf("process list: %v", err)
		}
		list = append(list, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("process list: %v", err)
	}
	return list
}

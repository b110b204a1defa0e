package bootstrap

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/mysql/allowlist"
	"github.com/toolboundary/toolboundary/adapters/mysql/operator"
	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/domain/fault"
)

// doctorPatience bounds what is bounded more tightly for calls.
const doctorPatience = 10 * time.Second

// examineMySQL looks at one MySQL or MariaDB data source under its own account.
func examineMySQL(ctx context.Context, id string, m *config.MySQL) []cli.Finding {
	l := &looks{subject: id}
	own := *m
	own.RequireReadOnlyAccount = false // an account that may write is reported, with everything else
	source, err := mysqlSource(id, &own)
	if err == nil {
		var db *server.Pool
		// A busy server proves no less for being slow.
		if db, err = server.Open(source.Source, server.Options{ConnectTimeout: doctorPatience, KillTimeout: doctorPatience}, silent); err == nil {
			defer func() { _ = db.Close(context.WithoutCancel(ctx)) }() // nothing runs any more
			l.mysql(ctx, operator.New(db), m)
			return l.found
		}
	}
	l.fail("settings", "Mend the configuration.", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	return l.found
}

func (l *looks) mysql(ctx context.Context, db *operator.Database, m *config.MySQL) {
	report, err := db.Inspect(ctx)
	if err != nil {
		l.unreachable(err)
		return
	}
	encrypted := "encrypted"
	if !report.Encrypted {
		encrypted = "not encrypted" // config check warns where that crosses a network
	}
	l.ok("connect", "%s %s, %s", report.Product, report.Version, encrypted)
	l.latency(trips(func() error { return db.Ping(ctx) }))
	l.account(report.BeyondRead, m.RequireReadOnlyAccount)
	l.readOnly(ctx, db, someSchema(m))
	l.timeLimit(ctx, db)
	l.kill(ctx, db)
	l.allowlist(ctx, db, m)
}

// trips times a few round trips; a warm-up comes first.
func trips(ping func() error) []time.Duration {
	var took []time.Duration
	for range 4 {
		began := time.Now()
		if ping() != nil {
			return nil
		}
		took = append(took, time.Since(began))
	}
	return took[1:]
}

func (l *looks) unreachable(err error) {
	f := fault.Of(err)
	fix := map[string]string{
		"NOT_REACHABLE": "Check the address, the network, and that the server runs.", "CONNECT_TIMEOUT": "Check the address and the firewall between.",
		"TLS":     "Check tls and ca_file against what the server offers.",
		"LOGIN":   "Check the account's name and password, and from which hosts it may log in.",
		"SESSION": "The server does not keep a session's settings: connect to it directly, without a proxy that shares sessions.",
	}[f.Reason]
	if fix == "" {
		fix = "Try again; look at the server's log."
	}
	if n := server.ErrorNumber(err); n != 0 {
		l.fail("connect", fix, "%s %s, server error %d", f.Code, f.Reason, n)
		return
	}
	l.fail("connect", fix, "%s %s", f.Code, f.Reason)
}

func (l *looks) account(beyond []string, required bool) {
	const fix = "Use an account that may only read: allowlist grants prints the statements that make one."
	switch {
	case len(beyond) == 0:
		l.ok("account", "may do nothing but SELECT")
	case required:
		l.fail("account", fix, "may do more than SELECT, so the service refuses it: %s", strings.Join(beyond, ", "))
	default:
		l.warn("account", fix, "may do more than SELECT: %s", strings.Join(beyond, ", "))
	}
}

// someSchema is one that exists, as far as the configuration knows.
func someSchema(m *config.MySQL) string {
	if m.DefaultSchema == "" && len(m.Allow) > 0 {
		return m.Allow[0].Schema
	}
	return cmp.Or(m.DefaultSchema, "toolboundary")
}

func (l *looks) readOnly(ctx context.Context, db *operator.Database, schema string) {
	const fix = "Do not use this server with an account that may write."
	switch byAccount, err := db.ProveReadOnly(ctx, schema); {
	case errors.Is(err, operator.ErrWritable):
		l.fail("read-only session", fix, "a write was not refused")
	case err != nil:
		l.fail("read-only session", fix, "it could not be proved: %s", fault.CodeOf(err))
	case byAccount:
		l.ok("read-only session", "a write was refused, by the account's privileges")
	default:
		l.ok("read-only session", "a write was refused")
	}
}

func (l *looks) timeLimit(ctx context.Context, db *operator.Database) {
	const fix = "Statements that run too long are then stopped by KILL only; use a server that keeps max_statement_time (MariaDB) or max_execution_time (MySQL)."
	switch err := db.ProveTimeLimit(ctx); {
	case errors.Is(err, operator.ErrNotLimited):
		l.fail("time limit", fix, "a SLEEP was not stopped by the server")
	case err != nil:
		l.fail("time limit", fix, "it could not be proved: %s", fault.CodeOf(err))
	default:
		l.ok("time limit", "a SLEEP was stopped by the server")
	}
}

func (l *looks) kill(ctx context.Context, db *operator.Database) {
	const fix = "A cancelled call runs on until the server's time limit: connect without a proxy that hides connection ids, or lower query_timeout."
	switch err := db.ProveKill(ctx); {
	case errors.Is(err, operator.ErrNotKilled):
		l.warn("kill", fix, "kill: unsupported; a cancelled statement was not stopped")
	case err != nil:
		l.warn("kill", fix, "it could not be proved: %s", fault.CodeOf(err))
	default:
		l.ok("kill", "a cancelled statement was stopped")
	}
}

func (l *looks) allowlist(ctx context.Context, db *operator.Database, m *config.MySQL) {
	const fix = "Run allowlist check, which names each difference and what to do."
	if len(m.Allow) == 0 {
		l.warn("allowlist", "Run allowlist init and review what it writes.", "nothing is allowed, so every query is refused")
		return
	}
	report, err := allowlist.Check(ctx, db, listedOf(m))
	if err != nil {
		l.fail("allowlist", fix, "the schema could not be read: %s", fault.CodeOf(err))
		return
	}
	broken := 0
	for _, d := range report.Drifts {
		if d.Broken() {
			broken++
		}
	}
	switch {
	case broken > 0:
		l.fail("allowlist", fix, "%d difference(s) to the database, %d of which break queries", len(report.Drifts), broken)
	case len(report.Drifts) > 0:
		l.warn("allowlist", fix, "%d difference(s) to the database", len(report.Drifts))
	default:
		l.ok("allowlist", "%d table(s) as the database has them", report.Tables)
	}
}

package commands

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
	"github.com/toolboundary/toolboundary/cmd/app/settings"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/ports"
)

// patient are timeouts for examinations: a server that is busy proves no less.
var patient = server.Options{ConnectTimeout: 10 * time.Second, KillTimeout: 10 * time.Second}

// MySQLExaminer examines the MySQL and MariaDB data sources, each under its own account.
func MySQLExaminer(clock ports.Clock) Examiner {
	return func(c config.Config) []Examination {
		var list []Examination
		for id, m := range config.SourcesOf[*config.MySQL](c.DataSources) {
			list = append(list, Examination{id, func(ctx context.Context) []cli.Finding {
				e := mysqlExamination{report{subject: id}, clock, m}
				e.examine(ctx)
				return e.found
			}})
		}
		return list
	}
}

// mysqlExamination is the examination of one data source.
type mysqlExamination struct {
	report
	clock ports.Clock
	m     *config.MySQL
}

func (e *mysqlExamination) examine(ctx context.Context) {
	own := *e.m
	own.RequireReadOnlyAccount = false // an account that may write is reported, with everything else
	pool, err := open(e.subject, &own, patient)
	if err != nil {
		e.invalid(err)
		return
	}
	defer closed(ctx, pool)
	db := operator.New(pool)
	server, err := db.Inspect(ctx)
	if err != nil {
		e.unreachable(err)
		return
	}
	encrypted := "encrypted"
	if !server.Encrypted {
		encrypted = "not encrypted" // config check warns where that crosses a network
	}
	e.ok("connect", "%s %s, %s", server.Product, server.Version, encrypted)
	e.latency(e.trips(func() error { return db.Ping(ctx) }))
	e.account(server.BeyondRead)
	e.readOnly(ctx, db)
	e.timeLimit(ctx, db)
	e.kill(ctx, db)
	e.allowlist(ctx, db)
}

// trips times a few round trips, after one to warm up; nil when the server stopped answering.
func (e *mysqlExamination) trips(ping func() error) []time.Duration {
	var took []time.Duration
	for range 4 {
		began := e.clock.Now()
		if ping() != nil {
			return nil
		}
		took = append(took, e.clock.Now().Sub(began))
	}
	return took[1:]
}

func (e *mysqlExamination) unreachable(err error) {
	f := fault.Of(err)
	fix := map[string]string{
		"NOT_REACHABLE":   "Check the address, the network, and that the server runs.",
		"CONNECT_TIMEOUT": "Check the address and the firewalls on the way.",
		"TLS":             "Check tls and ca_file against what the server offers.",
		"LOGIN":           "Check the account's name and password, and from which hosts it may log in.",
		"INIT_CONNECT":    "The server's init_connect fails for this account: repair it, or leave it empty.",
		"HOURLY_LIMIT":    "The account has used up what it may do in an hour: ALTER USER … WITH MAX_QUERIES_PER_HOUR 0.",
		"SESSION": "The server does not keep a session's settings: " +
			"connect to it directly, without a proxy that shares sessions.",
	}[f.Reason]
	if fix == "" {
		fix = "Try again; look at the server's log."
	}
	if n := server.ErrorNumber(err); n != 0 {
		e.fail("connect", fix, "%s %s, server error %d", f.Code, f.Reason, n)
		return
	}
	e.fail("connect", fix, "%s %s", f.Code, f.Reason)
}

func (e *mysqlExamination) account(beyond []string) {
	const fix = "Use an account that may only read: allowlist grants prints the statements that make one."
	switch {
	case len(beyond) == 0:
		e.ok("account", "may do nothing but SELECT")
	case e.m.RequireReadOnlyAccount:
		e.fail("account", fix, "may do more than SELECT, so the service refuses it: %s", strings.Join(beyond, ", "))
	default:
		e.warn("account", fix, "may do more than SELECT: %s", strings.Join(beyond, ", "))
	}
}

// someSchema returns a schema that exists, as far as the configuration knows.
func someSchema(m *config.MySQL) string {
	if m.DefaultSchema == "" && len(m.Allow) > 0 {
		return m.Allow[0].Schema
	}
	return cmp.Or(m.DefaultSchema, "toolboundary")
}

func (e *mysqlExamination) readOnly(ctx context.Context, db *operator.Database) {
	const fix = "Do not use this server with an account that may write."
	switch byAccount, err := db.ProveReadOnly(ctx, someSchema(e.m)); {
	case errors.Is(err, operator.ErrWritable):
		e.fail("read-only session", fix, "a write was not refused")
	case err != nil:
		e.fail("read-only session", fix, "it could not be checked: %s", fault.CodeOf(err))
	case byAccount:
		e.ok("read-only session", "a write was refused, by the account's privileges")
	default:
		e.ok("read-only session", "a write was refused")
	}
}

func (e *mysqlExamination) timeLimit(ctx context.Context, db *operator.Database) {
	const fix = "Statements that run too long are stopped by KILL only; " +
		"use a server that keeps max_statement_time (MariaDB) or max_execution_time (MySQL)."
	switch err := db.ProveTimeLimit(ctx); {
	case errors.Is(err, operator.ErrNotLimited):
		e.fail("time limit", fix, "a SLEEP was not stopped by the server")
	case err != nil:
		e.fail("time limit", fix, "it could not be checked: %s", fault.CodeOf(err))
	default:
		e.ok("time limit", "a SLEEP was stopped by the server")
	}
}

func (e *mysqlExamination) kill(ctx context.Context, db *operator.Database) {
	const fix = "A cancelled call runs on until the server's time limit: " +
		"connect without a proxy that hides connection ids, or lower query_timeout."
	switch err := db.ProveKill(ctx); {
	case errors.Is(err, operator.ErrNotKilled):
		e.warn("kill", fix, "unsupported: a cancelled statement was not stopped")
	case err != nil:
		e.warn("kill", fix, "it could not be checked: %s", fault.CodeOf(err))
	default:
		e.ok("kill", "a cancelled statement was stopped")
	}
}

func (e *mysqlExamination) allowlist(ctx context.Context, db *operator.Database) {
	const fix = "Run allowlist check, which names each difference and its fix."
	if len(e.m.Allow) == 0 {
		e.warn("allowlist", "Run allowlist init and review what it writes.",
			"nothing is allowed, so every query is refused")
		return
	}
	report, err := allowlist.Check(ctx, db, settings.Listed(e.m))
	if err != nil {
		e.fail("allowlist", fix, "the schema could not be read: %s", fault.CodeOf(err))
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
		e.fail("allowlist", fix, "it differs from the database in %d place(s), %d of which break queries",
			len(report.Drifts), broken)
	case len(report.Drifts) > 0:
		e.warn("allowlist", fix, "it differs from the database in %d place(s)", len(report.Drifts))
	default:
		e.ok("allowlist", "%d table(s) as the database has them", report.Tables)
	}
}

package mysql_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolboundary/toolboundary/adapters/mysql"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/executortest"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/servers"
)

// refused are requests that must not reach a connection.
func refused(t testing.TB) []executortest.Refused {
	query := func(why, sql string, params ...any) executortest.Refused {
		return executortest.Refused{Why: why, Request: request(t, sql, params...), Code: fault.QueryRejected}
	}
	invalid := func(why, text string) executortest.Refused {
		return executortest.Refused{Why: why, Request: json.RawMessage(text), Code: fault.RequestInvalid}
	}
	const start = `{"data_source":"shop","sql":"SELECT id FROM customers`
	return []executortest.Refused{
		query("a write", "DELETE FROM customers"),
		query("a wildcard", "SELECT * FROM customers"),
		query("a hidden column", "SELECT ssn FROM customers"),
		query("a subquery", "SELECT id FROM customers WHERE id IN (SELECT id FROM orders)"),
		query("a union", "SELECT id FROM customers UNION SELECT id FROM orders"),
		query("two statements", "SELECT id FROM customers; DELETE FROM customers"),
		query("a function", "SELECT SLEEP(5) FROM customers"),
		query("metadata", "SHOW TABLES"),
		query("locking", "SELECT id FROM customers FOR UPDATE"),
		query("no SQL", ""),
		query("too few params", "SELECT id FROM customers WHERE id = ?"),
		query("too many params", "SELECT id FROM customers", 1),
		invalid("no sql", `{"data_source":"shop"}`),
		invalid("no source", `{"sql":"SELECT id FROM customers"}`),
		invalid("null for sql", `{"data_source":"shop","sql":null}`),
		invalid("coordinates", start+`","host":"evil"}`),
		invalid("authorisation", start+`","authorized":true}`),
		invalid("session settings", start+`","session":{"sql_mode":""}}`),
		invalid("a duplicate member", start+`","sql":"SELECT name FROM customers"}`),
		invalid("params that are not an array", start+`","params":{}}`),
		invalid("a param that is an object", start+` WHERE id = ?","params":[{}]}`),
		{
			Why:     "another source",
			Request: json.RawMessage(`{"data_source":"Shop","sql":"SELECT id FROM customers"}`),
			Code:    fault.DataSourceUnknown,
		},
	}
}

// refusing makes the server look as if it were down.
func refusing(t *testing.T, line *servers.FaultProxy) func(kit.T) func() {
	return func(kit.T) func() {
		line.Refuse()
		return func() { line.Pass(t) }
	}
}

func TestS26_S32_S36_S42_ContractOnMariaDB(t *testing.T) {
	m := shop(t)
	line := servers.Proxy(t, m.Addr)
	through := newRelay(t, line.Addr)
	r := newRig(t, m, func(s *mysql.Source, _ *mysql.Options) { s.Address = through.addr })
	executortest.Test(t, executortest.Subject{
		New:   func(kit.T) ports.Executor { return r },
		Scope: scope,
		Echo: func(text string) json.RawMessage {
			return request(t, "SELECT CONCAT(?, name) AS e FROM customers WHERE id = 1", text)
		},
		Large: request(t, "SELECT id, body FROM v_large"),
		// A SLEEP would not do: MariaDB ends one by itself once its client is gone.
		Slow:      request(t, "SELECT nap FROM v_busy"),
		Failing:   request(t, "SELECT k FROM secrets"),
		FailsWith: fault.ExecutionFailed,
		Refused:   refused(t),
		Running: func(kit.T) int {
			n := 0
			for _, s := range m.Processlist(t) {
				if strings.Contains(s.Info, "v_busy") || strings.Contains(s.Info, "v_large") {
					n++
				}
			}
			return n
		},
		Calls:   func(kit.T) int { return through.sent() },
		Secrets: []string{r.user, r.password, m.Addr, "127.0.0.1", "denied", "command"},
		Break:   refusing(t, line),
	})
}

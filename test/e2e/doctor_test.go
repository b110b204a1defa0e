package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
	"github.com/toolboundary/toolboundary/test/service"
)

const doctorSchema = `DROP DATABASE IF EXISTS e2e_doctor; CREATE DATABASE e2e_doctor;
CREATE TABLE e2e_doctor.t (id INT PRIMARY KEY, v TEXT);`

// patient is a configuration that doctor examines.
type patient struct {
	address, user, password, redis string
	more                           string // further keys of the data source
}

func (p patient) config(t testing.TB) string {
	t.Setenv("SHOP_USER", p.user)
	t.Setenv("SHOP_PASSWORD", p.password)
	return service.Write(t, fmt.Sprintf(`store: {kind: redis, redis: {addrs: ['%s']}}
data_sources:
  shop:
    address: %s
    user_env: SHOP_USER
    password_env: SHOP_PASSWORD
    allow: {e2e_doctor.t: [id, v]}
%s`, p.redis, p.address, p.more))
}

type finding struct{ Subject, Check, Result, Detail, Fix string }

func diagnose(t testing.TB, p patient, secrets []string) (findings []finding, code int) {
	t.Helper()
	r := command(t, "", append(secrets, p.password), "doctor", "--config", p.config(t), "--output", "json")
	var report struct{ Findings []finding }
	require.NoError(t, json.Unmarshal([]byte(r.Out), &report), "%s%s", r.Out, r.Stderr)
	return report.Findings, r.Code
}

// Doctor finds every planted fault, and none in a healthy set-up.
func TestDoctorFindsPlantedFaults(t *testing.T) {
	m := servers.SharedMariaDB(t)
	m.Load(t, doctorSchema)
	secrets := service.Keys(t)
	user, password := m.Account(t, "SELECT (id, v) ON e2e_doctor.t")
	redis := servers.Redis(t, "--maxmemory", "64mb", "--maxmemory-policy", "noeviction", "--appendonly", "yes")
	healthy := patient{m.Addr, user, password, redis.Addr, "    require_read_only_account: true\n"}
	findings, code := diagnose(t, healthy, secrets)
	require.Zero(t, code, "%+v", findings)
	for _, f := range findings {
		if f.Check != "latency" { // which is this machine's business
			require.Equal(t, "ok", f.Result, "%+v", f)
		}
	}
	require.GreaterOrEqual(t, len(findings), 12)

	closed := servers.Proxy(t, m.Addr)
	closed.Refuse()
	slow := servers.Proxy(t, m.Addr)
	slow.Delay(210 * time.Millisecond)
	writer, writerPassword := m.Account(t, "ALL ON e2e_doctor.*")
	evicting := servers.Redis(t,
		"--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru", "--appendonly", "yes")
	forgetful := servers.Redis(t, "--maxmemory", "64mb", "--maxmemory-policy", "noeviction")
	gone := servers.Proxy(t, redis.Addr)
	gone.Refuse()
	faults := []struct {
		name                   string
		plant                  func(p *patient)
		subject, check, result string
	}{
		{"writable account", func(p *patient) { p.user, p.password = writer, writerPassword },
			"shop", "account", "fail"},
		{"evicting Redis", func(p *patient) { p.redis = evicting.Addr }, "store", "promises", "fail"},
		{"time limit not honoured", func(p *patient) {
			p.address = servers.Rewriting(t, m.Addr, "max_statement_time = 0.300", "max_statement_time = 9.300")
		}, "shop", "time limit", "fail"},
		{"unreachable data source", func(p *patient) { p.address = closed.Addr }, "shop", "connect", "fail"},
		{"kill unsupported", func(p *patient) {
			p.address = servers.Rewriting(t, m.Addr, "KILL ", "DO 1+")
		}, "shop", "kill", "warn"},
		{"session settings forgotten", func(p *patient) {
			p.address = servers.Rewriting(t, m.Addr,
				"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
				"SET @forgets_what_it_is_told                                    =0")
		}, "shop", "connect", "fail"},
		{"Redis clock wrong", func(p *patient) {
			p.redis = servers.Rewriting(t, redis.Addr, "\r\n$10\r\n17", "\r\n$10\r\n18")
		}, "store", "clock", "warn"},
		{"wrong password", func(p *patient) { p.password = "canary-wrong-password" }, "shop", "connect", "fail"},
		{"unreachable Redis", func(p *patient) { p.redis = gone.Addr }, "store", "connect", "fail"},
		{"Redis that forgets at restart", func(p *patient) { p.redis = forgetful.Addr }, "store", "promises", "warn"},
		{"write that is not refused", func(p *patient) {
			p.address = servers.Rewriting(t, m.Addr, "DROP TABLE IF EXISTS ", "SELECT 1 -- 12345678 ")
		}, "shop", "read-only session", "fail"},
		{"slow data source", func(p *patient) { p.address = slow.Addr }, "shop", "latency", "warn"},
		{"no TLS where it is demanded", func(p *patient) { p.more += "    tls: required\n" },
			"shop", "connect", "fail"},
		{"allowlist drifted", func(p *patient) { p.more += "    views: [e2e_doctor.t]\n" },
			"shop", "allowlist", "warn"},
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			p := healthy
			f.plant(&p)
			findings, code := diagnose(t, p, secrets)
			i := slices.IndexFunc(findings, func(one finding) bool {
				return one.Subject == f.subject && one.Check == f.check && one.Result == f.result
			})
			require.NotEqual(t, -1, i, "no finding says %s %s: %s; the findings are %+v",
				f.subject, f.check, f.result, findings)
			require.NotEmpty(t, findings[i].Fix, "%+v", findings[i])
			require.Equal(t, f.result == "fail", code == 1, "exit 1 exactly when something fails: %+v", findings)
		})
	}
}

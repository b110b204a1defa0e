package mysql_test

import (
	"crypto/tls"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/adapters/projectors/rows"
	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/test/servers"
)

// A value of the agent's that the server would misread is an error, with what to write: never rows,
// and never a finding that there are none.
func TestS12_AValueThatTheServerMisreads(t *testing.T) {
	r := newRig(t, shop(t))
	const isNoTime, isNoNumber = " is not a time: write one as '2024-01-31 23:59:00'", " is not a number: compare texts with texts, and numbers with numbers"
	const offset, utc = " has an offset, which a server may leave out: write '", "', the same time in UTC"
	for _, c := range []struct {
		sql    string
		params []any
		detail string
	}{
		{"SELECT id FROM ev WHERE at >= ?", []any{"yesterday"}, "'yesterday'" + isNoTime + ", in UTC"},
		{"SELECT id FROM ev WHERE at < ?", []any{"yesterday"}, "'yesterday'" + isNoTime + ", in UTC"},
		{"SELECT id FROM ev WHERE at > ?", []any{4102444800}, "4102444800" + isNoTime + ", or FROM_UNIXTIME of seconds"},
		{"SELECT id FROM ev WHERE at >= '2024-13-45'", nil, "'2024-13-45'" + isNoTime},
		{"SELECT id FROM ev WHERE at >= 'It''s \\\\ \\n late'", nil, `'It's \ ? late'` + isNoTime},
		{"SELECT id FROM ev WHERE at BETWEEN 'gestern' AND '2024-01-01'", nil, "'gestern'" + isNoTime},
		{"SELECT id FROM ev WHERE at IN ('2024-01-01', 'früher')", nil, "'früher'" + isNoTime},
		{"SELECT id FROM ev WHERE d = 'yesterday'", nil, "'yesterday'" + isNoTime},
		{"SELECT id FROM ev WHERE ts <> 'yesterday'", nil, "'yesterday'" + isNoTime},
		{"SELECT id FROM ev WHERE at >= DATE_SUB('now', INTERVAL 1 DAY)", nil, "'now'" + isNoTime},
		{"SELECT id FROM ev WHERE at >= CAST(? AS DATETIME)", []any{"soon"}, "'soon'" + isNoTime},
		{"SELECT id FROM ev WHERE DATE('nonsense') = d", nil, "'nonsense'" + isNoTime},
		{"SELECT id FROM ev WHERE DATEDIFF(?, at) > 1", []any{"tomorrow"}, "'tomorrow'" + isNoTime},
		{"SELECT UNIX_TIMESTAMP('x') AS u FROM ev", nil, "'x'" + isNoTime},
		{"SELECT YEAR('foo') AS y, COUNT(*) AS n FROM ev", nil, "'foo'" + isNoTime},
		{"SELECT id FROM ev WHERE at > CONCAT('2024-01-01 ', ?)", []any{"25:00"}, isNoTime},
		{"SELECT id FROM ev WHERE at = ?", []any{"2024-01-01T01:05:00+01:00"}, "'2024-01-01T01:05:00+01:00'" + offset + "2024-01-01 00:05:00" + utc},
		{"SELECT id FROM ev WHERE at >= '2024-01-01T00:05:00.25Z'", nil, offset + "2024-01-01 00:05:00.25" + utc},
		{"SELECT id FROM ev WHERE at BETWEEN ? AND ?", []any{"2024-01-01 01:05:00-0530", "2025-01-01"}, offset + "2024-01-01 06:35:00" + utc},
		{"SELECT id FROM ev WHERE DATE(?) = d", []any{"2024-01-01T01:05:00+01:00"}, offset + "2024-01-01 00:05:00" + utc},
		{"SELECT HOUR(?) AS h FROM ev", []any{"2024-01-01T01:05:00+01:00"}, offset + "2024-01-01 00:05:00" + utc},
		{"SELECT id FROM ev WHERE TIMESTAMPDIFF(HOUR, ?, at) > 0", []any{"2024-01-01T01:05:00+01:00"}, offset + "2024-01-01 00:05:00" + utc},
		{"SELECT id FROM ev WHERE at > DATE_ADD(?, INTERVAL 1 HOUR)", []any{"2024-01-01T01:05:00+01"}, offset + "2024-01-01 00:05:00" + utc},
		{"SELECT id FROM ev WHERE CAST(? AS DATE) = d", []any{"2024-01-01T01:05:00+01:00"}, offset + "2024-01-01 00:05:00" + utc},
		{"SELECT id FROM ev WHERE id = '2abc'", nil, "'2abc'" + isNoNumber},
		{"SELECT id FROM ev WHERE id IN (?, 1)", []any{"1x"}, "'1x'" + isNoNumber},
		{"SELECT id FROM ev WHERE id > 'abc'", nil, "'abc'" + isNoNumber},
		{"SELECT id FROM ev WHERE f = ''", nil, "''" + isNoNumber},
		{"SELECT CAST('99999999999999999999' AS SIGNED) AS n FROM ev", nil, "'99999999999999999999'" + isNoNumber},
		{"SELECT CAST(300000000000 AS DECIMAL(3,0)) AS n FROM ev", nil, "does not fit the type that it is cast to"},
		{"SELECT CAST(id * 1000 AS DECIMAL(3,0)) AS n FROM ev", nil, "does not fit the type that it is cast to"},
		{"SELECT id FROM ev WHERE lvl AND 'abc'", nil, "'abc'" + isNoNumber},
		{"SELECT t FROM texts WHERE t > 0", nil, "too many stored values"},
	} {
		_, err := r.Execute(t.Context(), r.plan(t, c.sql, c.params...), 1<<20)
		require.Equal(t, fault.ExecutionFailed, fault.CodeOf(err), c.sql)
		require.Equal(t, "VALUE_INVALID", fault.Of(err).Reason, c.sql)
		require.Contains(t, fault.Of(err).Detail, c.detail, c.sql)
		r.safe(t, err, "Truncated", "Incorrect")
	}
	require.Len(t, r.ask(t, "SELECT id FROM ev WHERE at >= ?", "2024-01-01 00:05:00"), 3, "the session is still good")
}

// Without seconds the server takes the offset for them, and does not warn.
func TestS12_AnOffsetAfterMinutesIsRefused(t *testing.T) {
	r := rigFor(t, "127.0.0.1:1", "u", "p")
	for value, utc := range map[string]string{
		"2024-01-01T01:05+01": "2024-01-01 00:05:00", "2024-01-01 01:05-05:30": "2024-01-01 06:35:00", "2024-01-01T01:05 +0100": "2024-01-01 00:05:00",
	} {
		_, asParam := r.Prepare(request(t, "SELECT id FROM ev WHERE at > ?", value), scope)
		_, asLiteral := r.Prepare(request(t, "SELECT id FROM ev WHERE at > '"+value+"'"), scope)
		for _, err := range []error{asParam, asLiteral} {
			require.Equal(t, fault.QueryRejected, fault.CodeOf(err), value)
			require.Equal(t, "VALUE_INVALID", fault.Of(err).Reason)
			require.Contains(t, fault.Of(err).Detail, "write '"+utc+"'")
		}
	}
	for _, value := range []string{"2024-01-01T01:05", "2024-01-01", "01:05+01", "2024-01-01 01:05 pm", "x 2024-01-01T01:05+01 y"} {
		_, err := r.Prepare(request(t, "SELECT id FROM ev WHERE code = ?", value), scope)
		require.NoError(t, err)
	}
}

// answer is what an agent sees.
type answer struct {
	Warnings []struct {
		Text  string
		Count int
	}
	Rows [][]json.RawMessage
}

func (r *rig) answer(t *testing.T, sql string, params ...any) (answer, evidence.Status) {
	t.Helper()
	plan := r.plan(t, sql, params...)
	raw, err := r.Execute(t.Context(), plan, 1<<20)
	require.NoError(t, err, sql)
	p, err := rows.Projector{}.Project(raw, plan.Bounds)
	require.NoError(t, err)
	var got answer
	require.NoError(t, json.Unmarshal(p.AgentResult, &got))
	return got, p.Status
}

// Where stored values do not fit, the rows stand and say so; that there are none is not a finding.
func TestS12_AStoredValueThatDoesNotFit(t *testing.T) {
	r := newRig(t, shop(t))
	const number, aTime = "a stored value is not valid as a number", "a stored value is not valid as a time"
	for _, c := range []struct {
		sql    string
		params []any
		rows   int
		texts  map[string]int
	}{
		{"SELECT id FROM ev WHERE lvl = 0", nil, 3, map[string]int{number: 3}},
		{"SELECT id FROM ev WHERE lvl = 0 LIMIT 1", nil, 1, map[string]int{number: 1}},
		{"SELECT SUM(code) AS s FROM ev", nil, 1, map[string]int{number: 2}},
		{"SELECT YEAR(code) AS y FROM ev WHERE id = 1", nil, 1, map[string]int{aTime: 1}},
		{"SELECT f / n AS q FROM ev ORDER BY id", nil, 3, map[string]int{"division by zero, which is NULL": 2}}, // once more to sort
		{"SELECT DATE_ADD(at, INTERVAL id * 9000 YEAR) AS later FROM ev WHERE id = 1", nil, 1,
			map[string]int{"a computed time is out of range, which is NULL": 1}},
		{"SELECT CAST(uid AS CHAR) AS u FROM ev WHERE id = 1", nil, 1, map[string]int{"a stored value is not valid as a text": 1}},
		{"SELECT CAST(lvl AS CHAR(2)) AS l FROM ev", nil, 3, nil},
		{"SELECT code FROM ev WHERE code = ?", []any{"2024-01-01T00:05:00Z"}, 1, nil}, // a text is compared with texts
	} {
		got, status := r.answer(t, c.sql, c.params...)
		require.Equal(t, evidence.Found, status)
		require.Len(t, got.Rows, c.rows, c.sql)
		texts := map[string]int{}
		for _, w := range got.Warnings {
			texts[w.Text] = w.Count
		}
		if c.texts == nil {
			c.texts = map[string]int{}
		}
		require.Equal(t, c.texts, texts, c.sql)
	}
	for _, sql := range []string{
		"SELECT id FROM ev WHERE lvl = 9", "SELECT id FROM ev WHERE code + 0 > 9000", "SELECT id FROM ev WHERE f / n > 100",
		"SELECT id FROM ev WHERE DATE_ADD(at, INTERVAL id * 9000 YEAR) < at", "SELECT lvl FROM ev GROUP BY lvl HAVING SUM(code) > 99999",
	} {
		_, err := r.Execute(t.Context(), r.plan(t, sql), 1<<20)
		require.Equal(t, fault.ExecutionFailed, fault.CodeOf(err), sql)
		require.Equal(t, "PARTIAL_ANSWER", fault.Of(err).Reason, sql)
		r.safe(t, err, "5abc", "info")
	}
	_, status := r.answer(t, "SELECT id FROM ev WHERE code = 'nothing'")
	require.Equal(t, evidence.None, status)
}

// Warnings cost a round trip only where there are any, with TLS and without.
func TestS12_WarningsAreCountedWithoutARoundTrip(t *testing.T) {
	trusted, cert, key := certificate(t)
	m := servers.MariaDB(t, "--ssl-cert="+cert, "--ssl-key="+key)
	load(t, m)
	for name, tweak := range map[string]tweak{
		"plain": func(*mysql.Source, *mysql.Options) {},
		"TLS": func(s *mysql.Source, _ *mysql.Options) {
			s.TLS = &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, m, tweak, func(s *mysql.Source, _ *mysql.Options) { connections(s, 1) })
			shown := func() (n int) {
				var variable string
				require.NoError(t, m.Admin(t).QueryRow("SHOW GLOBAL STATUS LIKE 'Com_show_warnings'").Scan(&variable, &n))
				return n
			}
			r.ask(t, simple)
			before := shown()
			for range 5 {
				r.ask(t, "SELECT id, at, code FROM ev WHERE id > ?", 0)
				r.ask(t, "SELECT id FROM ev WHERE id = 99")
			}
			require.Equal(t, before, shown())
			got, _ := r.answer(t, "SELECT id FROM ev WHERE lvl = 0")
			require.Len(t, got.Warnings, 1)
			require.Equal(t, before+1, shown())
		})
	}
}

// An answer says where the agent itself asked for a part of the rows; behind an OFFSET nothing is found
// of what the scope names.
func TestS39_LimitsOfTheAgentsOwn(t *testing.T) {
	r := newRig(t, shop(t))
	for sql, limited := range map[string]bool{
		"SELECT id FROM ev":                               false,
		"SELECT id FROM ev LIMIT 2":                       true,
		"SELECT id FROM ev LIMIT 3":                       true, // whether there is a fourth is not known
		"SELECT id FROM ev LIMIT 4":                       false,
		"SELECT id FROM ev LIMIT 4 OFFSET 1":              false,
		"SELECT id FROM ev LIMIT 100 OFFSET 3":            true,
		"SELECT id FROM ev WHERE id > 9":                  false,
		"SELECT id FROM ev WHERE id > 9 LIMIT 5":          false,
		"SELECT id FROM ev WHERE id > 9 LIMIT 5 OFFSET 1": true,
	} {
		plan := r.plan(t, sql)
		raw, err := r.Execute(t.Context(), plan, 1<<20)
		require.NoError(t, err)
		for _, bytes := range []limits.AgentBytes{limits.Default().AgentResult, 300} { // the scope is cut to fit
			bounds := plan.Bounds
			bounds.AgentResult = bytes
			p, err := rows.Projector{}.Project(raw, bounds)
			require.NoError(t, err)
			var got struct {
				Limited bool
				Scope   struct{ Offset uint64 }
				Rows    [][]json.RawMessage
			}
			require.NoError(t, json.Unmarshal(p.AgentResult, &got))
			require.Equal(t, limited, got.Limited, "%s %s", sql, p.AgentResult)
			require.Equal(t, len(got.Rows) == 0, p.Status == evidence.None)
			if p.Status == evidence.None {
				require.Equal(t, plan.Body.(*sqlguard.Plan).Offset, got.Scope.Offset)
				require.Equal(t, strings.Contains(sql, "OFFSET"), got.Scope.Offset > 0)
			}
		}
	}
}

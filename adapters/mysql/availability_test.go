package mysql_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/toolboundary/toolboundary/adapters/mysql"
	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/test/servers"
)

const simple = "SELECT id FROM customers WHERE id = 1"

// safe checks that an error and the log say nothing of the account, the address or the data.
func (r *rig) safe(t testing.TB, err error, secrets ...string) {
	t.Helper()
	secrets = append(secrets, r.user, r.password, "127.0.0.1", "SELECT", "denied", "canary")
	texts := []string{}
	for e := err; e != nil; e = errors.Unwrap(e) {
		texts = append(texts, e.Error(), fmt.Sprintf("%+v %#v", e, e))
	}
	if f := fault.Of(err); f != nil {
		texts = append(texts, f.Reason, f.Detail)
	}
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "m"})
	for _, line := range r.logs.All() {
		// The operator is told the statement as the guard printed it.
		line.Context = slices.DeleteFunc(slices.Clone(line.Context), func(f zapcore.Field) bool { return f.Key == "statement" })
		b, err := encoder.EncodeEntry(line.Entry, line.Context)
		require.NoError(t, err)
		texts = append(texts, strings.ReplaceAll(b.String(), "more than SELECT", ""))
	}
	for _, secret := range secrets {
		require.NotContains(t, strings.Join(texts, "\n"), secret)
	}
}

func (r *rig) fails(t testing.TB, sql string, code fault.Code, reason string) {
	t.Helper()
	_, err := r.Execute(t.Context(), r.plan(t, sql), 1<<20)
	require.Equal(t, code, fault.CodeOf(err))
	require.Equal(t, reason, fault.Of(err).Reason)
	r.safe(t, err)
}

func TestS23_WhyADataSourceIsUnavailable(t *testing.T) {
	m := shop(t)
	user, password := m.Account(t, grants...)
	hole := servers.Proxy(t, m.Addr)
	hole.Blackhole()
	for name, c := range map[string]struct {
		rig    *rig
		reason string
	}{
		"nobody listens":       {rigFor(t, "127.0.0.1:1", user, password), "NOT_REACHABLE"},
		"no such host":         {rigFor(t, "canary.invalid:3306", user, password), "NOT_REACHABLE"},
		"a wrong password":     {rigFor(t, m.Addr, user, "canary-password"), "LOGIN"},
		"an unknown user":      {rigFor(t, m.Addr, "canary-user", "canary-password"), "LOGIN"},
		"the account's secret": {rigFor(t, m.Addr, user, password, noAccount), "LOGIN"},
		"nothing answers":      {rigFor(t, hole.Addr, user, password, impatient), "CONNECT_TIMEOUT"},
		"no trusted authority": {rigFor(t, m.Addr, user, password, func(s *mysql.Source, _ *mysql.Options) {
			s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		}), "TLS"},
		"no such sql_mode": {rigFor(t, m.Addr, user, password, func(s *mysql.Source, _ *mysql.Options) {
			s.SQLModeExtra = []string{"TIME_TRUNCATE_FRACTIONAL"}
		}), "SESSION"},
	} {
		t.Run(name, func(t *testing.T) {
			c.rig.fails(t, simple, fault.DataSourceUnavailable, c.reason)
			require.Equal(t, map[string]fault.Code{"shop": fault.DataSourceUnavailable}, c.rig.Ready(t.Context()))
			require.NotZero(t, c.rig.logs.FilterMessage("cannot connect to the data source").Len(), "the operator is told")
		})
	}
}

func noAccount(s *mysql.Source, _ *mysql.Options) {
	s.Account = func() (string, string, error) { return "", "", errors.New("canary: no such file") }
}

func impatient(_ *mysql.Source, o *mysql.Options) {
	o.ConnectTimeout, o.KillTimeout = 500*time.Millisecond, 500*time.Millisecond
}

func TestAnUnreachableSourceStopsNoOther(t *testing.T) {
	m := shop(t)
	user, password := m.Account(t, grants...)
	account := func() (string, string, error) { return user, password, nil }
	g := guard(t, policy())
	both, err := mysql.New([]mysql.Source{
		{Source: server.Source{ID: "up", Address: m.Addr, Account: account}, Guard: g},
		{Source: server.Source{ID: "down", Address: "127.0.0.1:1", Account: account}, Guard: g},
	}, mysql.Options{}, zap.NewNop())
	require.NoError(t, err)
	defer func() { require.NoError(t, both.Close(t.Context())) }()
	require.Equal(t, []string{"down", "up"}, both.Describe().DataSources)
	require.Equal(t, map[string]fault.Code{"down": fault.DataSourceUnavailable}, both.Ready(t.Context()))
	require.NoError(t, both.Pool("up").Ping(t.Context()))
}

func TestWaitingForASessionIsBusy(t *testing.T) {
	m := shop(t)
	r := newRig(t, m, func(s *mysql.Source, o *mysql.Options) { connections(s, 1); o.SlotWait = 50 * time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	slow := r.plan(t, "SELECT nap FROM v_slow")
	go func() { _, err := r.Execute(ctx, slow, 1<<20); ended <- err }()
	r.await(t, m, "v_slow", 1)
	r.fails(t, simple, fault.DataSourceBusy, "NO_FREE_SESSION")
	require.Empty(t, r.Ready(t.Context()), "a source at work is ready")

	waiting, leave := context.WithCancel(t.Context())
	leave()
	_, err := r.Execute(waiting, slow, 1<<20)
	require.Equal(t, fault.ExecutionCancelled, fault.CodeOf(err))
	cancel()
	<-ended
	require.Len(t, r.ask(t, simple), 1)
}

func TestAFullServerIsBusy(t *testing.T) {
	m := shop(t)
	r := newRig(t, m)
	m.Load(t, fmt.Sprintf("ALTER USER '%s'@'%%' WITH MAX_USER_CONNECTIONS 1", r.user))
	require.NoError(t, r.operator().Ping(t.Context()))
	another := rigFor(t, m.Addr, r.user, r.password)
	another.fails(t, simple, fault.DataSourceBusy, "SERVER_FULL")
}

func TestARestartOfTheServerIsSurvived(t *testing.T) {
	m := servers.MariaDB(t, "--skip-name-resolve")
	load(t, m)
	r := newRig(t, m)
	require.Len(t, r.ask(t, simple), 1)
	m.Stop(t)
	r.fails(t, simple, fault.DataSourceUnavailable, "NOT_REACHABLE")
	m.Start(t)
	for range 10 {
		require.Len(t, r.ask(t, simple), 1)
	}
}

func TestConnectionsThatBreak(t *testing.T) {
	m := shop(t)
	user, password := m.Account(t, grants...)
	proxy := servers.Proxy(t, m.Addr)
	r := rigFor(t, proxy.Addr, user, password)
	require.Len(t, r.ask(t, simple), 1)

	proxy.KillConnections() // an idle session: nobody notices
	require.Len(t, r.ask(t, simple), 1)

	ended := make(chan error, 1)
	slow := r.plan(t, "SELECT nap FROM v_slow")
	go func() { _, err := r.Execute(t.Context(), slow, 1<<20); ended <- err }()
	r.await(t, m, "v_slow", 1)
	proxy.KillConnections() // in the middle of a statement
	err := <-ended
	require.Equal(t, fault.DataSourceUnavailable, fault.CodeOf(err))
	require.Equal(t, "CONNECTION_LOST", fault.Of(err).Reason)
	r.safe(t, err)
	r.await(t, m, "v_slow", 0) // the kill reached the server over a new connection

	require.Len(t, r.ask(t, simple), 1)
	proxy.CutReplies(40)
	_, err = r.Execute(t.Context(), r.plan(t, "SELECT name, country, created_at FROM customers"), 1<<20)
	require.Equal(t, fault.DataSourceUnavailable, fault.CodeOf(err))
	r.safe(t, err)
	proxy.Pass(t)
	require.Len(t, r.ask(t, simple), 1)
}

func TestAServerThatFallsSilent(t *testing.T) {
	m := shop(t)
	user, password := m.Account(t, grants...)
	proxy := servers.Proxy(t, m.Addr)
	r := rigFor(t, proxy.Addr, user, password, func(s *mysql.Source, o *mysql.Options) {
		s.QueryTimeout, o.KillTimeout = 2*time.Second, 500*time.Millisecond
	})
	require.Len(t, r.ask(t, simple), 1)
	proxy.Blackhole() // nothing comes back, not even of a kill
	r.fails(t, simple, fault.ExecutionTimeout, "")
	proxy.Pass(t)
	require.Len(t, r.ask(t, simple), 1)
}

func TestConfigurationProblemsAreAllNamed(t *testing.T) {
	account := func() (string, string, error) { return "", "", nil }
	_, err := mysql.New([]mysql.Source{
		{Source: server.Source{ID: "a", Address: "canary-host", SQLModeExtra: []string{"ANSI_QUOTES"}}},
		{Source: server.Source{ID: "b", Address: "h:1", Account: account, MaxConnections: -1}},
		{Source: server.Source{ID: "c", Address: "h:1", Account: account}},
		{Source: server.Source{ID: "c"}},
		{Source: server.Source{ID: "d", Address: "h:1", Account: account}, MaxCell: -1},
	}, mysql.Options{}, zap.NewNop())
	for _, want := range []string{
		`"a": its address`, `"a": it needs an account`, `"a": sql_mode "ANSI_QUOTES"`, `"b": its limits`,
		`"c" is listed twice`, `"d": its limits`,
	} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "canary")
}

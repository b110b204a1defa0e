package servers_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
)

// talker speaks Redis' inline protocol by hand: what arrives on the wire is what these tests are about.
type talker struct {
	t testing.TB
	net.Conn
	replies *bufio.Reader
}

func dial(t testing.TB, addr string) *talker {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, 10*time.Second)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return &talker{t: t, Conn: conn, replies: bufio.NewReader(conn)}
}

func (c *talker) ask(command string, wait time.Duration) (string, error) {
	c.t.Helper()
	if _, err := io.WriteString(c, command+"\r\n"); err != nil {
		return "", err
	}
	require.NoError(c.t, c.SetReadDeadline(time.Now().Add(wait)))
	return c.replies.ReadString('\n')
}

const (
	patient   = 20 * time.Second
	impatient = 200 * time.Millisecond
)

func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF)
}

func TestProxyPassesUntilToldOtherwise(t *testing.T) {
	r := servers.Redis(t, "--appendonly", "no")
	p := servers.Proxy(t, r.Addr)
	require.Zero(t, p.Accepted())
	c := dial(t, p.Addr)
	got, err := c.ask("PING", patient)
	require.NoError(t, err)
	require.Equal(t, "+PONG\r\n", got)
	require.Equal(t, 1, p.Accepted())
}

func TestProxyDropsRepliesOfWorkThatWasDone(t *testing.T) {
	r := servers.Redis(t, "--appendonly", "no")
	p := servers.Proxy(t, r.Addr)
	c := dial(t, p.Addr)
	p.DropReplies()
	got, err := c.ask("SET k done", impatient)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "the reply %q came through", got)
	require.Eventually(t, func() bool { return r.Client(t).Get(t.Context(), "k").Val() == "done" },
		patient, time.Millisecond, "the command should reach the server")
	p.Pass(t)
	got, err = dial(t, p.Addr).ask("PING", patient)
	require.NoError(t, err)
	require.Equal(t, "+PONG\r\n", got)
}

func TestProxyBlackholeKeepsRequestsFromTheServer(t *testing.T) {
	r := servers.Redis(t, "--appendonly", "no")
	p := servers.Proxy(t, r.Addr)
	open := dial(t, p.Addr)
	p.Blackhole()
	for name, c := range map[string]*talker{"open": open, "new": dial(t, p.Addr)} {
		got, err := c.ask("SET k reached", impatient)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "the %s connection got %q", name, got)
	}
	require.Empty(t, r.Client(t).Get(t.Context(), "k").Val())
}

func TestProxyCutsAReplyInTheMiddle(t *testing.T) {
	r := servers.Redis(t, "--appendonly", "no")
	p := servers.Proxy(t, r.Addr)
	c := dial(t, p.Addr)
	p.CutReplies(3)
	got, err := c.ask("SET k done", patient)
	require.True(t, isReset(err), "%v", err)
	require.LessOrEqual(t, len(got), 3) // a reset may overtake what was sent before it
	require.Equal(t, "done", r.Client(t).Get(t.Context(), "k").Val())
}

func TestProxyKillsOpenConnectionsOnly(t *testing.T) {
	p := servers.Proxy(t, servers.Redis(t, "--appendonly", "no").Addr)
	c := dial(t, p.Addr)
	_, err := c.ask("PING", patient)
	require.NoError(t, err)
	p.KillConnections()
	_, err = c.ask("PING", patient)
	require.True(t, isReset(err), "%v", err)
	_, err = dial(t, p.Addr).ask("PING", patient)
	require.NoError(t, err)
}

func TestProxyRefusesAndListensAgainOnItsPort(t *testing.T) {
	p := servers.Proxy(t, servers.Redis(t, "--appendonly", "no").Addr)
	c := dial(t, p.Addr)
	_, err := c.ask("PING", patient)
	require.NoError(t, err)
	p.Refuse()
	_, err = c.ask("PING", patient)
	require.True(t, isReset(err), "%v", err)
	_, err = net.DialTimeout("tcp", p.Addr, patient)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	p.Pass(t)
	_, err = dial(t, p.Addr).ask("PING", patient)
	require.NoError(t, err)
}

func TestProxyDelaysAndRetargets(t *testing.T) {
	a, b := servers.Redis(t, "--appendonly", "no"), servers.Redis(t, "--appendonly", "no")
	require.NoError(t, b.Client(t).Set(t.Context(), "who", "b", 0).Err())
	p := servers.Proxy(t, a.Addr)
	p.Delay(time.Hour)
	got, err := dial(t, p.Addr).ask("PING", impatient)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "the reply %q was not delayed", got)
	p.Delay(0)
	p.Retarget(b.Addr)
	got, err = dial(t, p.Addr).ask("GET who", patient)
	require.NoError(t, err)
	require.Equal(t, "$1\r\n", got)
}

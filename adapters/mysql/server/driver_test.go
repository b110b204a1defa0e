package server

import (
	"database/sql/driver"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

type otherRows struct {
	driver.Rows
	rs struct{ columns []struct{ flags string } }
}

// What the driver keeps elsewhere is not made up.
func TestColumnFlagsOfAnotherDriver(t *testing.T) {
	require.Nil(t, ColumnFlags(nil))
	require.Nil(t, ColumnFlags(struct{ driver.Rows }{}))
	require.Nil(t, ColumnFlags(&struct{ driver.Rows }{}))
	other := &otherRows{}
	require.Empty(t, ColumnFlags(other))
	other.rs.columns = make([]struct{ flags string }, 1)
	require.Nil(t, ColumnFlags(other))
}

type otherConn struct {
	driver.Conn
	netConn *net.TCPConn
}

func TestADriverThatCannotBeFollowed(t *testing.T) {
	require.Nil(t, follow(struct{ driver.Conn }{}))
	require.Nil(t, follow(&struct{ driver.Conn }{}))
	require.Nil(t, follow(&otherConn{}))
}

// The count is read from the packet that ends rows, in both of its forms, however the bytes arrive.
func TestTheTailCountsWarnings(t *testing.T) {
	for text, want := range map[string]int{
		"\x07\x00\x00\x05\xfe\x00\x00\x02\x00\x03\x01": 259, "\x05\x00\x00\x09\xfe\x02\x00\x22\x00": 2, "\x07\x00\x00\x05\xfe\x00\x00\x02\x00\x00\x00": 0,
		"\x07\x00\x00\x05\x00\x00\x00\x02\x00\x01\x00": -1, "": -1, "\x07\x00\x00\x05\xfe\x01\x00\x02\x00\x01\x00": -1,
	} {
		for step := 1; step < 40; step++ {
			source := []byte("what came before" + text)
			tail := tail{Conn: &fakeConn{rest: source}}
			for {
				if _, err := tail.Read(make([]byte, step)); err != nil {
					break
				}
			}
			n, known := tail.warnings()
			require.Equal(t, want >= 0, known, "%q in steps of %d", text, step)
			require.Equal(t, max(want, 0), n)
		}
	}
}

type fakeConn struct {
	net.Conn
	rest []byte
}

func (c *fakeConn) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

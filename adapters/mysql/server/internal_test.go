package server

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"testing"
	"time"

	driverpkg "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
)

func TestGrantsThatDoMoreThanRead(t *testing.T) {
	for line, want := range map[string][]string{
		"GRANT USAGE ON *.* TO `u`@`%` IDENTIFIED BY PASSWORD '*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29'": nil,
		"GRANT SELECT ON `shop`.* TO `u`@`%`":                                       nil,
		"GRANT SELECT (`id`, `INSERT`), UPDATE (`a ON b`) ON `shop`.`t` TO `u`@`%`": {"UPDATE"},
		"GRANT SELECT, SHOW VIEW ON `x ON y`.* TO `u`@`%` WITH GRANT OPTION":        {"SHOW VIEW", "GRANT OPTION"},
		"GRANT SELECT ON `a WITH GRANT OPTION`.* TO `u`@`%`":                        nil,
		"GRANT EXECUTE ON FUNCTION `shop`.`f` TO `u`@`%`":                           {"EXECUTE"},
		"GRANT PROXY ON ''@'' TO 'root'@'localhost' WITH GRANT OPTION":              {"PROXY", "GRANT OPTION"},
		"GRANT SELECT, SYSTEM_VARIABLES_ADMIN ON *.* TO `u`@`%`":                    {"SYSTEM_VARIABLES_ADMIN"},
		"GRANT `reader`@`%` TO `u`@`%`":                                             {"ROLE"},
		"SET DEFAULT ROLE `reader` FOR `u`@`%`":                                     nil,
		"REVOKE INSERT ON `shop`.* FROM `u`@`%`":                                    {"UNKNOWN"},
		"something else":                                                            {"UNKNOWN"},
		"GRANT SELECT, `x`@`y` ON `shop`.* TO `u`@`%`":                              {"UNKNOWN"},
		"GRANT ALL PRIVILEGES ON `shop`.* TO `u`@`%`":                               {"ALL PRIVILEGES"},
		"GRANT SELECT ON `we``ird`.* TO `u`@`%`":                                    nil,
		"GRANT SELECT ON *.* TO `u`@`%` REQUIRE SSL WITH MAX_QUERIES_PER_HOUR 5":    nil,
		"GRANT SELECT ON *.* TO `u`@`%` WITH GRANT OPTION MAX_QUERIES_PER_HOUR 5":   {"GRANT OPTION"},
		"GRANT SELECT ON `shop`.* TO `a WITH GRANT OPTION`@`%`":                     nil,
		"GRANT SELECT, INSERT, UPDATE, DELETE ON `shop`.* TO `u`@`%`":               {"INSERT", "UPDATE", "DELETE"},
	} {
		require.Equal(t, want, grantBeyondRead(line, false), line)
	}
	require.Nil(t, grantBeyondRead("GRANT `reader` TO `u`@`%`", true), "MariaDB lists what the role may do besides")
	require.Equal(t, []string{"ROLE"}, grantBeyondRead("GRANT `reader` TO `u`@`%` WITH ADMIN OPTION", true))
}

func TestS23_EveryServerErrorIsMapped(t *testing.T) {
	for n, want := range map[uint16]fault.Code{
		1969: fault.ExecutionTimeout, 3024: fault.ExecutionTimeout, 1317: fault.ExecutionFailed,
		1040: fault.DataSourceBusy, 1203: fault.DataSourceBusy, 1226: fault.DataSourceBusy,
		1053: fault.DataSourceUnavailable, 1064: fault.ExecutionFailed, 9999: fault.ExecutionFailed,
	} {
		f := Fault(fmt.Errorf("wrapped: %w", &driverpkg.MySQLError{Number: n, Message: "canary"}))
		require.Equal(t, want, f.Code, n)
		require.NotContains(t, fmt.Sprintf("%+v %#v %v", f, f, f.Unwrap()), "canary")
		require.ErrorContains(t, f.Unwrap(), fmt.Sprint(n))
	}
	for n, reason := range reasons {
		f := Fault(&driverpkg.MySQLError{Number: n})
		require.True(t, f.Code.Known())
		require.NotEmpty(t, details[reason], "every reason has its sentence")
		require.Equal(t, reason, f.Reason)
	}
	require.Equal(t, fault.DataSourceUnavailable, Fault(io.ErrUnexpectedEOF).Code)
}

func TestTheWireIsBoundedAndCanBeCut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, _ = c.Write(make([]byte, 1000))
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	w := newWire(c.(*net.TCPConn))
	s := &Session{wire: w}
	s.Allow(100)
	n, err := io.ReadFull(w, make([]byte, 200))
	require.Equal(t, 100, n)
	require.ErrorIs(t, err, errFlood)
	require.True(t, s.Flooded())
	s.Allow(math.MaxInt64)
	_, err = io.ReadFull(w, make([]byte, 900))
	require.NoError(t, err)
	blocked := make(chan error, 1)
	go func() { _, err := w.Read(make([]byte, 1)); blocked <- err }()
	s.Cut()
	require.True(t, errors.Is(<-blocked, net.ErrClosed))
}

func TestFlavours(t *testing.T) {
	for version, want := range map[string]struct{ product, limit string }{
		"10.11.19-MariaDB-0+deb12u1": {productMariaDB, "1.500"}, "5.5.5-10.3.39-MariaDB": {productMariaDB, "1.500"},
		"8.0.36": {productMySQL, "1500"}, "8.4.0-commercial": {productMySQL, "1500"},
	} {
		f := flavourOf(version)
		require.Equal(t, want.product, f.product)
		require.Equal(t, want.limit, f.limitText(1500*time.Millisecond))
		require.NotEqual(t, "0", f.limitText(0), "zero would mean no limit")
		require.NotEqual(t, "0.000", f.limitText(time.Microsecond))
	}
}

// A session is kept after an error of the server, unless it stopped the statement or goes away.
func TestUsable(t *testing.T) {
	for n, want := range map[uint16]bool{1064: true, 1690: true, 1969: false, 3024: false, 1317: false, 1927: false, 1053: false, 3169: false, 4031: false} {
		require.Equal(t, want, Usable(&driverpkg.MySQLError{Number: n}), n)
	}
	require.False(t, Usable(io.ErrUnexpectedEOF), "the server did not answer")
}

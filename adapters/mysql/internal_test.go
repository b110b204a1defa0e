package mysql

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"testing"
	"time"

	driverpkg "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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
		1969: fault.ExecutionTimeout, 3024: fault.ExecutionTimeout, 1317: fault.ExecutionFailed, 1040: fault.DataSourceBusy, 1203: fault.DataSourceBusy, 1226: fault.DataSourceBusy,
		1053: fault.DataSourceUnavailable, 1064: fault.ExecutionFailed, 9999: fault.ExecutionFailed,
	} {
		f, _ := statementFault(fmt.Errorf("wrapped: %w", &driverpkg.MySQLError{Number: n, Message: "canary"}))
		require.Equal(t, want, f.Code, n)
		require.NotContains(t, fmt.Sprintf("%+v %#v %v", f, f, f.Unwrap()), "canary")
		require.ErrorContains(t, f.Unwrap(), fmt.Sprint(n))
	}
	for n, reason := range reasons {
		f, alarm := statementFault(&driverpkg.MySQLError{Number: n})
		require.True(t, f.Code.Known())
		require.NotEmpty(t, details[reason], "every reason has its sentence")
		require.Equal(t, reason == reasonDisagrees, alarm)
	}
	f, alarm := statementFault(io.ErrUnexpectedEOF)
	require.Equal(t, fault.DataSourceUnavailable, f.Code)
	require.False(t, alarm)
}

// What no server at hand stores: MySQL's own JSON type, and values that are not JSON.
func TestS37_ValuesThatOtherServersSend(t *testing.T) {
	row := []driver.Value{[]byte(`{"a": 12345678901234567890.50}`), []byte(`{"a":`), []byte("\xff"), []byte("\xff\xfe"), math.Inf(1), math.NaN(), float32(0.1), int64(1) << 53, int64(1)<<53 + 1, nil, "text"}
	types := []string{"JSON", "JSON", "JSON", "VARCHAR", "DOUBLE", "DOUBLE", "FLOAT", "BIGINT", "BIGINT", "NULL", "VARCHAR"}
	encoders := make([]encoder, len(types))
	for i, n := range types {
		encoders[i] = encoderOf(n)
	}
	got, err := appendRow(nil, row, encoders)
	require.NoError(t, err)
	require.Equal(t, `[{"a": 12345678901234567890.50},"{\"a\":",{"base64":"/w=="},{"base64":"//4="},null,null,0.1,9007199254740992,"9007199254740993",null,"text"]`, string(got))
	_, err = appendRow(nil, []driver.Value{time.Time{}}, encoders[:1])
	require.Equal(t, fault.ExecutionFailed, fault.CodeOf(err))
}

// Any value of any type makes valid JSON that says the same again.
func TestS37_AnyValue(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		i, f, b := rapid.Int64().Draw(rt, "int"), rapid.Float64().Draw(rt, "float"), rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes")
		out, err := appendRow(nil, []driver.Value{i, f, b, b, b}, []encoder{nil, nil, encoderOf("TEXT"), encoderOf("BLOB"), encoderOf("JSON")})
		require.NoError(rt, err)
		require.True(rt, json.Valid(out), "%s", out)
		var cells []json.RawMessage
		require.NoError(rt, json.Unmarshal(out, &cells))
		var float float64
		require.NoError(rt, json.Unmarshal(cells[1], &float))
		require.Equal(rt, f, float)
		var text string
		if json.Unmarshal(cells[2], &text) == nil {
			require.Equal(rt, string(b), text)
		}
		var binary struct{ Base64 []byte }
		require.NoError(rt, json.Unmarshal(cells[3], &binary))
		require.Equal(rt, string(b), string(binary.Base64))
	})
}

// A row's bytes on the wire pass its bytes in JSON by less than the slack, or a row that fits
// would be cut off: the worst are many short numbers and many long length prefixes.
func TestS20_TheSlackCoversTheWidestRow(t *testing.T) {
	const columns = 4096
	numbers, texts := make([]driver.Value, columns), make([]driver.Value, columns)
	for i := range columns {
		numbers[i], texts[i] = int64(1), []byte("")
	}
	encoders := make([]encoder, columns)
	for i := range encoders {
		encoders[i] = appendText
	}
	head := 4 + 1 + (columns+9)/8
	for name, c := range map[string]struct {
		row  []driver.Value
		wire int
	}{"numbers": {numbers, head + 8*columns}, "texts": {texts, head + 9*columns}} {
		out, err := appendRow(nil, c.row, encoders)
		require.NoError(t, err)
		require.Less(t, c.wire-len(out), slack/2, name)
	}
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
	w.allow(100)
	n, err := io.ReadFull(w, make([]byte, 200))
	require.Equal(t, 100, n)
	require.ErrorIs(t, err, errFlood)
	require.True(t, w.flooded.Load())
	w.allow(math.MaxInt64)
	_, err = io.ReadFull(w, make([]byte, 900))
	require.NoError(t, err)
	blocked := make(chan error, 1)
	go func() { _, err := w.Read(make([]byte, 1)); blocked <- err }()
	w.cut()
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

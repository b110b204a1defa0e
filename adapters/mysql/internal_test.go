package mysql

import (
	"database/sql/driver"
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// What no server at hand stores: MySQL's own JSON type, and values that are not JSON.
func TestS37_ValuesThatOtherServersSend(t *testing.T) {
	row := []driver.Value{[]byte(`{"a": 12345678901234567890.50}`), []byte(`{"a":`), []byte("\xff"), []byte("\xff\xfe"), math.Inf(1), math.NaN(), float32(0.1), int64(1) << 53, int64(1)<<53 + 1, nil, "text"}
	types := []string{"JSON", "JSON", "JSON", "VARCHAR", "DOUBLE", "DOUBLE", "FLOAT", "BIGINT", "BIGINT", "NULL", "VARCHAR"}
	encoders := make([]column, len(types))
	for i, n := range types {
		encoders[i].encoder = encoderOf(kind{name: n})
	}
	got, err := appendRow(nil, row, encoders)
	require.NoError(t, err)
	require.Equal(t, `[{"a": 12345678901234567890.50},"{\"a\":",{"base64":"/w=="},{"base64":"//4="},null,null,0.1,9007199254740992,"9007199254740993",null,"text"]`, string(got))
	_, err = appendRow(nil, []driver.Value{time.Time{}}, encoders[:1])
	require.Equal(t, fault.ExecutionFailed, fault.CodeOf(err))
}

func TestS37_NumbersHaveOneForm(t *testing.T) {
	for _, c := range []struct {
		kind        kind
		value, want string
	}{
		{kind{name: "BIT"}, "\xaa", `170`}, {kind{name: "BIT", computed: true}, "170", `170`},
		{kind{name: "BIT"}, "\x00", `0`}, {kind{name: "BIT"}, "\xff\xff\xff\xff\xff\xff\xff\xff", `"18446744073709551615"`},
		{kind{name: "BIT"}, "\x00\x20\x00\x00\x00\x00\x00\x00", `9007199254740992`},
		{kind{name: "BIT"}, "\x00\x20\x00\x00\x00\x00\x00\x01", `"9007199254740993"`},
		{kind{name: "BIT", computed: true}, "9007199254740993", `"9007199254740993"`},
		{kind{name: "DECIMAL"}, "9007199254740992", `9007199254740992`}, {kind{name: "DECIMAL"}, "-9007199254740993", `"-9007199254740993"`},
		{kind{name: "DECIMAL"}, "00042", `42`}, {kind{name: "DECIMAL"}, "0000123456789012345678901234567890", `"123456789012345678901234567890"`},
		{kind{name: "DECIMAL", scale: 2}, "000042.50", `"42.50"`}, {kind{name: "DECIMAL", scale: 2}, "000000.50", `"0.50"`},
		{kind{name: "DECIMAL", scale: 2}, "-00.50", `"-0.50"`},
	} {
		require.Equal(t, c.want, string(encoderOf(c.kind)(nil, []byte(c.value))), "%+v %q", c.kind, c.value)
	}
}

// Any value of any type makes valid JSON that says the same again.
func TestS37_AnyValue(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		i, f, b := rapid.Int64().Draw(rt, "int"), rapid.Float64().Draw(rt, "float"), rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes")
		out, err := appendRow(nil, []driver.Value{i, f, b, b, b}, []column{{}, {}, {encoder: encoderOf(kind{name: "TEXT"})}, {encoder: encoderOf(kind{name: "BLOB"})},
			{encoder: encoderOf(kind{name: "JSON"})}})
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
	encoders := make([]column, columns)
	for i := range encoders {
		encoders[i].encoder = appendText
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

package mysql

import (
	"database/sql/driver"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/domain/fault"
)

// encoder appends a column's bytes as JSON; other kinds of values do not depend on the column.
type encoder func(out, value []byte) []byte

// encoderOf chooses by the driver's name of the column's type.
func encoderOf(typeName string) encoder {
	switch typeName {
	case "JSON":
		return appendJSON
	case "BIT", "BLOB", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB", "BINARY", "VARBINARY", "GEOMETRY", "VECTOR":
		return appendBinary
	default: // texts, DECIMAL, temporal types, and integers past 63 bits, all of which are strings
		return appendText
	}
}

// appendRow appends a row as a JSON array.
func appendRow(out []byte, row []driver.Value, encoders []encoder) ([]byte, error) {
	out = append(out, '[')
	for i, v := range row {
		if i > 0 {
			out = append(out, ',')
		}
		switch v := v.(type) {
		case nil:
			out = append(out, "null"...)
		case int64:
			out = appendInteger(out, v)
		case float64:
			out = appendFloat(out, v, 64)
		case float32:
			out = appendFloat(out, float64(v), 32)
		case []byte:
			out = encoders[i](out, v)
		case string:
			out = encoders[i](out, []byte(v))
		default:
			return nil, fault.Because(fault.ExecutionFailed, "RESULT_UNREADABLE", "").WithCause(server.Phase("value"))
		}
	}
	return append(out, ']'), nil
}

// exact bounds the integers that a double holds exactly; most readers of JSON turn numbers into
// doubles.
const exact = 1 << 53

func appendInteger(out []byte, v int64) []byte {
	if v > exact || v < -exact {
		out = append(out, '"')
		return append(strconv.AppendInt(out, v, 10), '"')
	}
	return strconv.AppendInt(out, v, 10)
}

// appendFloat writes the shortest number that reads back as the same value.
func appendFloat(out []byte, v float64, bits int) []byte {
	if math.IsInf(v, 0) || math.IsNaN(v) { // no server stores them, and JSON has no form for them
		return append(out, "null"...)
	}
	format := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(out, v, format, -1, bits)
}

// appendText appends a JSON string. What is not UTF-8 is shown as binary rather than replaced.
func appendText(out, value []byte) []byte {
	if !utf8.Valid(value) {
		return appendBinary(out, value)
	}
	out, _ = jsontext.AppendQuote(out, value) // fails on invalid UTF-8 only
	return out
}

func appendBinary(out, value []byte) []byte {
	out = append(out, `{"base64":"`...)
	out = base64.StdEncoding.AppendEncode(out, value)
	return append(out, `"}`...)
}

// appendJSON splices MySQL's JSON documents in as they are: their numbers must not pass
// through doubles.
func appendJSON(out, value []byte) []byte {
	if !json.Valid(value) || !utf8.Valid(value) {
		return appendText(out, value)
	}
	return append(out, value...)
}

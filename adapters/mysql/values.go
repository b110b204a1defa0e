package mysql

import (
	"bytes"
	"database/sql/driver"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/ports/rowset"
)

// encoder appends a column's bytes as JSON; other kinds of values do not depend on the column.
type encoder func(out, value []byte) []byte

// column writes the cells of one column.
type column struct {
	encoder
	sensitive bool
}

// kind is what a column of a result is, as far as it decides the form of its values. The forms, one
// for each type, are those of docs/values.md.
type kind struct {
	// name is the driver's name of the type.
	name string
	// scale is the number of digits after the point of a DECIMAL.
	scale int64
	// computed is set where the server sends a BIT as digits.
	computed bool
}

// kinds returns what the columns of a result are.
func kinds(rows driver.Rows) ([]kind, error) {
	flags := server.ColumnFlags(rows)
	if flags == nil {
		return nil, fault.Because(fault.ExecutionFailed, "RESULT_UNREADABLE", "").WithCause(server.Phase("column flags"))
	}
	names, scales := rows.(driver.RowsColumnTypeDatabaseTypeName), rows.(driver.RowsColumnTypePrecisionScale)
	out := make([]kind, len(flags))
	for i, f := range flags {
		_, scale, _ := scales.ColumnTypePrecisionScale(i)
		out[i] = kind{name: names.ColumnTypeDatabaseTypeName(i), scale: scale, computed: f&server.FlagBinary != 0}
	}
	return out, nil
}

// encoderOf chooses by what the column is.
func encoderOf(k kind) encoder {
	switch k.name {
	case "JSON":
		return appendJSON
	case "BIT":
		if k.computed {
			return appendWhole
		}
		return appendBits
	case "DECIMAL":
		if k.scale == 0 {
			return appendWhole
		}
		return appendDecimal
	case "BLOB", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB", "BINARY", "VARBINARY", "GEOMETRY", "VECTOR":
		return appendBinary
	default: // texts, temporal types, and integers past 63 bits, all of which are strings
		return appendText
	}
}

// appendRow appends a row as a JSON array.
func appendRow(out []byte, row []driver.Value, columns []column) ([]byte, error) {
	out = append(out, '[')
	for i, v := range row {
		if i > 0 {
			out = append(out, ',')
		}
		from := len(out)
		var err error
		if out, err = columns[i].appendValue(out, v); err != nil {
			return nil, err
		}
		if columns[i].sensitive {
			if out, err = rowset.PadSensitive(out, from); err != nil {
				return nil, err
			}
		}
	}
	return append(out, ']'), nil
}

// appendValue appends a value as JSON.
func (c column) appendValue(out []byte, v driver.Value) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(out, "null"...), nil
	case int64:
		return appendInteger(out, v), nil
	case float64:
		return appendFloat(out, v, 64), nil
	case float32:
		return appendFloat(out, float64(v), 32), nil
	case []byte:
		return c.encoder(out, v), nil
	case string:
		return c.encoder(out, []byte(v)), nil
	}
	return nil, fault.Because(fault.ExecutionFailed, "RESULT_UNREADABLE", "").WithCause(server.Phase("value"))
}

// exact bounds the integers that a double holds exactly; most readers of JSON turn numbers into
// doubles.
const exact = 1 << 53

// appendInteger writes a number where a double holds it, else a text.
func appendInteger(out []byte, v int64) []byte {
	if v > exact || v < -exact {
		out = append(out, '"')
		return append(strconv.AppendInt(out, v, 10), '"')
	}
	return strconv.AppendInt(out, v, 10)
}

// appendBits writes the bytes of a BIT as the number that they are.
func appendBits(out, value []byte) []byte {
	if len(value) > 8 {
		return appendBinary(out, value)
	}
	var n uint64
	for _, b := range value {
		n = n<<8 | uint64(b)
	}
	if n > exact {
		return append(strconv.AppendUint(append(out, '"'), n, 10), '"')
	}
	return strconv.AppendUint(out, n, 10)
}

// appendWhole writes the digits of a whole number as appendInteger does.
func appendWhole(out, value []byte) []byte {
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return appendInteger(out, n)
	}
	return appendDecimal(out, value)
}

// appendDecimal writes a decimal number as text, without the zeros that ZEROFILL puts before it.
func appendDecimal(out, value []byte) []byte {
	digits, negative := bytes.CutPrefix(value, []byte("-"))
	for len(digits) > 1 && digits[0] == '0' && digits[1] != '.' {
		digits = digits[1:]
	}
	if negative {
		digits = append([]byte("-"), digits...)
	}
	return appendText(out, digits)
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

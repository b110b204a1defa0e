package strictyaml

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// ByteSize is a number of bytes, written as 64KiB, 4MiB, 1GiB or a plain number.
type ByteSize int64

var sizeUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

var errSize = errors.New("not a size in bytes")

// UnmarshalText reads a whole number with an optional unit B, KiB, MiB, GiB or TiB.
func (s *ByteSize) UnmarshalText(text []byte) error {
	number, unit := string(text), int64(1)
	for _, u := range sizeUnits {
		if before, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSuffix(before, " "), u.bytes
			break
		}
	}
	n, err := decimal(number)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return errSize
	}
	*s = ByteSize(n * unit)
	return nil
}

// String returns the size in the largest unit that divides it, such as 64KiB.
func (s ByteSize) String() string {
	for _, u := range sizeUnits {
		if n := int64(s); n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return "0B"
}

// MarshalText returns String.
func (s ByteSize) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Hint implements [Hinter].
func (ByteSize) Hint() string { return "Write a whole number with a unit, such as 64KiB or 4MiB." }

// JSONSchema implements [Schemer].
func (ByteSize) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "integer", Minimum: jsonschema.Ptr(0.0)},
		{Type: "string", Pattern: `^[0-9]+ ?(B|KiB|MiB|GiB|TiB)$`},
	}}
}

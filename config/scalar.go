package config

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

func (ByteSize) hint() string { return "Write a whole number with a unit, such as 64KiB or 4MiB." }

func (ByteSize) schema() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "integer", Minimum: jsonschema.Ptr(0.0)},
		{Type: "string", Pattern: `^[0-9]+ ?(B|KiB|MiB|GiB|TiB)$`},
	}}
}

// decimal reads a whole number. Leading zeros and underscores are refused: YAML's versions
// disagree on what they mean.
func decimal(text string) (int64, error) {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" || (len(digits) > 1 && digits[0] == '0') {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(text, 10, 64)
}

// File is the name of a file; a relative one is relative to the configuration file.
type File string

// TLSMode says how a connection is encrypted. In YAML also false (disabled) and true (verify).
type TLSMode string

// The modes of a TLS connection.
const (
	// TLSDisabled sends everything in the clear.
	TLSDisabled TLSMode = "disabled"
	// TLSRequired encrypts, but takes any certificate.
	TLSRequired TLSMode = "required"
	// TLSVerify encrypts and checks the certificate and the host's name.
	TLSVerify TLSMode = "verify"
)

// UnmarshalText reads a mode, or true or false.
func (m *TLSMode) UnmarshalText(text []byte) error {
	switch mode := TLSMode(text); mode {
	case "true":
		*m = TLSVerify
	case "false":
		*m = TLSDisabled
	case TLSDisabled, TLSRequired, TLSVerify:
		*m = mode
	default:
		return errMode
	}
	return nil
}

var errMode = errors.New("not a TLS mode")

func (TLSMode) hint() string { return "Write true, false, verify, required or disabled." }

func (TLSMode) schema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Enum:        []any{true, false, string(TLSVerify), string(TLSRequired), string(TLSDisabled)},
		Description: "true or verify: encrypted, certificate checked. required: encrypted, any certificate. false or disabled: in the clear.",
	}
}

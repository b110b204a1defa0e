package config

import (
	"crypto/subtle"
	"fmt"
	"log/slog"
)

const masked = "[REDACTED]"

// Secret is a value that must not be shown. Every way of printing or encoding it gives
// [REDACTED]; Reveal is the only way out.
type Secret struct {
	// reveal is a function because whatever prints unexported fields by reflection follows
	// strings, slices and pointers, but can show no more of a function than its address.
	reveal func() string
	origin string
}

// NewSecret returns a secret with this value; origin says where it came from and may be shown.
func NewSecret(value, origin string) Secret {
	return Secret{reveal: func() string { return value }, origin: origin}
}

// SetSecret implements strictyaml.Secret.
func (s *Secret) SetSecret(value, origin string, found bool) {
	*s = Secret{origin: origin}
	if found {
		*s = NewSecret(value, origin)
	}
}

// Reveal returns the value, "" when there is none. Hand it to the client library, nothing else.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// IsSet reports whether there is a value.
func (s Secret) IsSet() bool { return s.reveal != nil }

// Origin says where the secret comes from, such as "environment variable SHOP_PASSWORD"; it is
// empty when the configuration names no place. It may be shown, and tells the Validate of a kind
// whether a secret is configured, also when secrets are not read.
func (s Secret) Origin() string { return s.origin }

// given reports whether the configuration names a place for the secret.
func (s Secret) given() bool { return s.origin != "" }

// equal compares two secrets in a time that does not depend on their values.
func (s Secret) equal(other Secret) bool {
	return s.IsSet() == other.IsSet() && subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(other.Reveal())) == 1
}

// String returns the mask.
func (s Secret) String() string { return masked }

// Format writes the mask for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(masked)) }

// MarshalText returns the mask, for every encoder that asks for text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// MarshalJSON returns the mask as a JSON string.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + masked + `"`), nil }

// MarshalYAML returns the mask.
func (s Secret) MarshalYAML() (any, error) { return masked, nil }

// LogValue returns the mask.
func (s Secret) LogValue() slog.Value { return slog.StringValue(masked) }

package config

import (
	"errors"

	"github.com/google/jsonschema-go/jsonschema"
)

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

var errMode = errors.New("not a TLS mode")

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

// Hint implements strictyaml.Hinter.
func (TLSMode) Hint() string { return "Write true, false, verify, required or disabled." }

// JSONSchema implements strictyaml.Schemer.
func (TLSMode) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Enum: []any{true, false, string(TLSVerify), string(TLSRequired), string(TLSDisabled)},
		Description: "true or verify: encrypted, certificate checked. required: encrypted, any certificate. " +
			"false or disabled: in the clear.",
	}
}

// checkTLS checks the keys tls and ca_file of a connection; remote says that it leaves this
// machine.
func checkTLS(at Place, mode TLSMode, ca File, remote bool) {
	switch {
	case ca != "" && mode != TLSVerify:
		at.Key("ca_file").Problem("ca_file has no effect unless the certificate is checked.",
			"Write tls: true, or remove ca_file.")
	case remote && mode == TLSDisabled:
		at.Key("tls").Warn("Password and data cross the network in the clear.", "Write tls: true.")
	case remote && mode == TLSRequired:
		at.Key("tls").Warn("The server's certificate is not checked, so another server may answer in its place.",
			"Write tls: true, with ca_file for an authority of your own.")
	}
}

package httpapi

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// The most bytes of a body. A tool call's is the request limit and envelopeBytes, which hold
// the other members even when every character of a tool_call_id is escaped.
const (
	envelopeBytes  = 16 << 10
	openBytes      = 1 << 20
	referenceBytes = 8 << 20
	emptyBytes     = 1 << 10
)

// errBody is the fault of a body that ended early. The connection is broken then, so no one reads
// the answer, and the call is not counted as the agent's mistake.
var errBody = invalid("BODY", "the body did not arrive whole")

// read returns the body, or REQUEST_TOO_LARGE past the limit. It never reads further, however
// the body is framed.
func (x *exchange) read(limit int64) ([]byte, error) {
	if x.r.ContentLength > limit {
		return nil, fault.New(fault.RequestTooLarge)
	}
	body, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, fault.New(fault.RequestTooLarge)
	case err != nil:
		return nil, errBody.WithCause(err)
	}
	return body, nil
}

// readJSON returns a body that says it is JSON.
func (x *exchange) readJSON(limit int64) ([]byte, error) {
	if !isJSON(x.r.Header) {
		return nil, invalid("CONTENT_TYPE",
			"send Content-Type: application/json, in UTF-8 and without Content-Encoding")
	}
	return x.read(limit)
}

// isJSON reports whether a header describes a plain JSON body.
func isJSON(h http.Header) bool {
	if e := h.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return false
	}
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset, given := params["charset"]
	return err == nil && len(h.Values("Content-Type")) == 1 && media == "application/json" &&
		(!given || strings.EqualFold(charset, "utf-8"))
}

// into decodes the body into a value of this package.
func (x *exchange) into(limit int64, v any) error {
	body, err := x.readJSON(limit)
	if err != nil {
		return err
	}
	return decode(body, v)
}

// nothing accepts no body, or an object without members.
func (x *exchange) nothing() error {
	body, err := x.read(emptyBytes)
	if err != nil || len(bytes.TrimSpace(body)) == 0 {
		return err
	}
	return decode(body, &struct{}{})
}

// toolCall is the body of a tool call, as far as it could be read.
type toolCall struct {
	id, tool string
	request  []byte
}

// readCall splits the body into its members. The request itself is not read: it goes to
// the boundary byte for byte. A member that is absent stays empty, and the boundary says so.
func (x *exchange) readCall(limit int64) (toolCall, error) {
	body, err := x.readJSON(limit)
	if err != nil {
		return toolCall{}, err
	}
	// Duplicate names and bad UTF-8 inside the request are the boundary's to refuse; those of
	// the envelope are refused below.
	dec := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	call := toolCall{}
	if token, err := dec.ReadToken(); err != nil {
		return call, syntax(err)
	} else if token.Kind() != '{' {
		return call, invalid("TYPE", "the body must be one JSON object")
	}
	seen := map[string]bool{}
	for dec.PeekKind() != '}' {
		name, err := readText(dec)
		if err != nil {
			return call, err
		}
		if seen[name] {
			return call, invalid("DUPLICATE_MEMBER", "duplicate member name")
		}
		seen[name] = true
		if err := call.member(dec, name); err != nil {
			return call, err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return call, syntax(err)
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return call, invalid("TRAILING_DATA", "something follows the body's value")
	}
	return call, nil
}

// member reads the value of one member of the envelope.
func (c *toolCall) member(dec *jsontext.Decoder, name string) (err error) {
	switch name {
	case "tool_call_id":
		c.id, err = readText(dec)
	case "tool_name":
		c.tool, err = readText(dec)
	case "request":
		var value jsontext.Value
		if value, err = dec.ReadValue(); err != nil {
			return syntax(err)
		}
		c.request = bytes.Clone(value)
	default:
		return invalid("UNKNOWN_MEMBER", "a member is not known: a call has tool_call_id, tool_name and request")
	}
	return err
}

// readText reads a string strictly: valid UTF-8 and no lone surrogates.
func readText(dec *jsontext.Decoder) (string, error) {
	value, err := dec.ReadValue()
	if err != nil {
		return "", syntax(err)
	}
	if value.Kind() != '"' {
		return "", invalid("TYPE", "tool_call_id and tool_name must be strings")
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return "", syntax(err)
	}
	return string(text), nil
}

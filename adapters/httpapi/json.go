package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
)

// timeForm is RFC 3339 in UTC with milliseconds, the precision of the store's clock.
const timeForm = `"2006-01-02T15:04:05.000Z07:00"`

var (
	encoding = json.JoinOptions(json.Deterministic(true), json.WithMarshalers(
		json.MarshalToFunc(func(enc *jsontext.Encoder, t time.Time) error {
			return enc.WriteValue(jsontext.Value(t.UTC().Format(timeForm)))
		})))
	decoding = json.RejectUnknownMembers(true)
)

// respond returns the answer with the value as its body.
func respond(status int, v any) (answer, error) {
	body, err := encode(v)
	if err != nil {
		return answer{}, fault.Wrap(fault.Internal, err)
	}
	return answer{status: status, body: body}, nil
}

// encode returns the body of a value of this package: UTF-8, members in the order of the
// type's fields, lists and objects never null, nothing escaped for HTML.
func encode(v any) ([]byte, error) { return json.Marshal(v, encoding) }

// decode reads a body whole into a value of this package, or returns REQUEST_INVALID with a
// detail that names at most members which the API knows.
func decode(body []byte, into any) error {
	if err := checkSyntax(body); err != nil {
		return err
	}
	err := json.Unmarshal(body, into, decoding)
	if err == nil {
		return nil
	}
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return invalid("JSON", "the body is not the JSON that this call takes").WithCause(err)
	}
	if errors.Is(semantic.Err, json.ErrUnknownName) {
		return invalid("UNKNOWN_MEMBER", "a member is not known"+in(semantic.JSONPointer.Parent())).WithCause(err)
	}
	return invalid("TYPE", "a value has the wrong type or is out of range"+in(semantic.JSONPointer)).WithCause(err)
}

// checkSyntax refuses what is not one JSON value in UTF-8, each member name once per object,
// nested at most limits.MaxDepth deep; and null, which has no meaning in this API.
func checkSyntax(body []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(body))
	for {
		token, err := dec.ReadToken()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return syntax(err)
		case dec.StackDepth() > limits.MaxDepth:
			return invalid("NESTING", fmt.Sprintf("the body nests deeper than %d levels", limits.MaxDepth))
		case token.Kind() == 'n':
			return invalid("NULL", "null is not accepted: omit the member"+in(dec.StackPointer()))
		case dec.StackDepth() == 0 && len(bytes.TrimLeft(body[dec.InputOffset():], " \t\r\n")) > 0:
			return invalid("TRAILING_DATA", "something follows the body's value")
		}
	}
}

// syntax returns the fault of a text that is not strict JSON. It repeats nothing of the parser's error.
func syntax(err error) *fault.Error {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return invalid("DUPLICATE_MEMBER", "duplicate member name").WithCause(err)
	}
	return invalid("JSON", "the body is not one JSON object in UTF-8").WithCause(err)
}

func invalid(reason, detail string) *fault.Error {
	return fault.Because(fault.RequestInvalid, reason, detail)
}

// known are the member names that a detail may repeat.
var known = []string{"run_id", "ttl_seconds", "tools", "data_sources", "budget", "max_calls", "max_calls_per_tool",
	"max_bytes", "max_refusals", "references", "tool_call_id", "tool_name", "request"}

// in says where a pointer points, as far as it goes through known members and list indexes.
func in(p jsontext.Pointer) string {
	var path []string
	for token := range p.Tokens() {
		if !slices.Contains(known, token) && !index(token) {
			break
		}
		path = append(path, token)
	}
	if len(path) == 0 {
		return ""
	}
	return ", in " + strings.Join(path, ".")
}

func index(token string) bool {
	return len(token) <= 4 && strings.Trim(token, "0123456789") == ""
}

// UnmarshalJSONFrom reads an integer or an object of integers.
func (p *perTool) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '{' {
		return json.UnmarshalDecode(dec, &p.by)
	}
	return json.UnmarshalDecode(dec, &p.each)
}

// Schema documents both forms.
func (perTool) Schema(huma.Registry) *huma.Schema {
	zero := 0.0
	number := &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: &zero}
	return &huma.Schema{OneOf: []*huma.Schema{number, {Type: huma.TypeObject, AdditionalProperties: number}}}
}

package mcpserver

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// message is one JSON-RPC message, read strictly: no object in it has a duplicate member and all of it
// is valid UTF-8, except inside a tool's arguments, which the boundary judges as they are.
type message struct {
	// id is the id of a request as it was sent; nil for a notification or an invalid id.
	id json.RawMessage
	// method is empty for a response.
	method string
	// name, arguments and meta are set for tools/call. arguments is nil when there are none.
	name            string
	arguments, meta json.RawMessage
}

const (
	methodCallTool  = "tools/call"
	methodListTools = "tools/list"
)

// served are the methods that can be called. The prompt and resource lists are not offered,
// and empty, but there are clients that ask for them all the same.
var served = []string{
	methodCallTool, methodListTools, "initialize", "ping", "server/discover", "subscriptions/listen",
	"prompts/list", "resources/list", "resources/templates/list",
}

// The sentences of protocol errors; none repeats what was sent.
var (
	errNotJSON    = &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the message is not valid JSON in UTF-8"}
	errDuplicate  = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "duplicate member name in the message"}
	errNotMessage = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
		Message: "the message is not one JSON-RPC 2.0 request, notification or response; batches are not served"}
	errTooLarge = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the message is larger than the limit"}
	errNotCall  = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams,
		Message: "tools/call needs params with the tool's name and, when there are any, arguments and _meta as objects"}
	errNoMethod = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
)

// parse reads one message. Every error is a *jsonrpc.Error with a fixed sentence; the message
// that comes with it holds the id, when there is one to answer to.
func parse(data []byte) (message, error) {
	var m message
	var params jsontext.Value
	var rest []jsontext.Value
	err := members(data, func(name string, value jsontext.Value) error {
		switch name {
		case "params":
			params = value
		case "id":
			if value.Kind() == '"' || value.Kind() == '0' {
				m.id = json.RawMessage(value)
			}
			rest = append(rest, value)
		case "method":
			if value.Kind() != '"' {
				return errNotMessage
			}
			m.method = unquote(value)
			rest = append(rest, value)
		default:
			rest = append(rest, value)
		}
		return nil
	})
	if err == errNotJSON || err == errDuplicate {
		return message{}, err // then no id of it is to be trusted
	}
	if err != nil {
		return m, err
	}
	if m.method != methodCallTool && params != nil {
		rest = append(rest, params)
	}
	for _, value := range rest {
		if err := strict(value); err != nil {
			return m, err
		}
	}
	if m.method == methodCallTool {
		if err := m.readCall(params); err != nil {
			return m, err
		}
	}
	if _, err := jsonrpc.DecodeMessage(data); err != nil {
		return m, errNotMessage
	}
	if m.id != nil && m.method != "" && !slices.Contains(served, m.method) {
		return m, errNoMethod
	}
	return m, nil
}

func (m *message) readCall(params jsontext.Value) error {
	if params.Kind() != '{' {
		return errNotCall
	}
	named := false
	err := members(params, func(name string, value jsontext.Value) error {
		switch name {
		case "arguments":
			m.arguments = json.RawMessage(value)
			return nil
		case "name":
			named = value.Kind() == '"'
			if named {
				m.name = unquote(value)
			}
		case "_meta":
			if value.Kind() != '{' {
				return errNotCall
			}
			m.meta = json.RawMessage(value)
		}
		return strict(value)
	})
	if err == nil && !named {
		return errNotCall
	}
	return err
}

// members calls visit with each member of the one JSON object that data must be. The value is
// only known to be JSON; names are unique within the object. Values alias data.
func members(data []byte, visit func(name string, value jsontext.Value) error) error {
	dec := lenient(data)
	if dec.PeekKind() != '{' {
		if _, err := dec.ReadValue(); err != nil {
			return errNotJSON
		}
		return errNotMessage
	}
	if _, err := dec.ReadToken(); err != nil {
		return errNotJSON
	}
	seen := map[string]bool{}
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return errNotJSON
		}
		name := token.String()
		if seen[name] {
			return errDuplicate
		}
		seen[name] = true
		value, err := dec.ReadValue()
		if err != nil {
			return errNotJSON
		}
		end := dec.InputOffset()
		if err := visit(name, data[end-int64(len(value)):end:end]); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return errNotJSON
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return errNotJSON
	}
	return nil
}

func lenient(data []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
}

// strict returns an error unless the value is in valid UTF-8 and no object in it has a duplicate member.
func strict(value jsontext.Value) error {
	switch {
	case value.IsValid():
		return nil
	case value.IsValid(jsontext.AllowDuplicateNames(true)):
		return errDuplicate
	default:
		return errNotJSON
	}
}

// unquote returns the text of a JSON string.
func unquote(value jsontext.Value) string {
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return "" // invalid UTF-8 or a lone surrogate, which strict refuses
	}
	return string(text)
}

package mcpserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// source is one place in which a client sent a tool_call_id.
type source struct {
	where string
	// id is what stood there; text is false when it was no string.
	id   string
	text bool
}

// identify returns the client's own tool_call_id and the arguments without it, or
// TOOL_CALL_ID_INVALID when it is missing, when it is not a string or when two sources disagree. It
// does not judge the id's form: that is preflight's, as for every other caller.
func (s *Server) identify(
	call message, header http.Header, requestID string,
) (id string, arguments json.RawMessage, err error) {
	sources, arguments, err := s.sources(call, header)
	if err != nil {
		return "", arguments, err
	}
	if len(sources) == 0 && requestID != "" {
		return requestID, arguments, nil
	}
	if len(sources) == 0 {
		return "", arguments, fault.Because(fault.ToolCallIDInvalid, "MISSING", s.ways())
	}
	for _, from := range sources {
		if !from.text {
			return "", arguments, fault.Because(fault.ToolCallIDInvalid, "NOT_A_STRING", from.where+" must be a string")
		}
		if from.id != sources[0].id {
			return "", arguments, fault.Because(fault.ToolCallIDInvalid, "SOURCES_DISAGREE",
				fmt.Sprintf("%s and %s carry different ids; send one, or the same in both", sources[0].where,
					from.where))
		}
	}
	return sources[0].id, arguments, nil
}

// sources lists the places in which the call carries an id: _meta keys, header, argument.
func (s *Server) sources(call message, header http.Header) ([]source, json.RawMessage, error) {
	var found []source
	for _, key := range s.opt.MetaKeys {
		if value := splice(call.meta, key).value; value != nil {
			found = append(found, quoted(metaKey(key), value))
		}
	}
	for _, value := range header.Values(s.opt.Header) {
		found = append(found, source{"the header " + s.opt.Header, value, true})
	}
	arguments := call.arguments
	if arguments == nil {
		arguments = json.RawMessage("{}")
	}
	if !s.opt.Argument {
		return found, arguments, nil
	}
	taken := splice(arguments, argumentName)
	if taken.twice {
		return nil, arguments, fault.Because(fault.ToolCallIDInvalid, "TWICE", "duplicate argument "+argumentName)
	}
	if taken.value != nil {
		found = append(found, quoted("the argument "+argumentName, taken.value))
	}
	return found, taken.rest, nil
}

func quoted(where string, value jsontext.Value) source {
	if value.Kind() != '"' {
		return source{where: where}
	}
	text, err := jsontext.AppendUnquote(nil, value)
	return source{where, string(text), err == nil}
}

func metaKey(key string) string { return fmt.Sprintf("params._meta[%q]", key) }

// ways names every way to send an id, so that the reader of the refusal can fix the client.
func (s *Server) ways() string {
	keys := make([]string, 0, len(s.opt.MetaKeys))
	for _, key := range s.opt.MetaKeys {
		keys = append(keys, metaKey(key))
	}
	argument := "the argument " + argumentName
	if !s.opt.Argument {
		argument += " (when the operator switches it on)"
	}
	return fmt.Sprintf("no tool_call_id was sent; send your framework's own id of this call in %s, in the header "+
		"%s, in %s, or over stdio as the JSON-RPC id",
		strings.Join(keys, " or "), s.opt.Header, argument)
}

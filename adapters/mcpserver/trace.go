package mcpserver

import (
	"net/http"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
)

// traceparent is the form of W3C Trace Context, version 00 and what later ones keep of it.
var traceparent = regexp.MustCompile(`^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}`)

const noTrace = "00000000000000000000000000000000"

// traceID returns the trace id of the call: of params._meta, where the protocol has it, else
// of the HTTP header; "" when there is none or it is malformed.
func traceID(call message, header http.Header) string {
	value := header.Get("Traceparent")
	if sent := splice(call.meta, "traceparent").value; sent.Kind() == '"' {
		text, err := jsontext.AppendUnquote(nil, sent)
		if err != nil {
			return ""
		}
		value = string(text)
	}
	parts := traceparent.FindStringSubmatch(value)
	if parts == nil || parts[1] == noTrace || parts[0][:2] == "ff" {
		return ""
	}
	return parts[1]
}

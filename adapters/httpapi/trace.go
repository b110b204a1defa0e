package httpapi

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/toolboundary/toolboundary/application"
)

var traceparent = regexp.MustCompile(`^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$`)

// traced returns the request with the trace id of its W3C traceparent header; an invalid
// header is ignored.
func traced(r *http.Request) *http.Request {
	header := r.Header.Get("traceparent")
	m := traceparent.FindStringSubmatch(header)
	if m == nil || strings.HasPrefix(header, "ff") || strings.Trim(m[1], "0") == "" ||
		strings.HasPrefix(header, "00") && m[2] != "" {
		return r
	}
	return r.WithContext(application.WithTraceID(r.Context(), m[1]))
}

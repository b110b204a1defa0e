package httpapi

import (
	"net/http"
	"time"

	"go.uber.org/zap"
)

// The bounds of a connection. How long a tool call may take is not among them: the boundary
// bounds that, and the answer's own deadline starts when it is written.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// NewServer returns a server of the handler that no slow or idle client can hold: the header
// within 10 s, the body within 30 s, 64 KiB of header. Its own messages go to the log at
// debug level: they are about clients, not about the service.
func NewServer(h http.Handler, log *zap.Logger) *http.Server {
	std, err := zap.NewStdLogAt(log.Named("http"), zap.DebugLevel)
	if err != nil {
		panic(err) // only for a level that zap does not know
	}
	return &http.Server{
		Handler: h, ErrorLog: std,
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
	}
}

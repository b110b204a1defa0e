package config

import (
	"strings"
	"time"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

// Server is the HTTP service.
type Server struct {
	// Listen is host:port; an empty host means every interface.
	Listen string `yaml:"listen" doc:"host:port of the API. An empty host means every interface."`
	// AdminListen is empty when /metrics and /readyz are served beside the API.
	AdminListen string    `yaml:"admin_listen"`
	TLS         ServerTLS `yaml:"tls" doc:"Certificate of the API's listener; plain HTTP when absent."`
	// ShutdownGrace is how long calls in flight may go on after a stop was asked for.
	ShutdownGrace time.Duration `yaml:"shutdown_grace" min:"0s" max:"10m"`
	// LogLevel is LogInfo or LogDebug.
	LogLevel string `yaml:"log_level" enum:"info|debug"`
	// MaxConcurrent is the most tool calls that this process executes at once.
	MaxConcurrent int `yaml:"max_concurrent" min:"1" max:"100000"`
}

// Tags implements strictyaml.Tagger.
func (Server) Tags() strictyaml.Tags {
	return strictyaml.Tags{
		"admin_listen": `doc:"host:port of a second listener for health and metrics; ` +
			`they are served beside the API when it is absent."`,
		"shutdown_grace": `doc:"How long calls in flight may go on after a stop was asked for."`,
		"log_level":      `doc:"info, or debug: causes too, which may hold words of servers and drivers."`,
		"max_concurrent": `doc:"Most tool calls that this process executes at once; more are RATE_LIMITED."`,
	}
}

// The levels of the log.
const (
	LogInfo  = "info"
	LogDebug = "debug"
)

// ServerTLS is the certificate of a listener; both fields are set, or neither.
type ServerTLS struct {
	CertFile File `yaml:"cert_file" doc:"PEM file with the certificate chain."`
	KeyFile  File `yaml:"key_file" doc:"PEM file with the private key."`
}

// Enabled reports whether a certificate is configured.
func (t ServerTLS) Enabled() bool { return t.CertFile != "" && t.KeyFile != "" }

func (s Server) validate(at Place) {
	listen := at.Key("listen")
	checkListen(listen, s.Listen)
	if !loopback(s.Listen) && !s.TLS.Enabled() {
		listen.Warn("Keys and results cross the network in the clear.",
			"Give server.tls a certificate, or put a proxy with TLS in front and listen on 127.0.0.1.")
	}
	if s.AdminListen != "" {
		s.validateAdmin(at.Key("admin_listen"))
	}
	s.TLS.validate(at.Key("tls"))
}

func (s Server) validateAdmin(at Place) {
	checkListen(at, s.AdminListen)
	if s.AdminListen == s.Listen && !strings.HasSuffix(s.Listen, ":0") {
		at.Problem("The address is that of server.listen.", "Choose another port, or remove admin_listen.")
	} else if !loopback(s.AdminListen) {
		at.Warn("Metrics are readable from the network without a key.",
			"Listen on 127.0.0.1 or on a network of operators only.")
	}
}

func (t ServerTLS) validate(at Place) {
	if (t.CertFile == "") == (t.KeyFile == "") {
		return
	}
	missing := "cert_file"
	if t.KeyFile == "" {
		missing = "key_file"
	}
	if !at.Key("cert_file").IsUnreadable() && !at.Key("key_file").IsUnreadable() {
		at.Key(missing).Problem("A certificate needs both cert_file and key_file.", "Add "+missing+", or remove tls.")
	}
}

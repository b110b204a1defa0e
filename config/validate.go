package config

import (
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// The least lengths of keys, in bytes. Agent tokens are signed with HMAC-SHA-256, whose key
// should be as long as its sum (RFC 2104); a harness key is guessed over the network only.
const (
	minTokenKey   = 32
	minHarnessKey = 24
)

const newKey = "Make one with: openssl rand -base64 32"

// validate reports what no single value shows.
func (c Config) validate(root Place, o options) {
	c.Server.validate(root.Key("server"))
	c.Auth.validate(root.Key("auth"), o.serve)
	c.Store.validate(root.Key("store"))
	c.Limits.validate(root.Key("limits"))
	c.Runs.validate(root.Key("runs"), c.Limits)
	c.MCP.validate(root.Key("mcp"), c)
	if len(c.DataSources) == 0 {
		root.Key("data_sources").Warn("There is no data source: tools that read one have nothing to read.", "Add one below data_sources.")
	}
	for _, id := range c.DataSources.IDs() {
		source, ok := c.DataSources[id].(*MySQL)
		if !ok {
			continue
		}
		at := root.Key("data_sources").Key(id)
		if source.MaxCell > c.Limits.AgentResult {
			at.Key("max_cell").Warn("One cell may be larger than limits.agent_result.", "Lower max_cell or raise limits.agent_result.")
		}
		if source.QueryTimeout > c.Runs.MaxTTL {
			at.Key("query_timeout").Warn("A query may run longer than runs.max_ttl lets a run live.", "Lower query_timeout or raise runs.max_ttl.")
		}
	}
}

func (s Server) validate(at Place) {
	checkListen(at.Key("listen"), s.Listen)
	if !loopback(s.Listen) && !s.TLS.Enabled() {
		at.Key("listen").Warn("Keys and results cross the network in the clear.", "Give server.tls a certificate, or put a proxy with TLS in front and listen on 127.0.0.1.")
	}
	if s.AdminListen != "" {
		admin := at.Key("admin_listen")
		checkListen(admin, s.AdminListen)
		if s.AdminListen == s.Listen && !strings.HasSuffix(s.Listen, ":0") {
			admin.Problem("The address is that of server.listen.", "Choose another port, or remove admin_listen.")
		} else if !loopback(s.AdminListen) {
			admin.Warn("Metrics are readable from the network without a key.", "Listen on 127.0.0.1 or on a network of operators only.")
		}
	}
	if (s.TLS.CertFile == "") != (s.TLS.KeyFile == "") {
		missing := "cert_file"
		if s.TLS.KeyFile == "" {
			missing = "key_file"
		}
		if !at.Key("tls").Key("cert_file").isBroken() && !at.Key("tls").Key("key_file").isBroken() {
			at.Key("tls").Key(missing).Problem("A certificate needs both cert_file and key_file.", "Add "+missing+", or remove tls.")
		}
	}
}

func (a Auth) validate(at Place, serve bool) {
	if serve && len(a.HarnessKeys) == 0 {
		at.Key("harness_keys").Problem("The service needs at least one harness key.", "Add {name: diagnosis, key_env: TOOLBOUNDARY_HARNESS_KEY}.")
	}
	if serve && len(a.TokenKeys) == 0 {
		at.Key("token_keys").Problem("The service needs at least one key for agent tokens.", "Add {id: k1, key_env: TOOLBOUNDARY_TOKEN_KEY}.")
	}
	keys := newSeen()
	for i, k := range a.HarnessKeys {
		place := at.Key("harness_keys").Index(i)
		keys.name(place.Key("name"), "harness "+k.Name, k.Name)
		value := place.secretKey("key")
		if k.Key.IsSet() && len(k.Key.Reveal()) < minHarnessKey {
			value.Problem("The harness key is shorter than 24 bytes.", newKey)
		}
		if strings.ContainsFunc(k.Key.Reveal(), func(c rune) bool { return c < '!' || c > '~' }) {
			value.Problem("The harness key has blanks or characters that no HTTP header carries.", newKey)
		}
		keys.value(value, k.Key)
	}
	for i, k := range a.TokenKeys {
		place := at.Key("token_keys").Index(i)
		keys.name(place.Key("id"), "token "+k.ID, k.ID)
		value := place.secretKey("key")
		if k.Key.IsSet() && len(k.Key.Reveal()) < minTokenKey {
			value.Problem("The key for agent tokens is shorter than 32 bytes.", newKey)
		}
		keys.value(value, k.Key)
	}
}

// secretKey returns the place of the key that names the secret.
func (p Place) secretKey(name string) Place {
	if file := p.Key(name + "_file"); file.given() {
		return file
	}
	return p.Key(name + "_env")
}

// seen finds names and secrets that are given twice.
type seen struct {
	names  map[string]bool
	values []Secret
}

func newSeen() *seen { return &seen{names: map[string]bool{}} }

func (s *seen) name(at Place, key, name string) {
	if name != "" && s.names[key] {
		at.Problem("The name is given twice.", "Rename one of the two.")
	}
	s.names[key] = true
}

func (s *seen) value(at Place, value Secret) {
	if value.IsSet() && slices.ContainsFunc(s.values, value.Equal) {
		at.Problem("The key is the same as another one.", newKey)
	}
	s.values = append(s.values, value)
}

func (l Limits) validate(at Place) {
	parts := []struct {
		name string
		size ByteSize
	}{{"request", l.Request}, {"raw", l.Raw}, {"agent_result", l.AgentResult}}
	fits := true
	for _, p := range parts {
		if p.size > l.Record {
			fits = false
			at.Key(p.name).Problem("The limit is larger than limits.record, which holds it.", "Lower it, or raise limits.record.")
		}
	}
	if fits && l.Request+l.Raw+l.AgentResult > l.Record {
		at.Key("record").Warn("A request, raw answer and result that reach their limits together do not fit in a record.", "Raise limits.record above the sum of the others.")
	}
}

func (r Runs) validate(at Place, l Limits) {
	if r.RecordTTL < r.MaxTTL {
		at.Key("record_ttl").Warn("Records may expire before their run ends, and can then no longer be cited.", "Raise record_ttl to at least max_ttl.")
	}
	r.Budget.validate(at.Key("budget"), l)
}

func (b Budget) validate(at Place, l Limits) {
	if b.MaxBytes < ByteSize(l.Request)+l.Raw {
		at.Key("max_bytes").Warn("One call with a full answer uses up more than the whole budget.", "Raise max_bytes, or lower limits.raw.")
	}
	for _, name := range slices.Sorted(maps.Keys(b.MaxCallsPerTool)) {
		if b.MaxCallsPerTool[name] > b.MaxCalls {
			at.Key("max_calls_per_tool").Key(name).Warn("The bound is above max_calls, so it never holds.", "Lower it, or raise max_calls.")
		}
	}
}

func (m MCP) validate(at Place, c Config) {
	keys := map[string]bool{}
	for i, k := range m.ToolCallIDKeys {
		place := at.Key("tool_call_id_keys").Index(i)
		switch {
		case k == "" || len(k) > 256 || strings.ContainsFunc(k, func(c rune) bool { return c < '!' || c > '~' }):
			place.Problem("This is not the name of a _meta key.", "Write 1 to 256 visible ASCII characters, such as claudecode/toolUseId.")
		case keys[k]:
			place.Problem("The key is listed twice.", "Remove one of the two.")
		}
		keys[k] = true
	}
	at = at.Key("run")
	m.Run.Budget.validate(at.Key("budget"), c.Limits)
	if m.Run.TTL > c.Runs.RecordTTL && at.given() {
		at.Key("ttl").Warn("Records may expire before the run ends, and can then no longer be cited.", "Raise runs.record_ttl to at least mcp.run.ttl.")
	}
	for name, list := range map[string][]string{"tools": m.Run.Tools, "data_sources": m.Run.DataSources} {
		if list != nil && len(list) == 0 {
			at.Key(name).Problem("An empty list grants nothing, and no list at all grants everything.", "List what the run is granted, or remove the key.")
		}
	}
	for i, id := range m.Run.DataSources {
		place := at.Key("data_sources").Index(i)
		if _, ok := c.DataSources[id]; !ok && !(Place{report: at.report}).Key("data_sources").Key(id).isBroken() {
			place.Problem("There is no such data source.", suggest(id, c.DataSources.IDs(), "The data sources are "))
		}
	}
}

func checkTLS(at Place, mode TLSMode, ca File, remote bool) {
	switch {
	case ca != "" && mode != TLSVerify:
		at.Key("ca_file").Problem("ca_file has no effect unless the certificate is checked.", "Write tls: true, or remove ca_file.")
	case remote && mode == TLSDisabled:
		at.Key("tls").Warn("Password and data cross the network in the clear.", "Write tls: true.")
	case remote && mode == TLSRequired:
		at.Key("tls").Warn("The server's certificate is not checked, so another server may answer in its place.", "Write tls: true, with ca_file for an authority of your own.")
	}
}

// checkAddress judges host:port of a server; the text is not shown, since a DSN with a password
// is a likely mistake.
func checkAddress(at Place, address, port string) {
	host, p, err := net.SplitHostPort(address)
	n, errPort := strconv.ParseUint(p, 10, 16)
	if err != nil || errPort != nil || n == 0 || !hostName(host) {
		at.Problem("The address is not host:port.", "Write host and port only, such as db.example.com:"+port+" or [::1]:"+port+".")
	}
}

func checkListen(at Place, address string) {
	host, p, err := net.SplitHostPort(address)
	_, errPort := strconv.ParseUint(p, 10, 16)
	if err != nil || errPort != nil || (host != "" && !hostName(host)) {
		at.unreadable("The address is not host:port.", "Write it as 127.0.0.1:8080, or :8080 for every interface.")
	}
}

func hostName(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host != "" && len(host) <= 253 && !strings.ContainsFunc(host, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-._", c)
	})
}

// loopback reports whether only this machine can be meant.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

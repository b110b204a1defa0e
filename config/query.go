package config

import "net"

// The environment variables of the query command: there is no other place for its connection,
// and no default host, user or password (S43).
const (
	QueryHost         = "TOOLBOUNDARY_QUERY_HOST"
	QueryPort         = "TOOLBOUNDARY_QUERY_PORT"
	QueryUser         = "TOOLBOUNDARY_QUERY_USER"
	QueryPassword     = "TOOLBOUNDARY_QUERY_PASSWORD"
	QueryPasswordFile = "TOOLBOUNDARY_QUERY_PASSWORD_FILE"
	QuerySchema       = "TOOLBOUNDARY_QUERY_SCHEMA"
	QueryTLS          = "TOOLBOUNDARY_QUERY_TLS"
	QueryCAFile       = "TOOLBOUNDARY_QUERY_CA_FILE"
)

// QueryFromEnv returns the connection of the query command, without an allowlist. Its error is
// *Problems, with everything that is wrong; each path is a variable's name. TLS is checked
// unless the host is this machine, or the variable says otherwise.
func QueryFromEnv(env func(string) (string, bool)) (*MySQL, error) {
	r := &reader{report: newReport(), options: options{secrets: true}, env: env}
	root := Place{report: r.report}
	m := newMySQL()
	m.MaxConnections = 1
	host := r.variable(root, QueryHost, "Set it to the server's host name or address.")
	port, ok := env(QueryPort)
	if !ok {
		port = "3306"
	}
	m.Address = net.JoinHostPort(host, port)
	if host != "" {
		checkAddress(root.Key(QueryHost), m.Address, port)
	}
	if r.variable(root, QueryUser, "Set it to the account's name.") != "" {
		m.User = r.secretFromEnv(root.Key(QueryUser), QueryUser)
	}
	m.Password = r.queryPassword(root)
	m.DefaultSchema, _ = env(QuerySchema)
	if m.DefaultSchema != "" {
		checkName(root.Key(QuerySchema), m.DefaultSchema, "schema")
	}
	if !loopback(m.Address) {
		m.TLS = TLSVerify
	}
	if mode, ok := env(QueryTLS); ok && m.TLS.UnmarshalText([]byte(mode)) != nil {
		root.Key(QueryTLS).Problem("The value is not a TLS mode.", m.TLS.hint())
	}
	if file, ok := env(QueryCAFile); ok {
		m.CAFile = File(file)
	}
	checkTLS(root.Key(QueryTLS), m.TLS, m.CAFile, !loopback(m.Address))
	if len(r.problems) > 0 {
		return nil, &Problems{File: "environment", List: r.problems}
	}
	return m, nil
}

// AccountFromEnv returns user and password from two environment variables, for commands that
// use another account than the data source's. Its error is *Problems.
func AccountFromEnv(env func(string) (string, bool), userVariable, passwordVariable string) (user, password Secret, err error) {
	r := &reader{report: newReport(), options: options{secrets: true}, env: env}
	root := Place{report: r.report}
	user = r.secretFromEnv(root.Key("--user-env"), userVariable)
	password = r.secretFromEnv(root.Key("--password-env"), passwordVariable)
	if len(r.problems) > 0 {
		return Secret{}, Secret{}, &Problems{File: "environment", List: r.problems}
	}
	return user, password, nil
}

// SecretFromEnv returns the value of one environment variable that a flag names; its error is
// *Problems.
func SecretFromEnv(env func(string) (string, bool), flag, variable string) (Secret, error) {
	r := &reader{report: newReport(), options: options{secrets: true}, env: env}
	value := r.secretFromEnv(Place{report: r.report}.Key(flag), variable)
	if len(r.problems) > 0 {
		return Secret{}, &Problems{File: "environment", List: r.problems}
	}
	return value, nil
}

// SecretFromFile returns what a file holds that a flag names; its error is *Problems.
func SecretFromFile(flag, name string) (Secret, error) {
	r := &reader{report: newReport(), options: options{secrets: true}}
	value := r.secretFromFile(Place{report: r.report}.Key(flag), name)
	if len(r.problems) > 0 {
		return Secret{}, &Problems{File: "command line", List: r.problems}
	}
	return value, nil
}

// variable returns the value of a variable that has no default, or reports that it is missing.
func (r *reader) variable(root Place, name, fix string) string {
	value, _ := r.env(name)
	if value == "" {
		root.Key(name).unreadable("The environment variable is not set; the query command has no default.", fix)
	}
	return value
}

func (r *reader) queryPassword(root Place) Secret {
	_, byEnv := r.env(QueryPassword)
	file, byFile := r.env(QueryPasswordFile)
	switch {
	case byEnv && byFile:
		root.Key(QueryPasswordFile).Problem("Both "+QueryPassword+" and "+QueryPasswordFile+" are set.", "Unset one of the two.")
	case byEnv:
		return r.secretFromEnv(root.Key(QueryPassword), QueryPassword)
	case byFile:
		return r.secretFromFile(root.Key(QueryPasswordFile), file)
	default:
		r.variable(root, QueryPassword, "Set it, or name a file by "+QueryPasswordFile+".")
	}
	return Secret{}
}

package config

import (
	"net"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

// The environment variables of the query command: there is no other place for its connection,
// and no default host, user or password (S43).
const (
	queryHost         = "TOOLBOUNDARY_QUERY_HOST"
	queryPort         = "TOOLBOUNDARY_QUERY_PORT"
	queryUser         = "TOOLBOUNDARY_QUERY_USER"
	queryPassword     = "TOOLBOUNDARY_QUERY_PASSWORD"
	queryPasswordFile = "TOOLBOUNDARY_QUERY_PASSWORD_FILE"
	querySchema       = "TOOLBOUNDARY_QUERY_SCHEMA"
	queryTLS          = "TOOLBOUNDARY_QUERY_TLS"
	queryCAFile       = "TOOLBOUNDARY_QUERY_CA_FILE"
)

// The names under which problems of settings outside a file are shown.
const (
	inEnvironment = "environment"
	inCommandLine = "command line"
)

// QueryFromEnv returns the connection of the query command, without an allowlist. Its error is
// *Problems, with everything that is wrong; each path is a variable's name. TLS is checked
// unless the host is this machine, or the variable says otherwise.
func QueryFromEnv(env func(string) (string, bool)) (*MySQL, error) {
	report := strictyaml.NewReport()
	v := variables{Place: report.Root(), env: env}
	m := newMySQL()
	m.MaxConnections = 1
	host := v.required(queryHost, "Set it to the server's host name or address.")
	port, ok := env(queryPort)
	if !ok {
		port = "3306"
	}
	m.Address = net.JoinHostPort(host, port)
	if host != "" {
		checkAddress(v.Key(queryHost), m.Address, port)
	}
	if v.required(queryUser, "Set it to the account's name.") != "" {
		v.secret(queryUser, &m.User)
	}
	v.password(&m.Password)
	m.DefaultSchema, _ = env(querySchema)
	if m.DefaultSchema != "" {
		checkName(v.Key(querySchema), m.DefaultSchema, "schema")
	}
	v.encryption(m)
	if err := report.Err(inEnvironment); err != nil {
		return nil, err
	}
	return m, nil
}

// AccountFromEnv returns user and password from two environment variables, for commands that
// use another account than the data source's. Its error is *Problems.
func AccountFromEnv(
	env func(string) (string, bool), userVariable, passwordVariable string,
) (user, password Secret, err error) {
	report := strictyaml.NewReport()
	lookup := strictyaml.Options{Env: env}
	lookup.SecretFromEnv(report.Root().Key("--user-env"), userVariable, &user)
	lookup.SecretFromEnv(report.Root().Key("--password-env"), passwordVariable, &password)
	if err := report.Err(inEnvironment); err != nil {
		return Secret{}, Secret{}, err
	}
	return user, password, nil
}

// SecretFromEnv returns the value of one environment variable that a flag names; its error is
// *Problems.
func SecretFromEnv(env func(string) (string, bool), flag, variable string) (value Secret, err error) {
	report := strictyaml.NewReport()
	strictyaml.Options{Env: env}.SecretFromEnv(report.Root().Key(flag), variable, &value)
	if err := report.Err(inEnvironment); err != nil {
		return Secret{}, err
	}
	return value, nil
}

// SecretFromFile returns the secret in a file that a flag names; its error is *Problems.
func SecretFromFile(flag, name string) (value Secret, err error) {
	report := strictyaml.NewReport()
	strictyaml.Options{}.SecretFromFile(report.Root().Key(flag), name, &value)
	if err := report.Err(inCommandLine); err != nil {
		return Secret{}, err
	}
	return value, nil
}

// variables are settings in the environment; the place of each is its name.
type variables struct {
	Place
	env func(string) (string, bool)
}

// required returns the value of a variable that has no default, or reports that it is missing.
func (v variables) required(name, fix string) string {
	value, _ := v.env(name)
	if value == "" {
		v.Key(name).Unreadable("The environment variable is not set; the query command has no default.", fix)
	}
	return value
}

func (v variables) secret(name string, into *Secret) {
	strictyaml.Options{Env: v.env}.SecretFromEnv(v.Key(name), name, into)
}

func (v variables) password(into *Secret) {
	_, byEnv := v.env(queryPassword)
	file, byFile := v.env(queryPasswordFile)
	switch {
	case byEnv && byFile:
		v.Key(queryPasswordFile).Problem("Both "+queryPassword+" and "+queryPasswordFile+" are set.",
			"Unset one of the two.")
	case byEnv:
		v.secret(queryPassword, into)
	case byFile:
		strictyaml.Options{}.SecretFromFile(v.Key(queryPasswordFile), file, into)
	default:
		v.required(queryPassword, "Set it, or name a file by "+queryPasswordFile+".")
	}
}

func (v variables) encryption(m *MySQL) {
	at := v.Key(queryTLS)
	remote := !loopback(m.Address)
	if remote {
		m.TLS = TLSVerify
	}
	if mode, ok := v.env(queryTLS); ok && m.TLS.UnmarshalText([]byte(mode)) != nil {
		at.Problem("The value is not a TLS mode.", m.TLS.Hint())
	}
	if file, ok := v.env(queryCAFile); ok {
		m.CAFile = File(file)
	}
	checkTLS(at, m.TLS, m.CAFile, remote)
}

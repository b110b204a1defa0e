package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"
)

// Source is one server with one account. It may be printed: the account is behind a function.
type Source struct {
	// ID is the name that agents use.
	ID string
	// Address is host:port.
	Address string
	// Account returns user and password; it is asked at every connect, so both may rotate.
	Account func() (user, password string, err error)
	// TLS encrypts connections; nil means plain TCP.
	TLS *tls.Config
	// MaxConnections bounds the sessions for statements; zero means 8. At most two more are
	// opened to stop statements.
	MaxConnections int
	// QueryTimeout bounds each statement, on the server too; zero means 5 s.
	QueryTimeout time.Duration
	// SQLModeExtra adds to the session's sql_mode; see SQLModes.
	SQLModeExtra []string
	// RequireReadOnlyAccount refuses an account that may do more than SELECT.
	RequireReadOnlyAccount bool
}

// Options are timeouts, the same for all sources. The zero value is good.
type Options struct {
	// SlotWait bounds the wait for a free session; zero means 1 s.
	SlotWait time.Duration
	// ConnectTimeout bounds dialling, logging in and pinning a session; zero means 3 s.
	ConnectTimeout time.Duration
	// KillTimeout bounds stopping a statement on the server; zero means 2 s.
	KillTimeout time.Duration
}

const (
	defaultConnections = 8
	idleTime           = 5 * time.Minute // below the eight hours of wait_timeout, and what firewalls forget
	lifetime           = 30 * time.Minute
	killConnections    = 2
)

// SQLModes lists the modes that may be added to a session's sql_mode. Those that change how
// SQL is read, such as ANSI_QUOTES, would make the server read what the guard did not print.
func SQLModes() []string {
	return []string{"ALLOW_INVALID_DATES", "NO_UNSIGNED_SUBTRACTION", "NO_ZERO_DATE", "NO_ZERO_IN_DATE",
		"ONLY_FULL_GROUP_BY", "PAD_CHAR_TO_FULL_LENGTH", "TIME_TRUNCATE_FRACTIONAL"}
}

// check returns every problem of the source and fills in defaults.
func (s Source) check() (Source, error) {
	var problems []error
	problem := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("data source %q: "+format, append([]any{s.ID}, args...)...))
	}
	if s.ID == "" {
		problem("it needs an id")
	}
	if host, port, err := net.SplitHostPort(s.Address); err != nil || host == "" || port == "" {
		problem("its address must be host:port") // the address itself stays out of messages
	}
	if s.Account == nil {
		problem("it needs an account")
	}
	s = s.WithDefaults()
	if s.MaxConnections < 0 || s.QueryTimeout < time.Millisecond {
		problem("its limits must be positive")
	}
	for _, mode := range s.SQLModeExtra {
		if !slices.Contains(SQLModes(), mode) {
			problem("sql_mode %q may not be added; those that may are %v", mode, SQLModes())
		}
	}
	return s, errors.Join(problems...)
}

// WithDefaults returns the source with the default in place of every bound that is zero, as Open
// uses it. The configuration has the same defaults: test/defaults compares them.
func (s Source) WithDefaults() Source {
	if s.MaxConnections == 0 {
		s.MaxConnections = defaultConnections
	}
	if s.QueryTimeout == 0 {
		s.QueryTimeout = 5 * time.Second
	}
	return s
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&o.SlotWait, time.Second}, {&o.ConnectTimeout, 3 * time.Second}, {&o.KillTimeout, 2 * time.Second}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	return o
}

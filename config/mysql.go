package config

import (
	"slices"
	"time"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

// MySQL is a data source on a MySQL or MariaDB server.
type MySQL struct {
	// Address is host:port.
	Address  string  `yaml:"address" required:"true" doc:"host:port of the server."`
	User     Secret  `yaml:"user" required:"true" doc:"The account's name"`
	Password Secret  `yaml:"password" doc:"The account's password"`
	TLS      TLSMode `yaml:"tls" doc:"Encryption of the connection."`
	CAFile   File    `yaml:"ca_file"`
	// MaxConnections limits the pool; one more connection is used to stop statements.
	MaxConnections int           `yaml:"max_connections" min:"1" max:"1000" doc:"Most connections for queries."`
	QueryTimeout   time.Duration `yaml:"query_timeout" min:"10ms" max:"1h"`
	MaxRows        int           `yaml:"max_rows" min:"1" max:"1000000" doc:"Most rows that the agent receives."`
	MaxCell        ByteSize      `yaml:"max_cell" min:"16B" max:"16MiB"`
	SQLModeExtra   []string      `yaml:"sql_mode_extra"`
	// RequireReadOnlyAccount refuses an account that may do more than SELECT.
	RequireReadOnlyAccount bool      `yaml:"require_read_only_account"`
	DefaultSchema          string    `yaml:"default_schema" doc:"Schema of table names without one."`
	Functions              Functions `yaml:"functions"`
	Allow                  Allowlist `yaml:"allow"`
	// LeftOut and Views are for allowlist check, which reports what is in neither list.
	LeftOut Allowlist `yaml:"left_out"`
	Views   []string  `yaml:"views"`
}

// caFileDoc is the description of every key ca_file, as a tag.
const caFileDoc = `doc:"PEM file with the authorities that are trusted instead of the system's."`

// Tags implements strictyaml.Tagger.
func (MySQL) Tags() strictyaml.Tags {
	return strictyaml.Tags{
		"ca_file":       caFileDoc,
		"query_timeout": `doc:"Longest time of a statement; one that takes longer is stopped on the server."`,
		"max_cell":      `doc:"Most bytes of one cell; longer ones are cut and marked."`,
		"sql_mode_extra": `enum:"ALLOW_INVALID_DATES|NO_UNSIGNED_SUBTRACTION|NO_ZERO_DATE|NO_ZERO_IN_DATE|` +
			`ONLY_FULL_GROUP_BY|PAD_CHAR_TO_FULL_LENGTH|TIME_TRUNCATE_FRACTIONAL" ` +
			`doc:"Modes added to the session's sql_mode. Those that change how SQL is read are not available."`,
		"require_read_only_account": `doc:"Refuse to start with an account that may do more than SELECT."`,
		"functions":                 `doc:"SQL functions that queries may call: default, or a list of names."`,
		"allow":                     `doc:"What may be read: schema.table to its columns. Everything else is refused."`,
		"left_out": `doc:"Columns of allowed tables that are known and not readable: ` +
			`allowlist check reports those that are in neither list."`,
		"views": `doc:"Allowed names, as schema.table, that are known to be views: ` +
			`allowlist check reports a table that became one."`,
	}
}

func newMySQL() *MySQL {
	return &MySQL{
		TLS: TLSDisabled, MaxConnections: 8, QueryTimeout: 5 * time.Second, MaxRows: 200, MaxCell: 4 << 10,
		Functions: Functions{Default: true},
	}
}

// Validate checks addresses, encryption and schema names.
func (m *MySQL) Validate(at Place) {
	checkAddress(at.Key("address"), m.Address, "3306")
	checkTLS(at, m.TLS, m.CAFile, !loopback(m.Address))
	if !m.Password.given() {
		at.Key("password_env").Warn("The data source connects without a password.",
			"Give the account a password and name it by password_env or password_file.")
	}
	if !m.RequireReadOnlyAccount {
		at.Key("require_read_only_account").Warn(
			"An account that may write is accepted, with a warning in the log only.",
			"Write require_read_only_account: true; allowlist grants prints what makes such an account.")
	}
	m.validateKnown(at)
	if len(m.Allow) == 0 {
		at.Key("allow").Warn("Nothing may be read: every query is refused.",
			"List tables and columns; allowlist init writes such a list.")
	}
	if m.DefaultSchema == "" {
		return
	}
	place := at.Key("default_schema")
	if !checkName(place, m.DefaultSchema, "schema") || len(m.Allow) == 0 {
		return
	}
	if !slices.ContainsFunc(m.Allow, func(t Table) bool { return t.Schema == m.DefaultSchema }) {
		place.Warn("No table of the default schema may be read.",
			"Check its spelling: schema names are case-sensitive.")
	}
}

// validateKnown checks left_out and views against allow.
func (m *MySQL) validateKnown(at Place) {
	for _, left := range m.LeftOut {
		place := at.Key("left_out").Key(left.Schema + "." + left.Name)
		allowed := m.table(left.Schema, left.Name)
		if allowed == nil {
			place.Problem("The table is not below allow, so all of it is left out.",
				"Remove it from left_out, or allow some of its columns.")
			continue
		}
		for i, c := range left.Columns {
			if slices.ContainsFunc(allowed.Columns, func(a Column) bool { return fold(a.Name) == fold(c.Name) }) {
				place.Index(i).Problem("The column is below allow too.", "Remove it from one of the two.")
			}
		}
	}
	for i, name := range m.Views {
		schema, table, ok := splitTable(name)
		if !ok || m.table(schema, table) == nil {
			at.Key("views").Index(i).Problem("The name is not below allow.",
				"Write it as allow has it, as in shop.orders, or remove it.")
		}
	}
}

// validateWith checks the source against the rest of the configuration.
func (m *MySQL) validateWith(c Config, at Place) {
	if m.MaxCell > c.Limits.AgentResult {
		at.Key("max_cell").Warn("One cell may be larger than limits.agent_result.",
			"Lower max_cell or raise limits.agent_result.")
	}
	if m.QueryTimeout > c.Runs.MaxTTL {
		at.Key("query_timeout").Warn("A query may take longer than runs.max_ttl lets a run live.",
			"Lower query_timeout or raise runs.max_ttl.")
	}
}

// table returns the allowed table of that name, or nil.
func (m *MySQL) table(schema, name string) *Table {
	i := slices.IndexFunc(m.Allow, func(t Table) bool { return t.Schema == schema && t.Name == name })
	if i < 0 {
		return nil
	}
	return &m.Allow[i]
}

// IsView reports whether the table is listed below views.
func (m *MySQL) IsView(t Table) bool {
	return slices.ContainsFunc(m.Views, func(name string) bool {
		schema, table, ok := splitTable(name)
		return ok && schema == t.Schema && table == t.Name
	})
}

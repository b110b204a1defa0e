package config

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v4"
)

// KindMySQL is the kind of MySQL and MariaDB data sources.
const KindMySQL = "mysql"

// MySQL is a data source on a MySQL or MariaDB server.
type MySQL struct {
	// Address is host:port.
	Address  string  `yaml:"address" required:"true" doc:"host:port of the server."`
	User     Secret  `yaml:"user" required:"true" doc:"The account's name"`
	Password Secret  `yaml:"password" doc:"The account's password"`
	TLS      TLSMode `yaml:"tls" doc:"Encryption of the connection."`
	CAFile   File    `yaml:"ca_file" doc:"PEM file with the authorities that are trusted instead of the system's."`
	// MaxConnections bounds the pool; one more connection is used to stop statements.
	MaxConnections int           `yaml:"max_connections" min:"1" max:"1000" doc:"Most connections for queries."`
	QueryTimeout   time.Duration `yaml:"query_timeout" min:"10ms" max:"1h" doc:"Longest run of a statement; it is stopped on the server."`
	MaxRows        int           `yaml:"max_rows" min:"1" max:"1000000" doc:"Most rows that the agent receives."`
	MaxCell        ByteSize      `yaml:"max_cell" min:"16B" max:"16MiB" doc:"Most bytes of one cell; longer ones are cut and marked."`
	SQLModeExtra   []string      `yaml:"sql_mode_extra" enum:"ALLOW_INVALID_DATES|NO_UNSIGNED_SUBTRACTION|NO_ZERO_DATE|NO_ZERO_IN_DATE|ONLY_FULL_GROUP_BY|PAD_CHAR_TO_FULL_LENGTH|TIME_TRUNCATE_FRACTIONAL" doc:"Modes added to the session's sql_mode. Those that change how SQL is read are not available."`
	// RequireReadOnlyAccount refuses an account that may do more than SELECT.
	RequireReadOnlyAccount bool      `yaml:"require_read_only_account" doc:"Refuse to start with an account that may do more than SELECT."`
	DefaultSchema          string    `yaml:"default_schema" doc:"Schema of table names without one."`
	Functions              Functions `yaml:"functions" doc:"SQL functions that queries may call: default, or a list of names."`
	Allow                  Allowlist `yaml:"allow" doc:"What may be read: schema.table to its columns. Everything else is refused."`
	// LeftOut and Views are for allowlist check, which reports what stands in neither list.
	LeftOut Allowlist `yaml:"left_out" doc:"Columns of allowed tables that are known and not readable: allowlist check reports those that stand in neither list."`
	Views   []string  `yaml:"views" doc:"Allowed names, as schema.table, that are known to be views: allowlist check reports a table that became one."`
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
		at.Key("password_env").Warn("The data source connects without a password.", "Give the account a password and name it by password_env or password_file.")
	}
	if !m.RequireReadOnlyAccount {
		at.Key("require_read_only_account").Warn("An account that may write is accepted, with a warning in the log only.", "Write require_read_only_account: true; allowlist grants prints what makes such an account.")
	}
	m.validateKnown(at)
	if len(m.Allow) == 0 {
		at.Key("allow").Warn("Nothing may be read: every query is refused.", "List tables and columns; allowlist init writes such a list.")
	}
	if m.DefaultSchema == "" {
		return
	}
	place := at.Key("default_schema")
	if !checkName(place, m.DefaultSchema, "schema") || len(m.Allow) == 0 {
		return
	}
	if !slices.ContainsFunc(m.Allow, func(t Table) bool { return t.Schema == m.DefaultSchema }) {
		place.Warn("No table of the default schema may be read.", "Check its spelling: schema names are case-sensitive.")
	}
}

// validateKnown checks left_out and views against allow.
func (m *MySQL) validateKnown(at Place) {
	for _, left := range m.LeftOut {
		place := at.Key("left_out").Key(left.Schema + "." + left.Name)
		allowed := m.table(left.Schema, left.Name)
		if allowed == nil {
			place.Problem("The table is not below allow, so all of it is left out.", "Remove it from left_out, or allow some of its columns.")
			continue
		}
		for i, c := range left.Columns {
			if slices.ContainsFunc(allowed.Columns, func(a Column) bool { return fold(a.Name) == fold(c.Name) }) {
				place.Index(i).Problem("The column stands below allow too.", "Remove it from one of the two.")
			}
		}
	}
	for i, name := range m.Views {
		schema, table, ok := splitTable(name)
		if !ok || m.table(schema, table) == nil {
			at.Key("views").Index(i).Problem("The name is not below allow.", "Write it as allow has it, as in shop.orders, or remove it.")
		}
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

// Functions are the SQL functions that queries may call.
type Functions struct {
	// Default is the guard's own list.
	Default bool
	// Names is an explicit list, in any letter case; the guard refuses names it does not know.
	Names []string
}

const functionForm = "^[A-Za-z_][A-Za-z0-9_]{0,63}$"

var functionName = regexp.MustCompile(functionForm)

func (f *Functions) readNode(r *reader, at Place, n *yaml.Node) {
	const fix = "Write functions: default, or a list of names such as [COUNT, SUM]."
	if n = r.resolve(at, n); n == nil {
		return
	}
	if n.Kind == yaml.ScalarNode && n.Value == "default" {
		return
	}
	if n.Kind != yaml.SequenceNode {
		at.unreadable("The functions are the word default or a list of names, not "+describe(n)+".", fix)
		return
	}
	*f = Functions{Names: []string{}}
	seen := map[string]bool{}
	for i, item := range n.Content {
		place := at.Index(i)
		var name string
		if !r.text(place, item, &name) {
			continue
		}
		switch key := strings.ToUpper(name); {
		case !functionName.MatchString(name):
			place.Problem("This is not the name of a function.", "Write the bare name without parentheses, such as COUNT.")
		case seen[key]:
			place.Problem("The function is listed twice.", "Remove one of the two.")
		default:
			seen[key] = true
			f.Names = append(f.Names, name)
		}
	}
}

func (Functions) schema() *jsonschema.Schema {
	word := any("default")
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Const: &word},
		{Type: "array", Items: &jsonschema.Schema{Type: "string", Pattern: functionForm}},
	}}
}

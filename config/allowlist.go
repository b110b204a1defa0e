package config

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

// Allowlist is what may be read, in the file's order. Schema and table names are exact; column
// names are unique by ASCII letter case.
type Allowlist []Table

// Table is one table or view and the columns that may be read.
type Table struct {
	Schema, Name string
	Columns      []Column
}

// Column is one column: a bare name, or a section.
type Column struct {
	Name string `yaml:"column" required:"true" doc:"The column's name."`
	// Sensitive redacts the column's values wherever they would show.
	Sensitive bool `yaml:"sensitive" doc:"Redact the values of this column."`
	// Key tells the table's rows apart, together with the other columns that have it set.
	Key bool `yaml:"key" doc:"Set on each column of the primary key: then rows are ordered by it without a sort, and GROUP BY that key allows the table's other columns."`
	// MaxLength bounds what computing with a value may cost.
	MaxLength int `yaml:"max_length" min:"0" doc:"The most characters that a value has, where the type does not say it."`
	// Type and Comment are shown to agents that ask for the schema.
	Type    string `yaml:"type" doc:"The column's type, as agents are told."`
	Comment string `yaml:"comment" doc:"One sentence about the column, as agents are told."`
}

// The longest names, and the longest text that agents are told about a column, in characters.
const (
	maxName    = 64
	maxComment = 200
)

// ReadYAML implements strictyaml.NodeReader.
func (a *Allowlist) ReadYAML(n strictyaml.Node) {
	seen := map[[2]string]bool{}
	for name, value := range n.Entries() {
		schema, table, ok := splitTable(name)
		if !ok {
			value.Unreadable("A table is named by schema and table with one dot between.",
				"Write it as shop.orders; put a name that contains a dot in back quotes, as in shop.`old.orders`.")
			continue
		}
		if !checkName(value.Place, schema, "schema") || !checkName(value.Place, table, "table") {
			continue
		}
		if seen[[2]string{schema, table}] {
			value.Problem("The table is listed twice.", "Join the two lists of columns.")
			continue
		}
		seen[[2]string{schema, table}] = true
		*a = append(*a, Table{Schema: schema, Name: table, Columns: readColumns(value)})
	}
}

func readColumns(n strictyaml.Node) []Column {
	const fix = "Write a list of columns, such as [id, {column: email, sensitive: true}]."
	items := n.Items()
	switch {
	case n.Kind() != strictyaml.Empty && n.Kind() != strictyaml.List:
		n.Unreadable("The columns are a list, not "+n.Describe()+".", fix)
		return nil
	case len(items) == 0:
		n.Unreadable("The table has no columns.", fix)
		return nil
	}
	columns := make([]Column, 0, len(items))
	seen := map[string]bool{}
	for _, item := range items {
		column, ok := readColumn(item)
		if !ok {
			continue
		}
		if seen[fold(column.Name)] {
			item.Problem("The column is listed twice; letter case does not tell columns apart.",
				"Remove one of the two.")
			continue
		}
		seen[fold(column.Name)] = true
		columns = append(columns, column)
	}
	return columns
}

// readColumn reads a bare name or a section, and reports whether the column is usable.
func readColumn(n strictyaml.Node) (c Column, ok bool) {
	switch n.Kind() {
	case strictyaml.Empty:
		n.Unreadable("The column has no name.",
			"Write the column's name; put the word null in quotes if that is its name.")
		return c, false
	case strictyaml.Mapping:
		n.Struct(&c)
		if c.Name == "" {
			return c, false
		}
		checkShown(n.Key("type"), c.Type)
		checkShown(n.Key("comment"), c.Comment)
		return c, checkName(n.Key("column"), c.Name, "column")
	}
	c.Name, ok = n.Text()
	return c, ok && checkName(n.Place, c.Name, "column")
}

// checkShown limits what agents are told, so that a description costs few tokens.
func checkShown(at Place, text string) {
	if utf8.RuneCountInString(text) > maxComment || strings.ContainsFunc(text, unicode.IsControl) {
		at.Problem("The text is longer than 200 characters or has control characters.", "Write one short sentence.")
	}
}

var systemSchemas = []string{"information_schema", "mysql", "performance_schema", "sys"}

// checkName reports whether the name of a schema, table or column is usable; if not, it reports
// why not.
func checkName(at Place, name, what string) bool {
	switch {
	case name == "" || utf8.RuneCountInString(name) > maxName:
		at.Unreadable("The name of a "+what+" has 1 to 64 characters.", "Write the name as the database has it.")
	case strings.TrimSpace(name) != name || strings.ContainsFunc(name, unicode.IsControl):
		at.Unreadable("The name of the "+what+" begins or ends with a blank, or has control characters.",
			"Write the name as the database has it.")
	case name == "*":
		at.Unreadable("A wildcard would allow columns and tables that nobody has looked at.",
			"List the names one by one; allowlist init writes such a list.")
	case what == "schema" && slices.Contains(systemSchemas, fold(name)):
		at.Unreadable("The schema belongs to the server and is never served.", "Remove it.")
	default:
		return true
	}
	return false
}

// splitTable splits schema.table at its one dot. A part in back quotes may hold dots, and a
// back quote written twice.
func splitTable(text string) (schema, table string, ok bool) {
	schema, rest, ok := namePart(text)
	if !ok || !strings.HasPrefix(rest, ".") {
		return "", "", false
	}
	table, rest, ok = namePart(rest[1:])
	return schema, table, ok && rest == ""
}

func namePart(text string) (name, rest string, ok bool) {
	if !strings.HasPrefix(text, "`") {
		end := strings.IndexAny(text, ".`")
		if end < 0 {
			end = len(text)
		}
		return text[:end], text[end:], true
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		if text[i] != '`' {
			b.WriteByte(text[i])
			continue
		}
		if i+1 == len(text) || text[i+1] != '`' {
			return b.String(), text[i+1:], true
		}
		b.WriteByte('`')
		i++
	}
	return "", "", false
}

// JSONSchema implements strictyaml.Schemer.
func (Allowlist) JSONSchema() *jsonschema.Schema {
	column := strictyaml.Schema(&Column{})
	return &jsonschema.Schema{
		Type:          "object",
		PropertyNames: &jsonschema.Schema{Pattern: "^([^.`]+|`([^`]|``)+`)\\.([^.`]+|`([^`]|``)+`)$"},
		AdditionalProperties: &jsonschema.Schema{
			Type: "array", MinItems: jsonschema.Ptr(1),
			Items: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, column}},
		},
	}
}

// fold maps ASCII capitals to small letters and nothing else, as MySQL compares column names.
func fold(name string) string {
	return strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			return c + ('a' - 'A')
		}
		return c
	}, name)
}

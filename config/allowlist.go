package config

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v4"
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
	// Type and Comment are shown to agents that ask for the schema.
	Type    string `yaml:"type" doc:"The column's type, as agents are told."`
	Comment string `yaml:"comment" doc:"One sentence about the column, as agents are told."`
}

// The bounds of names and of what agents are told about a column, in characters.
const (
	maxName    = 64
	maxComment = 200
)

func (a *Allowlist) readNode(r *reader, at Place, n *yaml.Node) {
	seen := map[[2]string]bool{}
	r.mapping(at, n, func(name string, at Place, value *yaml.Node) {
		schema, table, ok := splitTable(name)
		if !ok {
			at.unreadable("A table is named by schema and table with one dot between.", "Write it as shop.orders; a name that has a dot of its own stands in back quotes, as in shop.`old.orders`.")
			return
		}
		if !checkName(at, schema, "schema") || !checkName(at, table, "table") {
			return
		}
		if seen[[2]string{schema, table}] {
			at.Problem("The table is listed twice.", "Join the two lists of columns.")
			return
		}
		seen[[2]string{schema, table}] = true
		*a = append(*a, Table{Schema: schema, Name: table, Columns: r.columns(at, value)})
	})
}

func (r *reader) columns(at Place, n *yaml.Node) []Column {
	const fix = "Write a list of columns, such as [id, {column: email, sensitive: true}]."
	if n = r.resolve(at, n); n == nil || (n.Kind == yaml.SequenceNode && len(n.Content) == 0) {
		at.unreadable("The table has no columns.", fix)
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		at.unreadable("The columns are a list, not "+describe(n)+".", fix)
		return nil
	}
	columns := make([]Column, 0, len(n.Content))
	seen := map[string]bool{}
	for i, item := range n.Content {
		place := at.Index(i)
		column, ok := r.column(place, item)
		if !ok {
			continue
		}
		if seen[fold(column.Name)] {
			place.Problem("The column is listed twice; letter case does not tell columns apart.", "Remove one of the two.")
			continue
		}
		seen[fold(column.Name)] = true
		columns = append(columns, column)
	}
	return columns
}

func (r *reader) column(at Place, n *yaml.Node) (Column, bool) {
	var c Column
	if n = r.resolve(at, n); n == nil {
		at.unreadable("The column has no name.", "Write the column's name; put the word null in quotes if that is its name.")
		return c, false
	}
	if n.Kind == yaml.MappingNode {
		r.structure(at, n, &c)
		if c.Name == "" {
			return c, false
		}
		checkShown(at.Key("type"), c.Type)
		checkShown(at.Key("comment"), c.Comment)
		return c, checkName(at.Key("column"), c.Name, "column")
	}
	return c, r.text(at, n, &c.Name) && checkName(at, c.Name, "column")
}

// checkShown bounds what agents are told, so that a description costs few tokens.
func checkShown(at Place, text string) {
	if utf8.RuneCountInString(text) > maxComment || strings.ContainsFunc(text, unicode.IsControl) {
		at.Problem("The text is longer than 200 characters or has control characters.", "Write one short sentence.")
	}
}

var systemSchemas = []string{"information_schema", "mysql", "performance_schema", "sys"}

// checkName judges the name of a schema, table or column and reports whether it is usable.
func checkName(at Place, name, what string) bool {
	switch {
	case name == "" || utf8.RuneCountInString(name) > maxName:
		at.unreadable("The name of a "+what+" has 1 to 64 characters.", "Write the name as the database has it.")
	case strings.TrimSpace(name) != name || strings.ContainsFunc(name, unicode.IsControl):
		at.unreadable("The name of the "+what+" begins or ends with a blank, or has control characters.", "Write the name as the database has it.")
	case name == "*":
		at.unreadable("A wildcard would allow columns and tables that nobody has looked at.", "List the names one by one; allowlist init writes such a list.")
	case what == "schema" && slices.Contains(systemSchemas, fold(name)):
		at.unreadable("The schema belongs to the server and is never served.", "Remove it.")
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

func (Allowlist) schema() *jsonschema.Schema {
	column := structSchema(&Column{})
	return &jsonschema.Schema{
		Type:          "object",
		PropertyNames: &jsonschema.Schema{Pattern: "^([^.`]+|`([^`]|``)+`)\\.([^.`]+|`([^`]|``)+`)$"},
		AdditionalProperties: &jsonschema.Schema{
			Type: "array", MinItems: jsonschema.Ptr(1),
			Items: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, column}},
		},
	}
}

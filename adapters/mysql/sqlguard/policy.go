package sqlguard

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Column is one allowlisted column. A Sensitive column may only be projected whole, and is to be redacted in results.
// Comment is for the reader of a schema; of Type the guard takes how long a value can get, and nothing else.
type Column struct {
	Name      string
	Sensitive bool
	Type      string
	Comment   string
	// MaxLength is how many characters a value has at most (bytes, of a binary column). Zero means what Type says, such
	// as varchar(40), or else UnknownLength.
	MaxLength int
	// Key is set for the columns of one key that tells the table's rows apart: each is NOT NULL, and no two rows have the
	// same values. With it the order of rows costs no sort, and GROUP BY that key allows every column of the table.
	Key bool
}

// Table is one allowlisted table, its names exactly as the database spells them.
type Table struct {
	Schema  string
	Name    string
	Columns []Column
}

// Policy is what a data source's configuration allows.
type Policy struct {
	DefaultSchema string // schema of unqualified table names; may be empty: then every table must be qualified
	Tables        []Table
	Functions     []string // names in any letter case; nil means DefaultFunctions()
	MaxRows       int      // rows a statement may deliver, at least 1
}

// Guard prepares statements under one policy. It is safe for concurrent use.
type Guard struct {
	defaultSchema string
	tables        []*table
	schemas       map[string]map[string]*table
	functions     map[string]*function
	synonyms      map[string]*function // that are allowed under another name
	functionNames []string
	maxRows       uint64
	workers       sync.Pool
	// afterPrint, set by a test only, changes the printed text before it is verified.
	afterPrint func(printed []byte) []byte
}

// table is a Table with an index of its columns by ASCII lower-cased name.
type table struct {
	Table
	columns map[string]int
	full    string // schema.table
	quoted  string // `schema`.`table`

	quotedColumns []string // `column`
	fullColumns   []string // schema.table.column

	lengths []float64 // of the columns' values, at most
	key     []int     // columns of a key, none of them sensitive
}

// New builds a Guard. The error joins every problem of the policy.
func New(p Policy) (*Guard, error) {
	g := &Guard{defaultSchema: p.DefaultSchema, schemas: map[string]map[string]*table{}, functions: map[string]*function{}, synonyms: map[string]*function{}, maxRows: uint64(max(p.MaxRows, 0))}
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	if p.MaxRows < 1 {
		problem("max rows must be at least 1, not %d", p.MaxRows)
	}
	if len(p.Tables) == 0 {
		problem("no table is allowed")
	}
	for _, t := range p.Tables {
		g.addTable(t, problem)
	}
	if p.DefaultSchema != "" && len(p.Tables) > 0 && g.schemas[p.DefaultSchema] == nil {
		problem("default schema %q has no allowed table", p.DefaultSchema)
	}
	g.addFunctions(p.Functions, problem)
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	g.workers.New = func() any { return newWorker() }
	return g, nil
}

func (g *Guard) addTable(t Table, problem func(string, ...any)) {
	full := t.Schema + "." + t.Name
	for _, name := range []string{t.Schema, t.Name} {
		if why := badName(name); why != "" {
			problem("table %q: name %q %s", full, name, why)
		}
	}
	if len(t.Columns) == 0 {
		problem("table %q has no allowed column", full)
	}
	if g.schemas[t.Schema][t.Name] != nil {
		problem("table %q is listed twice", full)
	}
	entry := &table{Table: t, columns: make(map[string]int, len(t.Columns)), full: full, quoted: quoteName(t.Schema) + "." + quoteName(t.Name)}
	entry.Columns = slices.Clone(t.Columns)
	for i, c := range t.Columns {
		if why := badName(c.Name); why != "" {
			problem("table %q: column %q %s", full, c.Name, why)
		}
		if isPrivateName(c.Name) {
			problem("table %q: column %q has a name that printed statements use themselves", full, c.Name)
		}
		key := lowerASCII(c.Name)
		if _, twice := entry.columns[key]; twice {
			problem("table %q: column %q is listed twice", full, c.Name)
		}
		entry.columns[key] = i
		if c.Key {
			entry.key = append(entry.key, i)
		}
		entry.lengths = append(entry.lengths, c.length())
		entry.quotedColumns = append(entry.quotedColumns, quoteName(c.Name))
		entry.fullColumns = append(entry.fullColumns, full+"."+c.Name)
	}
	if slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Key && c.Sensitive }) {
		entry.key = nil
	}
	if g.schemas[t.Schema] == nil {
		g.schemas[t.Schema] = map[string]*table{}
	}
	g.schemas[t.Schema][t.Name] = entry
	g.tables = append(g.tables, entry)
}

func (g *Guard) addFunctions(names []string, problem func(string, ...any)) {
	if names == nil {
		names = DefaultFunctions()
	}
	known := catalogue()
	for _, name := range names {
		upper := strings.ToUpper(name)
		switch f := known[upper]; {
		case f == nil:
			problem("function %q is not one that can be allowed", name)
		case g.functions[upper] != nil:
			problem("function %q is listed twice", name)
		default:
			g.functions[upper] = f
			if canonical := map[string]string{"STDDEV": "STDDEV_POP", "STD": "STDDEV_POP", "VARIANCE": "VAR_POP"}[upper]; canonical != "" {
				g.synonyms[canonical] = known[canonical] // as which the parser reads it
			}
			g.functionNames = append(g.functionNames, upper)
		}
	}
	slices.Sort(g.functionNames)
}

// Tables returns the allowlist, in the order of the policy.
func (g *Guard) Tables() []Table {
	out := make([]Table, len(g.tables))
	for i, t := range g.tables {
		out[i] = t.Table
		out[i].Columns = slices.Clone(t.Columns)
	}
	return out
}

// Table finds an allowlisted table by its exact name, qualified ("shop.orders") or, in the default schema, not.
// When there is none, near is the closest allowlisted name, or empty.
func (g *Guard) Table(name string) (t Table, near string, found bool) {
	for _, entry := range g.tables {
		if name == entry.full || name == entry.Name && entry.Schema == g.defaultSchema {
			t = entry.Table
			t.Columns = slices.Clone(entry.Columns)
			return t, "", true
		}
	}
	return Table{}, g.nearTable(name), false
}

// Functions returns the allowed function names in upper case, sorted.
func (g *Guard) Functions() []string { return slices.Clone(g.functionNames) }

// DefaultSchema returns the schema of unqualified table names; it may be empty.
func (g *Guard) DefaultSchema() string { return g.defaultSchema }

// MaxRows returns the most rows a statement may deliver.
func (g *Guard) MaxRows() int { return int(g.maxRows) }

// badName says what is wrong with a name of the allowlist, or nothing.
func badName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case !utf8.ValidString(name):
		return "is not valid UTF-8"
	case utf8.RuneCountInString(name) > maxNameChars:
		return "is longer than 64 characters"
	case strings.HasSuffix(name, " "):
		return "ends with a blank"
	case strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7F || r > 0xFFFF }):
		return "has a character that no identifier can have"
	}
	return ""
}

// isPrivateName reports whether name could be one of the aliases that the printer makes up.
func isPrivateName(name string) bool {
	lower := lowerASCII(name)
	rest, ok := strings.CutPrefix(lower, "_o")
	return ok && rest != "" && strings.Trim(rest, "0123456789") == ""
}

func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// lowerASCII folds A-Z only: that is how far column names are case-insensitive here. Unicode folding would take KELVIN SIGN for k.
func lowerASCII(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for j := i; j < len(b); j++ {
				if 'A' <= b[j] && b[j] <= 'Z' {
					b[j] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// sameName compares two names with ASCII letter case folded.
func sameName(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		x, y := a[i], b[i]
		if x != y {
			if 'A' <= x && x <= 'Z' {
				x += 'a' - 'A'
			}
			if 'A' <= y && y <= 'Z' {
				y += 'a' - 'A'
			}
			if x != y {
				return false
			}
		}
	}
	return true
}

// length is how many characters a value of the column has at most.
func (c Column) length() float64 {
	if c.MaxLength > 0 {
		return float64(c.MaxLength)
	}
	name, rest, _ := strings.Cut(lowerASCII(strings.TrimSpace(c.Type)), "(")
	name, _, _ = strings.Cut(name, " ")
	switch name {
	case "char", "varchar", "binary", "varbinary":
		digits, _, _ := strings.Cut(rest, ")")
		if n, err := strconv.Atoi(strings.TrimSpace(digits)); err == nil && n > 0 {
			return float64(n)
		}
	case "tinytext", "tinyblob":
		return 255
	case "text", "blob":
		return 65535
	case "mediumtext", "longtext", "json", "mediumblob", "longblob":
		return LongLength
	case "tinyint", "smallint", "mediumint", "int", "integer", "bigint", "decimal", "numeric", "float", "double", "bit", "bool", "boolean",
		"date", "datetime", "timestamp", "time", "year", "uuid", "inet4", "inet6":
		return scalarChars
	}
	return UnknownLength
}

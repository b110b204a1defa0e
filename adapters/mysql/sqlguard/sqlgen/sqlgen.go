// Package sqlgen makes random SELECT statements around the grammar that sqlguard accepts, for tests: the same seed gives the same statements.
//
// A Plain statement uses allowed constructs and allowed names only, so a guard must accept it. A Loose one is a Plain one with parentheses
// left out at random: its meaning is whatever the server's precedence makes of it, if it parses at all. A Neighbour has one thing changed into
// something that is not allowed, or that is allowed in some places only. Whatever a guard accepts of any kind must give the rows of the original.
package sqlgen

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Kind says what a guard may do with a statement.
type Kind uint8

// The kinds of statement.
const (
	Plain Kind = iota
	Loose
	Neighbour
)

// Statement is one generated statement with the values of its placeholders: nil, bool, string, int64 or float64.
type Statement struct {
	SQL     string
	Params  []any
	Kind    Kind
	Ordered bool // ORDER BY leaves no two rows in an order of the server's choice

	// Unstable rows hold values that the server may take from any row of a group; only their number is certain.
	Unstable bool
}

// Type is what the generator knows of a column's type.
type Type uint8

// The types of column.
const (
	Number Type = iota
	Text
	Date
)

// Column is a column of the schema that statements are made for.
type Column struct {
	Name string
	Type Type
}

// Table is a table with the columns that are allowed, and with those that are not.
type Table struct {
	Schema, Name string
	Key          []string // columns that tell rows apart
	Columns      []Column
	Hidden       []string // not allowed: a guard does not know them
	Sensitive    []string // allowed as a whole output column only
}

// Schema is what statements are made for. DefaultSchema's tables are written without their schema at times.
type Schema struct {
	DefaultSchema string
	Tables        []Table
	HiddenTables  []string
}

// Generator makes statements. It is not safe for concurrent use.
type Generator struct {
	schema Schema
	r      *rand.Rand
	kind   Kind

	unstable bool
	selected string // the select list
	nullable bool   // NULL may stand here: it is no side of a comparison
	params   []any
	scope    []source
	aliases  []alias
}

type source struct {
	table     Table
	qualifier string
	alias     bool
}

type alias struct {
	name string
	t    Type
}

// New returns a Generator for a schema.
func New(seed uint64, schema Schema) *Generator {
	return &Generator{schema: schema, r: rand.New(rand.NewPCG(seed, 0x5eed))}
}

// Next makes a statement.
func (g *Generator) Next() Statement {
	g.kind = Plain
	switch n := g.r.IntN(10); {
	case n >= 8:
		g.kind = Neighbour
	case n >= 5:
		g.kind = Loose
	}
	g.params, g.scope, g.aliases, g.unstable = nil, nil, nil, false
	sql, ordered := g.statement()
	s := Statement{SQL: sql, Params: g.params, Kind: g.kind, Ordered: ordered, Unstable: g.unstable}
	if g.kind == Neighbour {
		s.SQL = g.mutate(s.SQL)
		s.Ordered = false
		s.Unstable = g.unstable || strings.Contains(sql, "GROUP BY") || strings.Contains(s.SQL, "LIMIT")
	}
	s.SQL = g.dress(s.SQL)
	return s
}

func (g *Generator) chance(percent int) bool { return g.r.IntN(100) < percent }

func pick[T any](g *Generator, from ...T) T { return from[g.r.IntN(len(from))] }

func (g *Generator) statement() (sql string, ordered bool) {
	from := g.from()
	grouped := g.chance(35)
	var groups []string
	var fields []string
	if grouped {
		groups, fields = g.groupedFields()
	} else {
		for range 1 + g.r.IntN(4) {
			fields = append(fields, g.field(false))
		}
	}
	distinct := g.chance(10)
	if distinct {
		fields = []string{g.distinct(fields)}
	}
	g.selected = strings.Join(fields, ", ")
	var b strings.Builder
	// The parts are made in the order in which they stand, because their placeholders are numbered so: only FROM's text is made before the
	// select list's, and it has no placeholder.
	b.WriteString("SELECT ")
	if distinct {
		b.WriteString("DISTINCT ")
	}
	b.WriteString(g.selected)
	b.WriteString(" FROM " + from)
	if g.chance(50) {
		b.WriteString(" WHERE " + g.boolean(3))
	}
	if grouped {
		b.WriteString(" GROUP BY " + strings.Join(groups, ", "))
		if !distinct && g.chance(5) {
			b.WriteString(" WITH ROLLUP")
			return b.String(), false
		}
		if g.chance(40) {
			b.WriteString(" HAVING " + g.having())
		}
	}
	order, total := g.orderBy(grouped, groups, distinct)
	b.WriteString(order)
	if total && g.chance(50) {
		b.WriteString(g.limit())
	}
	return b.String(), total && order != ""
}

func (g *Generator) field(aggregate bool) string {
	t := pick(g, Number, Text, Date)
	var text string
	switch {
	case aggregate:
		t, text = Number, g.aggregate(2)
	case g.chance(5) && g.sensitive() != "":
		return g.sensitive()
	default:
		g.nullable = true
		text = g.expr(t, 3)
		g.nullable = false
	}
	if g.chance(60) {
		name := g.aliasName()
		for _, a := range g.aliases {
			if strings.EqualFold(a.name, name) {
				return text
			}
		}
		g.aliases = append(g.aliases, alias{name, t})
		if quoted := g.quoteAlias(name); quoted[0] == '\'' {
			text += " AS " + quoted // after a string literal it would be more of that literal
		} else {
			text += pick(g, " AS ", " ") + quoted
		}
	}
	return text
}

func (g *Generator) sensitive() string {
	for _, s := range g.scope {
		if len(s.table.Sensitive) > 0 {
			return s.qualifier + "." + s.table.Sensitive[0]
		}
	}
	return ""
}

// aliasName is new, or the name of an allowed or a hidden column: which of the two a reference means is what the guard has to get right.
func (g *Generator) aliasName() string {
	switch g.r.IntN(4) {
	case 0:
		t := pick(g, g.schema.Tables...)
		return pick(g, t.Columns...).Name
	case 1:
		t := pick(g, g.schema.Tables...)
		if len(t.Hidden) > 0 {
			return pick(g, t.Hidden...)
		}
	}
	return fmt.Sprintf("%s%d", pick(g, "n", "x", "Total", "_o", "weird na", "a.b", "sum_"), g.r.IntN(9))
}

func (g *Generator) quoteAlias(name string) string {
	if strings.ContainsAny(name, " .") || g.chance(20) {
		return pick(g, "`"+name+"`", "'"+name+"'")
	}
	return name
}

// groupedFields makes what to group by, without placeholders, because the text stands twice.
func (g *Generator) groupedFields() (groups, fields []string) {
	for i := range 1 + g.r.IntN(2) {
		e := g.group()
		if g.chance(40) {
			name := fmt.Sprintf("g%d", i)
			if g.chance(30) {
				name = g.aliasName()
			}
			fields = append(fields, e+" AS `"+name+"`")
			if g.tablesWith(name) > 0 { // GROUP BY would mean the column, or another alias
				groups = append(groups, e)
				continue
			}
			g.aliases = append(g.aliases, alias{name, Text})
			groups = append(groups, pick(g, "`"+name+"`", "`"+name+"`", e, "`"+name+"`, LEFT(`"+name+"`, 3)"))
			continue
		}
		fields = append(fields, e)
		groups = append(groups, e)
	}
	for range 1 + g.r.IntN(2) {
		fields = append(fields, g.field(true))
	}
	return groups, fields
}

func (g *Generator) group() string {
	switch g.r.IntN(8) {
	case 0:
		return pick(g, "YEAR(", "DATE(", "MONTH(", "HOUR(") + g.column(Date) + ")"
	case 1:
		return "DATE_FORMAT(" + g.column(Date) + ", '%Y-%m')"
	case 2:
		return "MOD(" + g.column(Number) + ", 3)"
	case 3:
		return "FLOOR(" + g.column(Number) + " / 100) * 100"
	case 4:
		return "CASE WHEN " + g.column(Number) + " > 100 THEN 'big' ELSE 'small' END"
	case 5:
		return g.column(Text) + " IS NULL"
	}
	return g.column(pick(g, Number, Text, Date))
}

// distinct is a select list for SELECT DISTINCT: the fields without sensitive columns.
func (g *Generator) distinct(fields []string) string {
	var plain []string
	for _, f := range fields {
		if f != g.sensitive() {
			plain = append(plain, f)
		}
	}
	if len(plain) == 0 {
		return g.column(Number)
	}
	return strings.Join(plain, ", ")
}

func (g *Generator) having() string {
	if a := g.anAlias(); a != "" && g.chance(60) {
		return a + pick(g, " > ", " <> ", " >= ") + g.literal(Number)
	}
	return g.aggregate(1) + pick(g, " > ", " < ", " <> ") + g.literal(Number)
}

func (g *Generator) anAlias() string {
	if len(g.aliases) == 0 {
		return ""
	}
	return "`" + pick(g, g.aliases...).name + "`"
}

// orderBy orders by anything, and then at times by the keys of all tables, which makes the order total.
func (g *Generator) orderBy(grouped bool, groups []string, distinct bool) (text string, total bool) {
	var items []string
	for range g.r.IntN(3) {
		item := g.column(pick(g, Number, Text, Date))
		a := g.anAlias()
		if distinct && (a == "" || !strings.Contains(g.selected, a[1:len(a)-1])) {
			continue // only what is selected orders a SELECT DISTINCT
		}
		switch {
		case a != "" && (distinct || g.chance(60)):
			item = a
			if inside := grouped && distinct || (grouped || distinct) && g.isColumn(a); g.chance(30) && !inside {
				item = pick(g, "ABS("+a+")", a+" + 0", "("+a+")", "CASE WHEN "+a+" > 1 THEN 1 ELSE "+a+" END", "LEFT("+a+", 2)")
			}
		case grouped:
			if item = strings.Split(pick(g, groups...), ", LEFT")[0]; g.chance(50) {
				item = g.aggregate(1)
			}
		}
		items = append(items, item+pick(g, "", " ASC", " DESC"))
	}
	if !grouped && !distinct && g.chance(60) {
		total = true
		for _, s := range g.scope {
			for _, k := range s.table.Key {
				items = append(items, s.qualifier+"."+k)
			}
		}
	}
	if len(items) == 0 {
		return "", false
	}
	return " ORDER BY " + strings.Join(items, ", "), total
}

func (g *Generator) limit() string {
	switch g.r.IntN(4) {
	case 0:
		g.params = append(g.params, int64(1+g.r.IntN(30)))
		return " LIMIT ?"
	case 1:
		g.params = append(g.params, int64(1+g.r.IntN(30)), int64(g.r.IntN(5)))
		return " LIMIT ? OFFSET ?"
	case 2:
		return fmt.Sprintf(" LIMIT %d, %d", g.r.IntN(5), 1+g.r.IntN(30))
	}
	return fmt.Sprintf(" LIMIT %d", 1+g.r.IntN(30))
}

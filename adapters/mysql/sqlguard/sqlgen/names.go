package sqlgen

import "strings"

func (g *Generator) from() string {
	names := []string{"a", "b", "c", "t", "o", "x1", "`tab le`", "name", "`ord``er`", "customers"}
	g.r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var text string
	for i := range 1 + g.r.IntN(3) {
		t := pick(g, g.schema.Tables...)
		s := source{t, names[i], true}
		written := t.Schema + "." + t.Name
		if t.Schema == g.schema.DefaultSchema && g.chance(60) {
			written = t.Name
		}
		if i == 0 && g.chance(30) {
			s.qualifier, s.alias = t.Name, false
		} else {
			written += pick(g, " ", " AS ") + names[i]
		}
		if i > 0 && names[i] == g.scope[0].qualifier {
			break
		}
		g.scope = append(g.scope, s)
		if i == 0 {
			text = written
			continue
		}
		if first := g.scope[0].table; i == 1 && g.chance(15) && first.Key[0] == t.Key[0] {
			text += pick(g, " JOIN ", " LEFT JOIN ") + written + " USING (" + t.Key[0] + ")"
			continue
		}
		text += pick(g, " JOIN ", " INNER JOIN ", " LEFT JOIN ", " LEFT OUTER JOIN ") + written + " ON " + g.joinCondition(i)
	}
	return text
}

// joinCondition compares a column of the new table with one of an earlier table, of the same type. A third table is joined by its key: two
// joins that each multiply the rows give millions.
func (g *Generator) joinCondition(i int) string {
	t := pick(g, Number, Number, Text)
	if i > 1 {
		return g.scope[i].qualifier + "." + g.scope[i].table.Key[0] + " = " + g.columnOf(g.scope[g.r.IntN(i)], t)
	}
	return g.columnOf(g.scope[i], t) + pick(g, " = ", " = ", " = ", " <=> ") + g.columnOf(g.scope[g.r.IntN(i)], t)
}

func (g *Generator) columnOf(s source, t Type) string {
	var names []string
	for _, c := range s.table.Columns {
		if c.Type == t {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		names = s.table.Key
	}
	return s.qualifier + "." + g.name(pick(g, names...))
}

// name writes a column's name in some letter case, with or without quotes.
func (g *Generator) name(n string) string {
	switch g.r.IntN(8) {
	case 0:
		n = strings.ToUpper(n)
	case 1:
		return "`" + n + "`"
	}
	return n
}

// column is a reference to a column of some table in scope. It goes without a qualifier where that is unambiguous and no alias takes it.
func (g *Generator) column(t Type) string {
	s := pick(g, g.scope...)
	text := g.columnOf(s, t)
	bare := text[len(s.qualifier)+1:]
	if g.chance(50) && g.tablesWith(strings.Trim(bare, "`")) == 1 {
		return bare
	}
	if g.chance(10) && !s.alias {
		return s.table.Schema + "." + text
	}
	return text
}

func (g *Generator) tablesWith(name string) int {
	count := 0
	for _, s := range g.scope {
		for _, c := range s.table.Columns {
			if strings.EqualFold(c.Name, name) {
				count++
			}
		}
	}
	for _, a := range g.aliases {
		if strings.EqualFold(a.name, name) {
			count += 2
		}
	}
	return count
}

// isColumn reports whether a table in scope has a column of the name, in backquotes.
func (g *Generator) isColumn(quoted string) bool {
	for _, s := range g.scope {
		for _, c := range s.table.Columns {
			if strings.EqualFold("`"+c.Name+"`", quoted) {
				return true
			}
		}
	}
	return false
}

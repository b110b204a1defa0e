package sqlguard

import "reflect"

// checkGrouping refuses what a server would answer with a value of its own choice. The rules are those of MySQL's
// ONLY_FULL_GROUP_BY, the same for MariaDB, whose own mode differs. Of functional dependence they know one case: where
// the policy says which columns are a table's key, and all of them are grouped by, each column of that table is.
//
//   - Beside an aggregate, or with GROUP BY, a column stands in an aggregate or in what is grouped by. An expression
//     that is grouped by may be repeated whole.
//   - HAVING outside an aggregate names columns that are grouped by or selected, and aliases: nothing else exists there.
//   - ORDER BY of a SELECT DISTINCT is made of what is selected.
//
// It is called for a statement in which nothing else is wrong.
func (t *translator) checkGrouping() {
	s := t.stmt
	implicit := len(s.group) == 0 && s.aggregates()
	if implicit {
		s.order = nil // one row
	}
	g := grouping{t: t, columns: map[columnRef]bool{}}
	whole := map[int]bool{} // fields grouped by under their alias
	for _, e := range s.group {
		if a, ok := e.(aliasRef); ok {
			whole[a.field] = true
			e = s.fields[a.field].expr
		}
		g.add(e)
	}
	g.addByKey()
	if implicit || len(s.group) > 0 {
		for i, f := range s.fields {
			if !whole[i] {
				g.check(f.expr, g.grouped)
			}
		}
		for _, o := range s.order {
			g.check(o.expr, g.grouped)
		}
	}
	if s.having != nil {
		g.columns = map[columnRef]bool{}
		for _, e := range s.group {
			if c, ok := s.meant(e).(columnRef); ok {
				g.columns[c] = true
			}
		}
		for _, f := range s.fields {
			if c, ok := f.expr.(columnRef); ok {
				g.columns[c] = true
			}
		}
		g.exprs = nil // the server looks for the columns, not for the expression
		g.check(s.having, g.inHaving)
	}
	if s.distinct {
		g = grouping{t: t, columns: map[columnRef]bool{}}
		for _, f := range s.fields {
			g.add(f.expr)
		}
		for _, o := range s.order {
			g.checkDistinct(o.expr)
		}
	}
}

// aggregates reports whether there is an aggregate anywhere.
func (s *statement) aggregates() bool {
	for i := range s.fields {
		if s.fieldAggregated(i) {
			return true
		}
	}
	for _, o := range s.order {
		if has[*aggregate](o.expr) {
			return true
		}
	}
	return s.having != nil && has[*aggregate](s.having)
}

// grouping is what expressions may be made of.
type grouping struct {
	t       *translator
	columns map[columnRef]bool
	exprs   []expr // whole expressions
}

// add makes e known. With a placeholder in it, it can only be referred to by its alias: to the server, no two
// placeholders are the same.
func (g *grouping) add(e expr) {
	if c, ok := e.(columnRef); ok {
		g.columns[c] = true
		return
	}
	if !has[marker](e) {
		g.exprs = append(g.exprs, e)
	}
}

// addByKey makes every column of a table known whose key is: both servers take the others to depend on it.
func (g *grouping) addByKey() {
	for i, from := range g.t.stmt.sources {
		grouped := len(from.table.key) > 0
		for _, c := range from.table.key {
			grouped = grouped && g.columns[columnRef{i, c}]
		}
		for c := range from.table.Columns {
			if grouped {
				g.columns[columnRef{i, c}] = true
			}
		}
	}
}

// whole reports whether e is one of the whole expressions.
func (g *grouping) whole(e expr) bool {
	for _, known := range g.exprs {
		if reflect.TypeOf(known) == reflect.TypeOf(e) && reflect.DeepEqual(known, e) {
			return true
		}
	}
	return false
}

// check calls refuse for the first column in e that is neither known nor inside an aggregate or a known expression. An
// alias is passed over: what it stands for is checked where it stands.
func (g *grouping) check(e expr, refuse func(columnRef)) bool {
	switch x := e.(type) {
	case *aggregate:
		return true
	case columnRef:
		if !g.columns[x] {
			refuse(x)
			return false
		}
		return true
	}
	if g.whole(e) {
		return true
	}
	for _, inside := range e.children() {
		if !g.check(inside, refuse) {
			return false
		}
	}
	return true
}

// checkDistinct refuses a part of ORDER BY that is not selected.
func (g *grouping) checkDistinct(e expr) bool {
	c, column := e.(columnRef)
	_, aggregated := e.(*aggregate)
	switch {
	case column && g.columns[c], g.whole(e):
		return true
	case column:
		name := g.t.describe(c)
		g.t.rep.add(rankNotGrouped, "%s orders a SELECT DISTINCT and is not selected: select it too, or leave DISTINCT out", name)
		return false
	case aggregated:
		g.t.rep.add(rankNotGrouped, "an aggregate orders a SELECT DISTINCT and is not selected: select it too, or leave DISTINCT out")
		return false
	}
	for _, inside := range e.children() {
		if !g.checkDistinct(inside) {
			return false
		}
	}
	return true
}

func (g *grouping) grouped(c columnRef) {
	name := g.t.describe(c)
	switch {
	case g.t.columnOf(c).Sensitive:
		g.t.rep.add(rankNotGrouped, "%s is sensitive and cannot be grouped by: select it in a query without aggregates and GROUP BY", name)
	case len(g.t.stmt.group) == 0:
		g.t.rep.add(rankNotGrouped, "%s stands beside an aggregate without GROUP BY: add GROUP BY %s, or use MAX(%s)", name, name, name)
	default:
		g.t.rep.add(rankNotGrouped, "%s is neither grouped by nor in an aggregate: add it to GROUP BY, or use MAX(%s)%s",
			name, name, g.hidden())
	}
}

// hidden tells of an alias that GROUP BY does not mean, because a column carries its name.
func (g *grouping) hidden() string {
	for _, e := range g.t.stmt.group {
		c, ok := e.(columnRef)
		if !ok {
			continue
		}
		for _, f := range g.t.stmt.fields {
			if sameName(f.alias, g.t.columnOf(c).Name) && f.expr != expr(c) {
				return "; in GROUP BY " + show(f.alias) + " is the column " + g.t.describe(c) + ", not the alias"
			}
		}
	}
	return ""
}

func (g *grouping) inHaving(c columnRef) {
	name := g.t.describe(c)
	g.t.rep.add(rankColumn, "HAVING can use selected or grouped columns, aliases and aggregates, not %s: "+
		"move the condition to WHERE, or use SUM(%s) or MAX(%s)", name, name, name)
}

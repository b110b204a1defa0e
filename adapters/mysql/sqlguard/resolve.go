package sqlguard

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"
)

// column resolves a name that was used as a value. The rules are MySQL's, applied to the allowlist alone: nothing outside it can capture a name,
// because every column is printed with its table's private alias and every output column under a private name.
func (t *translator) column(n *ast.ColumnName) expr {
	t.named = true
	if n.Table.O != "" || n.Schema.O != "" {
		return t.qualified(n)
	}
	if t.clause >= inGroup {
		if e := t.aliased(n.Name.O); e != nil {
			return e
		}
	}
	return t.unqualified(n.Name.O)
}

func (t *translator) qualified(n *ast.ColumnName) expr {
	if n.Schema.O != "" && !t.schema(n.Schema.O) {
		return nullLiteral{}
	}
	found, known := -1, false
	for i := t.low; i < t.high; i++ {
		s := t.stmt.sources[i]
		if s.name != n.Table.O || n.Schema.O != "" && (s.alias || s.table == nil || s.table.Schema != n.Schema.O) {
			continue
		}
		known = true
		if s.table == nil {
			return nullLiteral{}
		}
		if _, ok := s.find(n.Name.O); ok {
			if found >= 0 {
				t.ambiguous(n.Table.O+"."+n.Name.O, i, found)
			}
			found = i
		}
	}
	switch {
	case !known:
		t.unknownAlias(n)
	case found < 0:
		t.unknownColumn(n.Table.O, n.Name.O)
	default:
		return t.reference(found, n.Name.O)
	}
	return nullLiteral{}
}

func (t *translator) unqualified(name string) expr {
	found := -1
	for i := t.low; i < t.high; i++ {
		s := t.stmt.sources[i]
		if s.table == nil {
			continue
		}
		if c, ok := s.find(name); ok && !t.merged[columnRef{i, c}] {
			if found >= 0 {
				t.ambiguous(name, found, i)
			}
			found = i
		}
	}
	if found < 0 {
		t.unknownColumn("", name)
		return nullLiteral{}
	}
	return t.reference(found, name)
}

func (s source) find(column string) (int, bool) {
	i, ok := s.table.columns[lowerASCII(column)]
	return i, ok
}

func (t *translator) reference(sourceIndex int, name string) expr {
	s := t.stmt.sources[sourceIndex]
	i, _ := s.find(name)
	if s.table.Columns[i].Sensitive && !t.whole {
		t.sensitive(show(s.name) + "." + s.table.Columns[i].Name)
	}
	return columnRef{sourceIndex, i}
}

func (t *translator) sensitive(what string) {
	t.rep.add(rankSensitive, "%s is sensitive: it may only be selected as a column of its own (and is shown redacted), not compared, grouped, ordered or computed with", what)
}

// aliased resolves an unqualified name of GROUP BY, HAVING or ORDER BY as an alias of the select list, or returns nil when a column wins:
//
//	GROUP BY a, GROUP BY f(a)    the column if there is one, else the alias
//	HAVING a, HAVING f(a)        the alias, unless GROUP BY names a column so
//	HAVING MAX(a)                the column if there is one, else the alias
//	ORDER BY a                   the alias
//	ORDER BY f(a)                the column if there is one, else the alias
func (t *translator) aliased(name string) expr {
	known, ok := t.selected().aliases[lowerASCII(name)]
	if !ok {
		return nil
	}
	at, count := known.first, known.count
	if t.sensitiveName(name) {
		t.sensitive(show(name))
		return nullLiteral{}
	}
	if count > 1 || t.clause != inOrder && t.aggregates == 0 && t.clashes(at, name) {
		return t.sharedAlias(name)
	}
	columns := t.columnsNamed(name)
	switch {
	case t.clause == inGroup && (columns == 1 || columns > 1 && !t.bare),
		t.clause == inOrder && !t.bare && columns > 0,
		t.clause == inHaving && t.aggregates > 0 && columns > 0:
		return nil
	case t.clause == inHaving && t.aggregates == 0:
		if e := t.grouped(name); e != nil {
			return e
		}
	}
	if t.clashes(at, name) {
		return t.sharedAlias(name)
	}
	return t.alias(at)
}

func (t *translator) sharedAlias(name string) expr {
	t.rep.add(rankAmbiguous, "%s names more than one column of the select list: give them different aliases", show(name))
	return nullLiteral{}
}

// alias refers to an output column by its private name. Where the server would not take that (an
// alias of an aggregate, inside an expression of ORDER BY) the aliased expression itself stands in.
func (t *translator) alias(at int) expr {
	e := t.stmt.fields[at].expr
	if t.isSensitive(e) {
		t.sensitive(t.describe(e))
	}
	if (t.aggregates > 0 || t.clause == inGroup) && t.stmt.fieldAggregated(at) {
		t.misplaced(t.stmt.fields[at].alias)
	}
	if t.clause == inOrder && !t.bare && t.stmt.fieldAggregated(at) {
		return e
	}
	return aliasRef{at}
}

// fieldAggregated reports whether an output column holds an aggregate. A statement may refer to one
// column thousands of times, so each is looked through once.
func (s *statement) fieldAggregated(at int) bool {
	f := &s.fields[at]
	if f.aggregate == unknown {
		f.aggregate = absent
		if has[*aggregate](f.expr) {
			f.aggregate = present
		}
	}
	return f.aggregate == present
}

// clashes reports whether a plain column that the select list shows without an alias carries the name too: the server cannot tell them apart
// unless the alias is of an expression.
func (t *translator) clashes(at int, name string) bool {
	target, ok := t.stmt.fields[at].expr.(columnRef)
	if !ok {
		return false
	}
	return slices.ContainsFunc(t.selected().columns[lowerASCII(name)], func(c columnRef) bool { return c != target })
}

// names is what the select list calls its columns, by lower-cased name: a statement may refer to 900 of them 18,000
// times.
type names struct {
	aliases map[string]alias
	columns map[string][]columnRef // shown without an alias, each once
}

type alias struct{ first, count int }

// selected returns the names of the select list. It is called once that is complete.
func (t *translator) selected() *names {
	if t.names != nil {
		return t.names
	}
	t.names = &names{map[string]alias{}, map[string][]columnRef{}}
	for i, f := range t.stmt.fields {
		if f.alias != "" {
			key := lowerASCII(f.alias)
			a, met := t.names.aliases[key]
			if !met {
				a.first = i
			}
			t.names.aliases[key] = alias{a.first, a.count + 1}
			continue
		}
		if c, ok := f.expr.(columnRef); ok {
			key := lowerASCII(t.columnOf(c).Name)
			if !slices.Contains(t.names.columns[key], c) {
				t.names.columns[key] = append(t.names.columns[key], c)
			}
		}
	}
	return t.names
}

// grouped returns the column of GROUP BY that is called name, or nil.
func (t *translator) grouped(name string) expr {
	if t.groups == nil {
		t.groups = map[string]expr{}
		for _, e := range t.stmt.group {
			if a, ok := e.(aliasRef); ok {
				e = t.stmt.fields[a.field].expr
			}
			if c, ok := e.(columnRef); ok {
				key := lowerASCII(t.columnOf(c).Name)
				if _, met := t.groups[key]; !met {
					t.groups[key] = c
				}
			}
		}
	}
	return t.groups[lowerASCII(name)]
}

func (t *translator) columnsNamed(name string) int {
	count := 0
	for i, s := range t.stmt.sources {
		if s.table != nil {
			if c, ok := s.find(name); ok && !t.merged[columnRef{i, c}] {
				count++
			}
		}
	}
	return count
}

func (t *translator) sensitiveName(name string) bool {
	for _, s := range t.stmt.sources {
		if s.table != nil {
			if i, ok := s.find(name); ok && s.table.Columns[i].Sensitive {
				return true
			}
		}
	}
	return false
}

func (t *translator) columnOf(c columnRef) *Column {
	return &t.stmt.sources[c.source].table.Columns[c.column]
}

func (t *translator) isSensitive(e expr) bool {
	c, ok := e.(columnRef)
	return ok && t.columnOf(c).Sensitive
}

func (t *translator) describe(e expr) string {
	c, _ := e.(columnRef)
	return show(t.stmt.sources[c.source].name) + "." + t.columnOf(c).Name
}

func (t *translator) ambiguous(name string, a, b int) {
	first, second := t.stmt.sources[a], t.stmt.sources[b]
	if first.name == second.name && (first.alias || second.alias) {
		t.rep.count++ // which was refused before
		return
	}
	if t.rep.wants(rankAmbiguous) {
		t.rep.add(rankAmbiguous, "%s is in %s and %s: write which", show(name), t.visibleName(first), t.visibleName(second))
	}
}

// visibleName is how the agent can qualify a column of s.
func (t *translator) visibleName(s source) string {
	if s.alias || s.table == nil {
		return show(s.name)
	}
	for _, other := range t.stmt.sources {
		if other.name == s.name && other.table != s.table {
			return s.table.full
		}
	}
	return s.name
}

func (t *translator) unknownAlias(n *ast.ColumnName) {
	if !t.rep.wants(rankAlias) {
		return
	}
	names := make([]string, 0, t.high-t.low)
	for _, s := range t.stmt.sources[t.low:t.high] {
		names = append(names, t.visibleName(s))
	}
	written := n.Table.O
	if n.Schema.O != "" {
		written = n.Schema.O + "." + written
	}
	t.rep.add(rankAlias, "%s is no table or alias here; there is %s", show(written), strings.Join(names, ", "))
}

func (t *translator) unknownColumn(qualifier, name string) {
	for _, s := range t.stmt.sources[t.low:t.high] {
		if s.table == nil && qualifier == "" && t.rep.rank != 0 { // it may be a column of the table that was refused
			t.rep.count++
			return
		}
	}
	if !t.rep.wants(rankColumn) {
		return
	}
	if hint := placeholderHint(qualifier, name); hint != "" {
		t.rep.add(rankColumn, "%s is not available%s", show(name), hint)
		return
	}
	written := show(name)
	if qualifier != "" {
		written = show(qualifier) + "." + written
	}
	if t.clause < inGroup {
		for _, f := range t.stmt.fields {
			if qualifier == "" && f.alias != "" && sameName(f.alias, name) {
				t.rep.add(rankColumn, "%s is an alias, which only GROUP BY, HAVING and ORDER BY can use: repeat its expression", written)
				return
			}
		}
	}
	t.rep.add(rankColumn, "%s is not available%s", written, t.nearColumns(qualifier, name))
}

// nearColumns proposes a column: the closest name among the tables that the name could belong to, or else all their columns.
func (t *translator) nearColumns(qualifier, name string) string {
	for _, s := range t.stmt.sources[t.low:t.high] {
		if s.table == nil || qualifier != "" && s.name != qualifier {
			continue
		}
		if near := nearColumn(s.table, name); near != "" {
			return "; did you mean " + show(s.name) + "." + near + "?"
		}
	}
	list := ""
	for _, s := range t.stmt.sources[t.low:t.high] {
		if s.table != nil && (qualifier == "" || s.name == qualifier) {
			list += "; " + show(s.name) + " has " + columnList(s.table, name)
		}
	}
	return list
}

func (t *translator) availableColumns() string {
	list := t.nearColumns("", "")
	return list
}

// quotedName refuses a text in double quotes that is the name of a column or alias that can be used here. To the server
// it is a text; who learnt SQL elsewhere means the column, and would take the text for its value.
func (t *translator) quotedName(n *driver.ValueExpr) {
	text, at := n.GetString(), n.OriginTextPosition()
	if at >= len(t.lex.src) || t.lex.src[at] != '"' {
		return
	}
	known := false
	if t.clause >= inGroup {
		_, known = t.selected().aliases[lowerASCII(text)]
	}
	for _, s := range t.stmt.sources[t.low:t.high] {
		if s.table != nil && !known {
			_, known = s.find(text)
		}
	}
	if known && text != "" {
		k := rankQuotedName
		if t.bareText { // what positions and constants are refused with
			k = rankNode
		}
		name := show(text)
		t.rep.add(k, `"%s" is a text, not the column: write %s without quotes or in backquotes, or '%s' if the text is meant`, name, name, name)
	}
}

// placeholderHint tells what is wrong with a name that is none: another product's placeholder, or a name that ends in a
// blank which only looks like one.
func placeholderHint(qualifier, name string) string {
	switch {
	case qualifier == "" && len(name) > 1 && name[0] == '$' && all(name[1:], isDigit):
		return ": placeholders are written ?"
	case strings.ContainsAny(name, oddBlanks):
		return ": it holds a no-break space or another odd blank; write a plain one"
	}
	return ""
}

// oddBlanks look like blanks and are characters of a name to the server.
const oddBlanks = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u202f\u205f\u3000"

package sqlguard

import (
	"sort"

	"github.com/pingcap/tidb/pkg/parser/ast"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"
)

// clause is the part of the statement in which a name is being resolved; which names an alias hides depends on it.
type clause uint8

const (
	inSelect clause = iota
	inOn
	inWhere
	inGroup
	inHaving
	inOrder
)

// translator turns a parsed SELECT into a statement. After the first problem it goes on, with placeholders, so that the strongest problem is
// the one reported; a statement with problems is never printed.
type translator struct {
	guard  *Guard
	lex    *lexed
	params []Param
	rep    *report
	stmt   *statement

	clause     clause
	bare       bool // the item of GROUP BY or ORDER BY is nothing but the name being resolved
	bareText   bool // the item of GROUP BY or ORDER BY is nothing but a literal
	named      bool // a column, an alias or an aggregate was met in the item
	whole      bool // the name being resolved is a whole item of the select list
	aggregates int  // enclosing aggregates
	depth      int
	low, high  int                // tables in scope: stmt.sources[low:high]
	merged     map[columnRef]bool // by USING, with a column of a table before
	names      *names             // of the select list, once it was needed
	groups     map[string]expr    // columns of GROUP BY by name, once they were needed
	met        []bool
	printed    []int32 // the param of each placeholder, when a printed text is read; else nil
}

// translate fills t.stmt from the parser's result.
func (t *translator) translate(nodes []ast.StmtNode) {
	switch len(nodes) {
	case 0:
		t.rep.add(rankSyntax, "there is no statement")
		return
	case 1:
	default:
		t.rep.add(rankMultiStatement, "send one statement; there are %d", len(nodes))
		return
	}
	switch n := nodes[0].(type) {
	case *ast.SelectStmt:
		t.selectStmt(n)
	case *ast.SetOprStmt:
		t.rep.add(rankSetOperation, "UNION, INTERSECT, EXCEPT and a SELECT in parentheses are refused: send one plain SELECT")
	case *ast.ShowStmt, *ast.ExplainStmt, *ast.ExplainForStmt, *ast.HelpStmt:
		t.rep.add(rankMetadataStatement, "SHOW, DESCRIBE and EXPLAIN are refused: the tables and columns are in the tool mysql_schema")
	default:
		t.rep.add(rankWrite, "only SELECT is allowed")
	}
}

func (t *translator) selectStmt(n *ast.SelectStmt) {
	if !t.plainSelect(n) {
		return
	}
	if n.From == nil || n.From.TableRefs == nil {
		t.rep.add(rankNode, "a SELECT needs a FROM with an allowed table: %s", t.guard.tableList(""))
		return
	}
	t.stmt.distinct = n.Distinct
	t.clause = inOn
	t.stmt.from = t.relation(n.From.TableRefs)
	t.low, t.high = 0, len(t.stmt.sources)
	t.fields(n)
	if n.Where != nil {
		t.clause = inWhere
		t.stmt.where = t.expr(n.Where)
	}
	t.groupBy(n.GroupBy)
	if n.Having != nil {
		t.clause = inHaving
		t.stmt.having = t.expr(n.Having.Expr)
	}
	t.orderBy(n.OrderBy)
	t.limit(n.Limit)
	if t.rep.rank == 0 {
		t.allMarkersMet()
		t.check()
	}
}

// check refuses what only the whole statement shows. Nothing else is wrong with it.
func (t *translator) check() {
	if t.printed == nil && len(t.params) != len(t.lex.markers) {
		return // which is refused, too
	}
	if t.stmt.larger(maxNodes) {
		t.rep.add(rankLimit, repeatsTooMuch)
		return
	}
	t.checkNulls()
	t.checkGrouping()
	if t.rep.rank == 0 {
		t.completeOrder()
	}
	t.checkSize()
}

const repeatsTooMuch = "the statement repeats too much: use an aliased expression in fewer places"

// larger reports whether the statement has more nodes than that. It looks at no more.
func (s *statement) larger(than int) bool {
	left := than
	var count func(e expr)
	count = func(e expr) {
		if left--; left < 0 {
			return
		}
		for _, inside := range e.children() {
			count(inside)
		}
	}
	s.each(count)
	return left < 0
}

// plainSelect refuses everything around and in front of the select list. It reports whether there is a select list to look at.
func (t *translator) plainSelect(n *ast.SelectStmt) bool {
	if n.With != nil || n.WithBeforeBraces {
		t.rep.add(rankCTE, "WITH is refused: send one plain SELECT")
	}
	if n.SelectIntoOpt != nil {
		t.rep.add(rankInto, "INTO is refused")
	}
	if n.LockInfo != nil && n.LockInfo.LockType != ast.SelectLockNone {
		t.rep.add(rankLocking, "FOR UPDATE and FOR SHARE are refused")
	}
	if len(n.TableHints) > 0 {
		t.rep.add(rankHint, "optimizer hints are refused: leave them out")
	}
	if n.Kind != ast.SelectStmtKindSelect || len(n.Lists) > 0 || n.SelectStmtOpts == nil || n.Fields == nil {
		t.rep.add(rankNode, "TABLE and VALUES are refused: write SELECT with the columns")
		return false
	}
	if n.IsInBraces {
		t.rep.add(rankNode, "a SELECT in parentheses is refused: leave the parentheses out")
	}
	if len(n.WindowSpecs) > 0 {
		t.rep.add(rankNode, "window functions are refused")
	}
	if n.AfterSetOperator != nil || n.AsViewSchema {
		t.rep.add(rankNode, "this kind of SELECT is refused")
	}
	t.options(n.SelectStmtOpts)
	return true
}

func (t *translator) options(o *ast.SelectStmtOpts) {
	if o.StraightJoin {
		t.rep.add(rankJoin, "STRAIGHT_JOIN is refused: leave it out")
	}
	if o.SQLBigResult || o.SQLBufferResult || o.SQLSmallResult || !o.SQLCache || o.CalcFoundRows || o.ExplicitAll || o.Priority != 0 {
		t.rep.add(rankNode, "of the options after SELECT only DISTINCT is allowed")
	}
	if len(o.TableHints) > 0 {
		t.rep.add(rankHint, "optimizer hints are refused: leave them out")
	}
}

func (t *translator) fields(n *ast.SelectStmt) {
	t.clause = inSelect
	for _, f := range n.Fields.Fields {
		if f.WildCard != nil || f.Expr == nil {
			t.rep.add(rankWildcard, "name the columns instead of *%s", t.availableColumns())
			continue
		}
		if f.Auxiliary || f.AuxiliaryColInAgg || f.AuxiliaryColInOrderBy {
			t.rep.add(rankNode, "this kind of SELECT is refused")
		}
		_, t.whole = f.Expr.(*ast.ColumnNameExpr)
		e := t.expr(f.Expr)
		t.whole = false
		if n.Distinct && t.isSensitive(e) {
			t.rep.add(rankSensitive, "%s is sensitive: SELECT DISTINCT compares its values", t.describe(e))
		}
		t.stmt.fields = append(t.stmt.fields, field{expr: e, alias: f.AsName.O, heading: heading(f)})
	}
}

// heading is the name of an output column: the alias, the column's name as written, or the text of the expression.
func heading(f *ast.SelectField) string {
	const maxHeading = 256
	switch e := f.Expr.(type) {
	case *ast.ColumnNameExpr:
		if f.AsName.O == "" {
			return e.Name.Name.O
		}
	case *driver.ValueExpr:
		if f.AsName.O == "" && e.Kind() == driver.KindString {
			return clip(e.GetString(), maxHeading)
		}
	}
	if f.AsName.O != "" {
		return clip(f.AsName.O, maxHeading)
	}
	return clip(f.Text(), maxHeading)
}

func (t *translator) groupBy(n *ast.GroupByClause) {
	if n == nil {
		return
	}
	t.clause = inGroup
	if n.Rollup {
		t.rollup()
	}
	for _, item := range n.Items {
		if item.Desc || !item.NullOrder {
			t.rep.add(rankNode, "ASC and DESC belong to ORDER BY, not to GROUP BY")
		}
		t.stmt.group = append(t.stmt.group, t.item("GROUP BY", item.Expr))
	}
}

// rollup allows WITH ROLLUP where nothing else orders the groups: MariaDB takes no ORDER BY beside it. Both servers sort
// by what is grouped by to compute it.
func (t *translator) rollup() {
	if t.guard.functions[withRollup] == nil {
		t.rep.add(rankNode, "WITH ROLLUP is refused: leave it out")
	}
	t.stmt.rollup = true
}

func (t *translator) orderBy(n *ast.OrderByClause) {
	if n == nil {
		return
	}
	t.clause = inOrder
	if t.stmt.rollup {
		t.rep.add(rankNode, "ORDER BY beside WITH ROLLUP is refused: leave one of the two out")
	}
	if n.ForUnion {
		t.rep.add(rankNode, "this kind of ORDER BY is refused")
	}
	for _, item := range n.Items {
		t.stmt.order = append(t.stmt.order, orderItem{expr: t.item("ORDER BY", item.Expr), desc: item.Desc})
	}
}

// item translates an element of GROUP BY or ORDER BY. Without a column, an alias or an aggregate it would be an ordinal or a constant.
func (t *translator) item(where string, n ast.ExprNode) expr {
	t.named = false
	before := t.rep.count
	inner := n
	for {
		p, ok := inner.(*ast.ParenthesesExpr)
		if !ok {
			break
		}
		inner = p.Expr
	}
	_, t.bare = inner.(*ast.ColumnNameExpr)
	_, t.bareText = inner.(*driver.ValueExpr)
	var e expr = nullLiteral{}
	if _, ordinal := inner.(*ast.PositionExpr); !ordinal {
		e = t.expr(n)
	}
	t.bare, t.bareText = false, false
	if !t.named && t.rep.count == before {
		t.rep.add(rankNode, "%s needs a column or an alias: positions, placeholders and constants are refused", where)
	}
	return e
}

// limit clamps LIMIT to one row more than may be delivered, so that a cut result can be told from a whole one.
func (t *translator) limit(n *ast.Limit) {
	most := t.guard.maxRows + 1
	t.stmt.limit = most
	if n == nil {
		return
	}
	if n.Count != nil {
		before := t.rep.count
		count := t.rowCount("LIMIT", n.Count)
		if count == 0 && t.rep.count == before {
			t.rep.add(rankBoundLimit, "LIMIT 0 asks for no row: leave it out or ask for one at least")
		}
		t.stmt.limit = min(count, most)
	}
	if n.Offset != nil {
		t.stmt.offset, t.stmt.hasOffset = t.rowCount("OFFSET", n.Offset), true
	}
}

func (t *translator) rowCount(where string, n ast.ExprNode) uint64 {
	switch v := n.(type) {
	case *driver.ParamMarkerExpr:
		m := t.marker(v)
		if m.param >= len(t.params) {
			return 0
		}
		count, ok := t.params[m.param].rowCount()
		if !ok {
			t.rep.add(rankBoundLimit, "the parameter of %s must be an integer from 0 on", where)
		}
		return count
	case *driver.ValueExpr:
		switch v.Kind() {
		case driver.KindUint64:
			return v.GetUint64()
		case driver.KindInt64:
			if v.GetInt64() >= 0 {
				return uint64(v.GetInt64())
			}
		}
	}
	t.rep.add(rankNode, "%s takes a number or a placeholder", where)
	return 0
}

// marker numbers a placeholder by its place in the agent's text, also when it is read back from the
// printed one.
func (t *translator) marker(n *driver.ParamMarkerExpr) marker {
	at := sort.Search(len(t.lex.markers), func(i int) bool { return int(t.lex.markers[i]) >= n.Offset })
	if at == len(t.lex.markers) || int(t.lex.markers[at]) != n.Offset || t.printed != nil && at >= len(t.printed) {
		t.rep.add(rankSyntax, "a placeholder stands where none can be")
		return marker{}
	}
	t.met[at] = true
	if t.printed != nil {
		return marker{int(t.printed[at])}
	}
	return marker{at}
}

// value is the placeholder, or the number in its place that cannot be bound as one.
func (t *translator) value(m marker) expr {
	if t.printed != nil || m.param >= len(t.params) {
		return m
	}
	text, ok := t.params[m.param].digits()
	switch {
	case !ok:
		return m
	case text[0] == '-':
		return &unary{"-", numberLiteral(text[1:])}
	}
	return numberLiteral(text)
}

// allMarkersMet refuses a statement of which the parser dropped a placeholder.
func (t *translator) allMarkersMet() {
	for _, met := range t.met {
		if !met {
			t.rep.add(rankSyntax, "a placeholder stands where none can be")
		}
	}
}

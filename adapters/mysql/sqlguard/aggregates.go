package sqlguard

import (
	"reflect"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"
)

func (t *translator) aggregate(n *ast.AggregateFuncExpr) expr {
	t.named = true
	upper := upperASCII(n.F)
	f := t.guard.functions[upper]
	if f == nil {
		f = t.guard.synonyms[upper]
	}
	t.misplaced(upper)
	t.aggregates++
	defer func() { t.aggregates-- }()
	if f == nil || f.shape != shapeAggregate {
		t.notAllowed(upper, t.written(n.OriginTextPosition(), upper))
		t.values(n.Args)
		return nullLiteral{}
	}
	a := &aggregate{fn: f, distinct: n.Distinct}
	switch {
	case f.name == "GROUP_CONCAT":
		t.groupConcat(a, n)
	case n.Distinct && (strings.HasPrefix(f.name, "STD") || strings.HasPrefix(f.name, "VAR")):
		t.rep.add(rankFunction, "%s takes no DISTINCT: leave it out", f.name)
	case f.name == "COUNT" && !n.Distinct && isCountStar(n):
		a.star = true
	case len(n.Args) < f.min || len(n.Args) > f.max || !n.Distinct && len(n.Args) != 1:
		t.wrongShape(f)
	default:
		a.args = t.exprs(n.Args)
	}
	return a
}

// groupConcat orders what is concatenated by what is shown of it, as completeOrder does with rows.
func (t *translator) groupConcat(a *aggregate, n *ast.AggregateFuncExpr) {
	last := len(n.Args) - 1 // which is the separator
	v, ok := n.Args[max(last, 0)].(*driver.ValueExpr)
	if last < 1 || !ok || v.Kind() != driver.KindString {
		t.wrongShape(a.fn)
		return
	}
	a.args, a.separator = t.exprs(n.Args[:last]), v.GetString()
	if n.Order != nil {
		for _, item := range n.Order.Items {
			e := t.expr(item.Expr)
			if !has[columnRef](e) && !has[aliasRef](e) && t.rep.count == 0 {
				t.rep.add(rankNode, "ORDER BY in GROUP_CONCAT needs a column: positions and constants are refused")
			}
			a.order = append(a.order, orderItem{expr: e, desc: item.Desc})
		}
	}
	for _, arg := range a.args {
		if has[columnRef](arg) && !has[marker](arg) && !slices.ContainsFunc(a.order, func(o orderItem) bool { return reflect.DeepEqual(o.expr, arg) }) {
			a.order = append(a.order, orderItem{expr: arg})
		}
	}
}

// misplaced refuses an aggregate where none can be.
func (t *translator) misplaced(name string) {
	switch {
	case t.aggregates > 0:
		t.rep.add(rankNotGrouped, "an aggregate inside an aggregate is refused: take one of the two away, or send two queries")
	case t.clause == inWhere, t.clause == inOn:
		t.rep.add(rankNotGrouped, "%s cannot be used in WHERE or ON: move the condition to HAVING", show(name))
	case t.clause == inGroup:
		t.rep.add(rankNotGrouped, "%s cannot be grouped by: group by a column", show(name))
	}
}

// isCountStar tells COUNT(*), for which the parser makes up a 1 that is nowhere in the text, from COUNT(1).
func isCountStar(n *ast.AggregateFuncExpr) bool {
	if len(n.Args) != 1 {
		return false
	}
	v, ok := n.Args[0].(*driver.ValueExpr)
	return ok && v.Kind() == driver.KindInt64 && v.GetInt64() == 1 && v.OriginTextPosition() == 0
}

package sqlguard

import "slices"

// comparison decides whether a statement and what was read back from its printed text are the same.
type comparison struct {
	printed []int32 // param of each printed marker, in printed order
}

// statements compares everything but headings and names, which the printed text does not carry.
func (c comparison) statements(a, b *statement) bool {
	return a.distinct == b.distinct && a.limit == b.limit && a.offset == b.offset && a.hasOffset == b.hasOffset &&
		slices.EqualFunc(a.fields, b.fields, func(x, y field) bool { return c.exprs(x.expr, y.expr) }) &&
		slices.EqualFunc(a.sources, b.sources, func(x, y source) bool { return x.table == y.table }) &&
		c.relations(a.from, b.from) && c.exprs(a.where, b.where) && slices.EqualFunc(a.group, b.group, c.exprs) && c.exprs(a.having, b.having) &&
		slices.EqualFunc(a.order, b.order, func(x, y orderItem) bool { return x.desc == y.desc && c.exprs(x.expr, y.expr) })
}

func (c comparison) relations(a, b relation) bool {
	switch x := a.(type) {
	case sourceRef:
		return a == b
	case *join:
		y, ok := b.(*join)
		return ok && x.left == y.left && c.relations(x.first, y.first) && c.relations(x.then, y.then) && c.exprs(x.on, y.on)
	}
	return false
}

func (c comparison) exprs(a, b expr) bool {
	switch x := a.(type) {
	case nil:
		return b == nil
	case marker:
		y, ok := b.(marker)
		return ok && y.param < len(c.printed) && int(c.printed[y.param]) == x.param
	case columnRef, aliasRef, nullLiteral, boolLiteral, stringLiteral, numberLiteral:
		return a == b
	case *unary:
		y, ok := b.(*unary)
		return ok && x.op == y.op && c.exprs(x.x, y.x)
	case *binary:
		y, ok := b.(*binary)
		return ok && x.op == y.op && c.exprs(x.l, y.l) && c.exprs(x.r, y.r)
	case *chain:
		y, ok := b.(*chain)
		return ok && x.op == y.op && slices.EqualFunc(x.args, y.args, c.exprs)
	case *between:
		y, ok := b.(*between)
		return ok && x.not == y.not && c.exprs(x.x, y.x) && c.exprs(x.lo, y.lo) && c.exprs(x.hi, y.hi)
	case *inList:
		y, ok := b.(*inList)
		return ok && x.not == y.not && c.exprs(x.x, y.x) && slices.EqualFunc(x.list, y.list, c.exprs)
	case *like:
		y, ok := b.(*like)
		return ok && x.not == y.not && x.escape == y.escape && c.exprs(x.x, y.x) && c.exprs(x.pattern, y.pattern)
	case *test:
		y, ok := b.(*test)
		return ok && x.not == y.not && x.what == y.what && c.exprs(x.x, y.x)
	}
	return c.calls(a, b)
}

func (c comparison) calls(a, b expr) bool {
	switch x := a.(type) {
	case *caseExpr:
		y, ok := b.(*caseExpr)
		return ok && c.exprs(x.value, y.value) && c.exprs(x.other, y.other) && slices.EqualFunc(x.whens, y.whens, func(v, w when) bool {
			return c.exprs(v.cond, w.cond) && c.exprs(v.result, w.result)
		})
	case *call:
		y, ok := b.(*call)
		return ok && x.fn == y.fn && slices.EqualFunc(x.args, y.args, c.exprs)
	case *trim:
		y, ok := b.(*trim)
		return ok && x.side == y.side && c.exprs(x.cut, y.cut) && c.exprs(x.x, y.x)
	case *dateArith:
		y, ok := b.(*dateArith)
		return ok && x.fn == y.fn && x.unit == y.unit && c.exprs(x.x, y.x) && c.exprs(x.n, y.n)
	case *unitCall:
		y, ok := b.(*unitCall)
		return ok && x.fn == y.fn && x.unit == y.unit && c.exprs(x.a, y.a) && c.exprs(x.b, y.b)
	case *cast:
		y, ok := b.(*cast)
		return ok && x.fn == y.fn && x.typeName == y.typeName && c.exprs(x.x, y.x)
	case *aggregate:
		y, ok := b.(*aggregate)
		return ok && x.fn == y.fn && x.distinct == y.distinct && x.star == y.star && slices.EqualFunc(x.args, y.args, c.exprs)
	}
	return false
}

package sqlguard

import "reflect"

// A comparison with NULL is NULL, never true. Who writes one means IS NULL, and would take the empty answer for a
// finding. checkNulls refuses it, but for two forms that cover NULL themselves:
//
//	note IS NULL OR note = ?       where the test is of the same expression
//	? IS NULL OR status = ?        a filter that a null parameter turns off
//
// It is called for a statement in which nothing else is wrong. A printed text is read back without the parameters'
// values; it was checked before.
func (t *translator) checkNulls() {
	if t.printed != nil {
		return
	}
	t.stmt.each(func(e expr) { t.nulls(e, nil) })
}

// each calls visit for every expression of the statement that is not inside another one.
func (s *statement) each(visit func(expr)) {
	for _, f := range s.fields {
		visit(f.expr)
	}
	s.from.conditions(visit)
	for _, e := range s.group {
		visit(e)
	}
	for _, o := range s.order {
		visit(o.expr)
	}
	for _, e := range []expr{s.where, s.having} {
		if e != nil {
			visit(e)
		}
	}
}

// nulls looks through e. tested holds what the operands of the OR around e test for NULL.
func (t *translator) nulls(e expr, tested []expr) {
	switch x := e.(type) {
	case *binary:
		if isComparison(x.op) && !tests(tested, x.l) && !tests(tested, x.r) {
			t.neverTrue(x.op, x.l, x.r)
		}
	case *between:
		t.neverTrue("BETWEEN", x.x, x.lo, x.hi)
	case *like:
		t.neverTrue("LIKE", x.x, x.pattern)
	case *inList:
		t.nullInList(x, tested)
	case *caseExpr:
		for _, w := range x.whens {
			if x.value != nil {
				t.neverTrue("CASE x WHEN NULL", w.cond)
			}
		}
	case *chain:
		t.nullsInChain(x, tested)
		return
	}
	for _, inside := range e.children() {
		t.nulls(inside, nil)
	}
}

func (t *translator) nullsInChain(c *chain, tested []expr) {
	if c.op == "OR" {
		for _, arg := range c.args {
			x, ok := arg.(*test)
			if !ok || x.what != "NULL" || x.not {
				continue
			}
			if t.alwaysNull(x.x) { // the others do not matter
				return
			}
			tested = append(tested, x.x)
		}
	}
	for _, arg := range c.args {
		t.nulls(arg, tested)
	}
}

func tests(tested []expr, e expr) bool {
	for _, x := range tested {
		if reflect.DeepEqual(x, e) {
			return true
		}
	}
	return false
}

// neverTrue refuses a comparison of which one side is always NULL.
func (t *translator) neverTrue(op string, sides ...expr) {
	for _, e := range sides {
		if t.alwaysNull(e) {
			t.rep.add(rankNull, "a comparison with NULL (%s) is never true: write x IS NULL, x IS NOT NULL, or x <=> y", op)
			return
		}
	}
}

// alwaysNull reports whether an expression is NULL whatever the data: NULL itself, a parameter that is null, and what
// an operator computes from one.
func (t *translator) alwaysNull(e expr) bool {
	switch x := e.(type) {
	case nullLiteral:
		return true
	case marker:
		return x.param < len(t.params) && t.params[x.param].value == nil
	case *unary:
		return t.alwaysNull(x.x)
	case *binary:
		return x.op != "<=>" && (t.alwaysNull(x.l) || t.alwaysNull(x.r))
	case *dateArith:
		return t.alwaysNull(x.x) || t.alwaysNull(x.n)
	case *cast:
		return t.alwaysNull(x.x)
	}
	return false
}

// nullInList refuses x IN of which x or every element is NULL, and x NOT IN with a NULL among them.
func (t *translator) nullInList(x *inList, tested []expr) {
	nulls := 0
	for _, e := range x.list {
		if t.alwaysNull(e) {
			nulls++
		}
	}
	switch {
	case t.alwaysNull(x.x):
		t.neverTrue("IN", x.x)
	case x.not && nulls > 0:
		t.rep.add(rankNull, "NOT IN with NULL in its list is never true: leave NULL out, and add AND x IS NOT NULL if it is meant")
	case nulls > 0 && nulls == len(x.list) && !tests(tested, x.x):
		t.rep.add(rankNull, "IN (NULL) is never true: write x IS NULL")
	}
}

package sqlguard

import "slices"

// The algebra: every construct that a prepared statement can be made of. What the translator has no node for cannot be printed.

// statement is one SELECT over the allowlist.
type statement struct {
	distinct  bool
	fields    []field
	sources   []source
	from      relation
	where     expr // or nil
	group     []expr
	rollup    bool // WITH ROLLUP
	having    expr // or nil
	order     []orderItem
	limit     uint64 // always printed
	offset    uint64
	hasOffset bool
}

// field is one output column; it is printed as "expr AS _oN".
type field struct {
	expr      expr
	alias     string // the agent's, or empty
	heading   string
	aggregate presence // of an aggregate in expr, once it was looked for
}

// presence is what is known of something.
type presence uint8

const (
	unknown presence = iota
	absent
	present
)

// source is one table in FROM; it is printed as "`schema`.`table` AS _tN". A source whose table is nil stands for a name that was refused.
type source struct {
	table *table
	name  string // what qualifies its columns in the agent's text
	alias bool   // name is an alias
}

type orderItem struct {
	expr  expr
	desc  bool
	added bool // by completeOrder, not by the agent
}

// relation is a source or a join.
type relation interface {
	print(p *printer)
	// conditions calls visit for each ON, from the inside out.
	conditions(visit func(expr))
	// equated finds the columns that a join's ON sets equal to one of a table before.
	equated(found map[columnRef]bool)
}

type sourceRef struct{ index int }

type join struct {
	left        bool // LEFT JOIN, else JOIN
	first, then relation
	on          expr
}

func (sourceRef) conditions(func(expr)) {}

func (x *join) conditions(visit func(expr)) {
	x.first.conditions(visit)
	x.then.conditions(visit)
	if x.on != nil {
		visit(x.on)
	}
}

// expr is a scalar expression. What a node does stands in its methods, so that a node that lacks
// one does not compile: no switch over the nodes can forget a case.
type expr interface {
	// children returns the expressions inside this one, in the order in which they are printed.
	// What is computed from them, such as the lineage of a column, sees nothing else.
	children() []expr
	// print writes the expression: an atom bare, an operator in parentheses.
	print(p *printer)
	// size bounds the length of the value, and the steps that computing it takes.
	size(m *measure) size
}

type (
	columnRef struct{ source, column int }
	aliasRef  struct{ field int } // _oN

	nullLiteral   struct{}
	boolLiteral   bool
	stringLiteral string // the value
	numberLiteral string // the spelling: digits, a point, an exponent, or a hex or bit literal

	marker struct{ param int } // position in the agent's text

	unary struct {
		op string // "-" or "NOT"
		x  expr
	}
	binary struct {
		op   string
		l, r expr
	}
	// chain is a run of AND or of OR, which associate.
	chain struct {
		op   string
		args []expr
	}
	between struct {
		not       bool
		x, lo, hi expr
	}
	inList struct {
		not  bool
		x    expr
		list []expr
	}
	like struct {
		not        bool
		x, pattern expr
		escape     string // one character, or empty for the default
	}
	// test is IS [NOT] NULL, TRUE or FALSE.
	test struct {
		not  bool
		what string
		x    expr
	}
	caseExpr struct {
		value expr // or nil
		whens []when
		other expr // or nil
	}
	when struct{ cond, result expr }

	call struct {
		fn   *function
		args []expr
	}
	// trim is TRIM(side cut FROM x).
	trim struct {
		side   string
		cut, x expr
	}
	// dateArith is DATE_ADD or DATE_SUB.
	dateArith struct {
		fn   *function
		x, n expr
		unit string
	}
	// unitCall is a function whose first argument is a unit of time.
	unitCall struct {
		fn   *function
		unit string
		a, b expr
	}
	// unixTime is FROM_UNIXTIME(x). The server announces more digits of the second's fraction than it has for an x that
	// is a text or a double, and the driver takes that for a broken connection. Cut to 6 digits, an integer stays one.
	unixTime struct {
		x   expr
		cut bool
	}
	// typedLiteral is DATE '…', TIME '…' or TIMESTAMP '…'.
	typedLiteral struct{ kind, text string }
	extract      struct {
		fn   *function
		unit string
		x    expr
	}
	cast struct {
		fn       *function
		x        expr
		typeName string
	}
	aggregate struct {
		fn       *function
		distinct bool
		star     bool
		args     []expr
		// Of GROUP_CONCAT only.
		order     []orderItem
		separator string
	}
)

func (columnRef) children() []expr     { return nil }
func (aliasRef) children() []expr      { return nil }
func (nullLiteral) children() []expr   { return nil }
func (boolLiteral) children() []expr   { return nil }
func (stringLiteral) children() []expr { return nil }
func (numberLiteral) children() []expr { return nil }
func (marker) children() []expr        { return nil }
func (x *unary) children() []expr      { return []expr{x.x} }
func (x *binary) children() []expr     { return []expr{x.l, x.r} }
func (x *chain) children() []expr      { return x.args }
func (x *between) children() []expr    { return []expr{x.x, x.lo, x.hi} }
func (x *inList) children() []expr     { return append([]expr{x.x}, x.list...) }
func (x *like) children() []expr       { return []expr{x.x, x.pattern} }
func (x *test) children() []expr       { return []expr{x.x} }
func (x *call) children() []expr       { return x.args }
func (x *trim) children() []expr       { return []expr{x.cut, x.x} }
func (x *dateArith) children() []expr  { return []expr{x.x, x.n} }
func (x *unitCall) children() []expr   { return []expr{x.a, x.b} }
func (x *unixTime) children() []expr   { return []expr{x.x} }
func (x *cast) children() []expr       { return []expr{x.x} }
func (*typedLiteral) children() []expr { return nil }
func (x *extract) children() []expr    { return []expr{x.x} }

func (x *aggregate) children() []expr {
	list := slices.Clone(x.args)
	for _, o := range x.order {
		list = append(list, o.expr)
	}
	return list
}

func (x *caseExpr) children() []expr {
	list := make([]expr, 0, 2+2*len(x.whens))
	if x.value != nil {
		list = append(list, x.value)
	}
	for _, w := range x.whens {
		list = append(list, w.cond, w.result)
	}
	if x.other != nil {
		list = append(list, x.other)
	}
	return list
}

// walk calls visit for e and everything inside it, outside in.
func walk(e expr, visit func(expr)) {
	visit(e)
	for _, inside := range e.children() {
		walk(inside, visit)
	}
}

// has reports whether there is a node of the kind in e.
func has[kind expr](e expr) bool {
	found := false
	walk(e, func(x expr) {
		if _, ok := x.(kind); ok {
			found = true
		}
	})
	return found
}

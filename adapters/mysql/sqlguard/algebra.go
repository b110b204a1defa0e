package sqlguard

// The algebra: every construct that a prepared statement can be made of. What the translator has no node for cannot be printed.

// statement is one SELECT over the allowlist.
type statement struct {
	distinct  bool
	fields    []field
	sources   []source
	from      relation
	where     expr // or nil
	group     []expr
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
	expr expr
	desc bool
}

// relation is a source or a join.
type relation interface{ relation() }

type sourceRef struct{ index int }

type join struct {
	left        bool // LEFT JOIN, else JOIN
	first, then relation
	on          expr
}

func (sourceRef) relation() {}
func (*join) relation()     {}

// expr is a scalar expression.
type expr interface{ expr() }

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
	}
)

func (columnRef) expr()     {}
func (aliasRef) expr()      {}
func (nullLiteral) expr()   {}
func (boolLiteral) expr()   {}
func (stringLiteral) expr() {}
func (numberLiteral) expr() {}
func (marker) expr()        {}
func (*unary) expr()        {}
func (*binary) expr()       {}
func (*chain) expr()        {}
func (*between) expr()      {}
func (*inList) expr()       {}
func (*like) expr()         {}
func (*test) expr()         {}
func (*caseExpr) expr()     {}
func (*call) expr()         {}
func (*trim) expr()         {}
func (*dateArith) expr()    {}
func (*unitCall) expr()     {}
func (*cast) expr()         {}
func (*aggregate) expr()    {}

// walk calls visit for e and everything inside it, outside in.
func walk(e expr, visit func(expr)) {
	if e == nil {
		return
	}
	visit(e)
	switch x := e.(type) {
	case *unary:
		walk(x.x, visit)
	case *binary:
		walk(x.l, visit)
		walk(x.r, visit)
	case *chain:
		walkAll(x.args, visit)
	case *between:
		walk(x.x, visit)
		walk(x.lo, visit)
		walk(x.hi, visit)
	case *inList:
		walk(x.x, visit)
		walkAll(x.list, visit)
	case *like:
		walk(x.x, visit)
		walk(x.pattern, visit)
	case *test:
		walk(x.x, visit)
	case *caseExpr:
		walk(x.value, visit)
		for _, w := range x.whens {
			walk(w.cond, visit)
			walk(w.result, visit)
		}
		walk(x.other, visit)
	case *call:
		walkAll(x.args, visit)
	case *trim:
		walk(x.cut, visit)
		walk(x.x, visit)
	case *dateArith:
		walk(x.x, visit)
		walk(x.n, visit)
	case *unitCall:
		walk(x.a, visit)
		walk(x.b, visit)
	case *cast:
		walk(x.x, visit)
	case *aggregate:
		walkAll(x.args, visit)
	}
}

func walkAll(list []expr, visit func(expr)) {
	for _, e := range list {
		walk(e, visit)
	}
}

// hasAggregate reports whether e contains COUNT, SUM, …
func hasAggregate(e expr) bool {
	found := false
	walk(e, func(x expr) {
		if _, ok := x.(*aggregate); ok {
			found = true
		}
	})
	return found
}

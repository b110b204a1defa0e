package sqlguard

import "strconv"

// printer writes a statement as text. It writes none of the agent's text except as literals: names
// come from the allowlist or are private, every operator is in parentheses. Markers are numbered as
// they are written. Only asked sets agents: what it prints is never sent to a server.
type printer struct {
	buf     []byte
	markers []int32 // the param of each marker written
	stmt    *statement
	agents  bool // write the agent's aliases in place of private names
}

func (p *printer) print(s *statement) {
	p.buf, p.markers, p.stmt = p.buf[:0], p.markers[:0], s
	p.text("SELECT ")
	if s.distinct {
		p.text("DISTINCT ")
	}
	for i, f := range s.fields {
		p.comma(i)
		p.expr(f.expr)
		p.asField(i)
	}
	p.text(" FROM ")
	s.from.print(p)
	p.clause(" WHERE ", s.where)
	if len(s.group) > 0 {
		p.text(" GROUP BY ")
		p.list(s.group)
		if s.rollup {
			p.text(" WITH ROLLUP")
		}
	}
	p.clause(" HAVING ", s.having)
	for i, o := range s.order {
		if o.added && p.agents {
			break // those stand last
		}
		if i == 0 {
			p.text(" ORDER BY ")
		}
		p.comma(i)
		p.expr(o.expr)
		if o.desc {
			p.text(" DESC")
		}
	}
	p.text(" LIMIT ")
	p.buf = strconv.AppendUint(p.buf, s.limit, 10)
	if s.hasOffset {
		p.text(" OFFSET ")
		p.buf = strconv.AppendUint(p.buf, s.offset, 10)
	}
}

func (p *printer) text(s string) { p.buf = append(p.buf, s...) }

func (p *printer) comma(i int) {
	if i > 0 {
		p.text(", ")
	}
}

func (p *printer) private(prefix string, index int) {
	p.text(prefix)
	p.buf = strconv.AppendInt(p.buf, int64(index)+1, 10)
	p.text("`")
}

func (p *printer) clause(keyword string, e expr) {
	if e != nil {
		p.text(keyword)
		p.expr(e)
	}
}

func (p *printer) list(list []expr) {
	for i, e := range list {
		p.comma(i)
		p.expr(e)
	}
}

func (x sourceRef) print(p *printer) {
	p.text(p.stmt.sources[x.index].table.quoted)
	p.asSource(x.index)
}

func (x *join) print(p *printer) {
	x.first.print(p)
	if x.left {
		p.text(" LEFT JOIN ")
	} else {
		p.text(" JOIN ")
	}
	_, nested := x.then.(*join)
	if nested {
		p.text("(")
	}
	x.then.print(p)
	if nested {
		p.text(")")
	}
	p.text(" ON ")
	p.expr(x.on)
}

// expr writes an expression. It stops once the text is longer than a statement may be.
func (p *printer) expr(e expr) {
	if len(p.buf) <= maxPrintedBytes {
		e.print(p)
	}
}

func (x columnRef) print(p *printer) {
	p.source(x.source)
	p.text(".")
	p.text(p.stmt.sources[x.source].table.quotedColumns[x.column])
}

func (x aliasRef) print(p *printer)  { p.field(x.field) }
func (nullLiteral) print(p *printer) { p.text("NULL") }

func (x boolLiteral) print(p *printer) {
	if x {
		p.text("TRUE")
	} else {
		p.text("FALSE")
	}
}

func (x stringLiteral) print(p *printer) { p.string(string(x)) }
func (x numberLiteral) print(p *printer) { p.number(string(x)) }

func (x marker) print(p *printer) {
	p.markers = append(p.markers, int32(x.param))
	p.text("?")
}

func (x *unary) print(p *printer) {
	p.text("(")
	p.text(x.op)
	if x.op == "NOT" {
		p.text(" ")
	}
	p.expr(x.x)
	p.text(")")
}

func (x *binary) print(p *printer) {
	p.text("(")
	p.infix(x.l, x.op, x.r)
	p.text(")")
}

func (x *chain) print(p *printer) {
	p.text("(")
	for i, arg := range x.args {
		if i > 0 {
			p.word(x.op)
		}
		p.expr(arg)
	}
	p.text(")")
}

func (x *between) print(p *printer) {
	p.text("(")
	p.expr(x.x)
	p.not(x.not)
	p.word("BETWEEN")
	p.infix(x.lo, "AND", x.hi)
	p.text(")")
}

func (x *inList) print(p *printer) {
	p.text("(")
	p.expr(x.x)
	p.not(x.not)
	p.text(" IN (")
	p.list(x.list)
	p.text("))")
}

func (x *like) print(p *printer) {
	p.text("(")
	p.expr(x.x)
	p.not(x.not)
	p.word("LIKE")
	p.expr(x.pattern)
	if x.escape != "" {
		p.text(" ESCAPE ")
		p.string(x.escape)
	}
	p.text(")")
}

func (x *test) print(p *printer) {
	p.text("(")
	p.expr(x.x)
	p.text(" IS")
	p.not(x.not)
	p.text(" ")
	p.text(x.what)
	p.text(")")
}

func (x *caseExpr) print(p *printer) {
	p.text("(CASE")
	if x.value != nil {
		p.text(" ")
		p.expr(x.value)
	}
	for _, w := range x.whens {
		p.text(" WHEN ")
		p.infix(w.cond, "THEN", w.result)
	}
	p.clause(" ELSE ", x.other)
	p.text(" END)")
}

func (x *call) print(p *printer) {
	p.function(x.fn)
	p.list(x.args)
	p.text(")")
}

func (x *trim) print(p *printer) {
	p.text("TRIM(")
	p.text(x.side)
	p.text(" ")
	p.infix(x.cut, "FROM", x.x)
	p.text(")")
}

func (x *dateArith) print(p *printer) {
	p.function(x.fn)
	p.expr(x.x)
	p.text(", INTERVAL ")
	p.expr(x.n)
	p.text(" ")
	p.text(x.unit)
	p.text(")")
}

func (x *unitCall) print(p *printer) {
	p.function(x.fn)
	p.text(x.unit)
	p.text(", ")
	p.expr(x.a)
	p.text(", ")
	p.expr(x.b)
	p.text(")")
}

func (x *unixTime) print(p *printer) {
	p.text("FROM_UNIXTIME(")
	if x.cut {
		p.text("TRUNCATE(")
	}
	p.expr(x.x)
	if x.cut {
		p.text(", 6)")
	}
	p.text(")")
}

func (x *cast) print(p *printer) {
	p.function(x.fn)
	p.expr(x.x)
	if x.fn.name == "CAST" {
		p.text(" AS ")
	} else {
		p.text(", ")
	}
	p.text(x.typeName)
	p.text(")")
}

func (x *aggregate) print(p *printer) {
	p.function(x.fn)
	if x.distinct {
		p.text("DISTINCT ")
	}
	if x.star {
		p.text("*")
	}
	p.list(x.args)
	for i, o := range x.order {
		if i == 0 {
			p.text(" ORDER BY ")
		}
		p.comma(i)
		p.expr(o.expr)
		if o.desc {
			p.text(" DESC")
		}
	}
	if x.fn.name == "GROUP_CONCAT" {
		p.text(" SEPARATOR ")
		p.string(x.separator)
	}
	p.text(")")
}

func (x *typedLiteral) print(p *printer) {
	p.text(x.kind)
	p.text(" ")
	p.string(x.text)
}

func (x *extract) print(p *printer) {
	p.function(x.fn)
	p.text(x.unit)
	p.text(" FROM ")
	p.expr(x.x)
	p.text(")")
}

// function opens a call.
func (p *printer) function(fn *function) {
	p.text(fn.name)
	p.text("(")
}

func (p *printer) infix(l expr, op string, r expr) {
	p.expr(l)
	p.word(op)
	p.expr(r)
}

func (p *printer) word(w string) {
	p.text(" ")
	p.text(w)
	p.text(" ")
}

func (p *printer) not(not bool) {
	if not {
		p.text(" NOT")
	}
}

// number writes a literal as it was spelled. The parser takes a word after "1." for a name, so that
// gets parentheses.
func (p *printer) number(spelling string) {
	if spelling[len(spelling)-1] != '.' {
		p.text(spelling)
		return
	}
	p.text("(")
	p.text(spelling)
	p.text(")")
}

// string writes a literal for a session with backslash escapes. Doubling quotes and backslashes
// keeps the literal closed in a session without them, too.
func (p *printer) string(s string) {
	p.text("'")
	for i := range len(s) {
		switch c := s[i]; c {
		case '\'':
			p.text("''")
		case '\\':
			p.text(`\\`)
		case 0:
			p.text(`\0`)
		case '\n':
			p.text(`\n`)
		case '\r':
			p.text(`\r`)
		case 0x1A:
			p.text(`\Z`)
		default:
			p.buf = append(p.buf, c)
		}
	}
	p.text("'")
}

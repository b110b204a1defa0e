package promguard

import (
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// printer writes the tree as PromQL that Prometheus 2.42 reads: operators fully parenthesised,
// metric names as matchers of __name__ (no name is ever a keyword then), and every string as
// a double-quoted literal.
type printer struct{ strings.Builder }

func printed(n node) string {
	var p printer
	n.print(&p)
	return p.String()
}

func (s selector) print(p *printer) {
	p.WriteString("{" + model.MetricNameLabel + "=" + strconv.Quote(s.metric))
	for _, m := range s.matchers {
		p.WriteString("," + printMatcher(m))
	}
	p.WriteByte('}')
	if s.rng > 0 {
		p.WriteString("[" + printDuration(s.rng) + "]")
	}
	p.offset(s.offset)
}

func (c call) print(p *printer) {
	p.WriteString(c.function)
	p.list(c.args...)
}

func (a aggregate) print(p *printer) {
	p.WriteString(a.op)
	switch {
	case a.without:
		p.WriteString(" without ")
		p.labels(a.grouping)
	case len(a.grouping) > 0:
		p.WriteString(" by ")
		p.labels(a.grouping)
	}
	p.WriteByte(' ')
	if a.param == nil {
		p.list(a.expr)
		return
	}
	p.list(a.param, a.expr)
}

func (b binary) print(p *printer) {
	p.WriteByte('(')
	b.lhs.print(p)
	p.WriteString(" " + b.op + " ")
	if b.bool {
		p.WriteString("bool ")
	}
	if m := b.matching; m != nil {
		if m.on {
			p.WriteString("on ")
		} else {
			p.WriteString("ignoring ")
		}
		p.labels(m.labels)
		if m.group != "" {
			p.WriteString(" " + m.group + " ")
			p.labels(m.include)
		}
		p.WriteByte(' ')
	}
	b.rhs.print(p)
	p.WriteByte(')')
}

func (n negation) print(p *printer) {
	p.WriteString("(-")
	n.expr.print(p)
	p.WriteByte(')')
}

func (s subquery) print(p *printer) {
	p.WriteByte('(')
	s.expr.print(p)
	p.WriteString(")[" + printDuration(s.rng) + ":" + printDuration(s.step) + "]")
	p.offset(s.offset)
}

func (n number) print(p *printer) {
	if strings.HasPrefix(string(n), "-") {
		p.WriteString("(" + string(n) + ")")
		return
	}
	p.WriteString(string(n))
}

func (t text) print(p *printer) { p.WriteString(strconv.Quote(string(t))) }

func (p *printer) list(args ...node) {
	p.WriteByte('(')
	for i, a := range args {
		if i > 0 {
			p.WriteString(", ")
		}
		a.print(p)
	}
	p.WriteByte(')')
}

func (p *printer) labels(names []string) {
	p.WriteByte('(')
	for i, n := range names {
		if i > 0 {
			p.WriteString(", ")
		}
		p.WriteString(printLabel(n))
	}
	p.WriteByte(')')
}

func (p *printer) offset(d time.Duration) {
	if d > 0 {
		p.WriteString(" offset " + printDuration(d))
	}
}

// printLabel quotes what is not a name of Prometheus 2.42; the guard lets such names pass for
// sources of version 3 only.
func printLabel(name string) string {
	if labelForm.MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

func printMatcher(m matcher) string {
	return printLabel(m.name) + m.kind.String() + strconv.Quote(m.value)
}

func printDuration(d time.Duration) string { return model.Duration(d).String() }

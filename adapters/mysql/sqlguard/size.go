package sqlguard

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A server looks for no kill while it computes one value, and some of its functions take time that grows with the
// square of a text's length. So the guard bounds, before anything runs, how long each value of a statement can get and
// how many steps one evaluation of everything in it can take. A step is what LIKE does for one character, about 8 ns on
// the machine that the bounds were measured on (test/sqloracle measures them again).
//
// The bounds are upper bounds for columns as long as the policy says: see Column.MaxLength.

// size bounds one evaluation of an expression.
type size struct {
	chars float64 // of the value written as text, at most
	steps float64
}

const (
	nodeSteps   = 16  // of an evaluation, beside what depends on lengths
	scalarChars = 384 // of a number or a time: ROUND(1e300, 2) has all its digits
	valueKinds  = 6   // how often IN and CASE may compute what they compare: once for each kind of type
)

// measure computes sizes. An output column that is referred to by its alias is computed again there, but measured once.
type measure struct {
	t      *translator
	fields []size
	known  []bool
	long   float64 // the longest value so far
}

// checkSize refuses a statement of which one row could take too long, or that builds too long a value. It is called for
// a statement in which nothing else is wrong. A printed text is read back without its parameters' values.
func (t *translator) checkSize() {
	if t.printed != nil {
		return
	}
	m := measure{t: t, fields: make([]size, len(t.stmt.fields)), known: make([]bool, len(t.stmt.fields))}
	total := 0.0
	t.stmt.each(func(e expr) { total += m.of(e).steps })
	switch {
	case m.long > maxValueChars:
		t.rep.add(rankLimit, "a value could get longer than %d characters: concatenate or replace less, or "+
			"shorten the texts with LEFT(x, 1000) first", maxValueChars)
	case total > maxRowSteps:
		t.rep.add(rankLimit, "one row could take too long: use LIKE, REPLACE, TRIM, LOCATE and their kin on shorter texts, such as LEFT(x, 1000), "+
			"with shorter patterns, and nest less")
	}
}

// of measures an expression and everything in it.
func (m *measure) of(e expr) size {
	s := e.size(m)
	s.steps += nodeSteps
	m.long = max(m.long, s.chars)
	return s
}

// all adds up the steps of expressions and their lengths, and finds the longest.
func (m *measure) all(list ...expr) (sum size, longest float64) {
	for _, e := range list {
		s := m.of(e)
		sum.chars += s.chars
		sum.steps += s.steps
		longest = max(longest, s.chars)
	}
	return sum, longest
}

// scalar is a number or a time that is computed from texts once from end to end.
func (m *measure) scalar(list ...expr) size {
	sum, _ := m.all(list...)
	return size{scalarChars, sum.steps + sum.chars}
}

func (x columnRef) size(m *measure) size {
	return size{m.t.stmt.sources[x.source].table.lengths[x.column], 0}
}

func (x aliasRef) size(m *measure) size {
	if !m.known[x.field] {
		m.known[x.field] = true
		m.fields[x.field] = m.of(m.t.stmt.fields[x.field].expr)
	}
	return m.fields[x.field]
}

func (nullLiteral) size(*measure) size { return size{} }
func (boolLiteral) size(*measure) size { return size{chars: 1} }
func (x stringLiteral) size(*measure) size {
	return size{chars: float64(utf8.RuneCountInString(string(x)))}
}
func (x numberLiteral) size(*measure) size { return size{chars: max(float64(len(x)), 32)} }

func (x marker) size(m *measure) size {
	if text, ok := m.t.params[x.param].value.(string); ok {
		return size{chars: float64(utf8.RuneCountInString(text))}
	}
	return size{chars: 32}
}

func (x *unary) size(m *measure) size { return m.scalar(x.x) }

func (x *binary) size(m *measure) size {
	l, r := m.of(x.l), m.of(x.r)
	if isComparison(x.op) || x.op == "<=>" {
		return size{1, l.steps + r.steps + min(l.chars, r.chars)}
	}
	return size{scalarChars, l.steps + r.steps + l.chars + r.chars}
}

func (x *chain) size(m *measure) size   { return m.scalar(x.args...) }
func (x *between) size(m *measure) size { return m.scalar(x.x, x.lo, x.hi) }
func (x *test) size(m *measure) size    { return m.scalar(x.x) }

func (x *inList) size(m *measure) size { return m.compared(x.x, x.list...) }

// compared is the size of finding x in a list. MariaDB computes x anew for each kind of type among the elements.
func (m *measure) compared(x expr, list ...expr) size {
	value := m.of(x)
	steps := value.steps * float64(min(len(list), valueKinds))
	for _, e := range list {
		s := m.of(e)
		steps += s.steps + min(value.chars, s.chars)
	}
	return size{1, steps}
}

func (x *like) size(m *measure) size {
	text, pattern := m.of(x.x), m.of(x.pattern)
	return size{1, text.steps + pattern.steps + text.chars*pattern.chars}
}

func (x *caseExpr) size(m *measure) size {
	var steps, longest float64
	conds := make([]expr, len(x.whens))
	for i, w := range x.whens {
		conds[i] = w.cond
		result := m.of(w.result)
		steps, longest = steps+result.steps, max(longest, result.chars)
	}
	if x.value != nil {
		steps += m.compared(x.value, conds...).steps
	} else {
		sum, _ := m.all(conds...)
		steps += sum.steps + sum.chars
	}
	if x.other != nil {
		result := m.of(x.other)
		steps, longest = steps+result.steps, max(longest, result.chars)
	}
	return size{longest, steps + longest}
}

func (x *call) size(m *measure) size {
	sizes := make([]size, len(x.args))
	sum, longest := size{}, 0.0
	for i, arg := range x.args {
		sizes[i] = m.of(arg)
		sum.chars, sum.steps = sum.chars+sizes[i].chars, sum.steps+sizes[i].steps
		longest = max(longest, sizes[i].chars)
	}
	sum.steps += sum.chars // each argument is read once, at least
	return x.fn.size(sized{m, x.fn.name, x.args, sizes, sum, longest})
}

// trim looks at the whole text for each piece that it takes from the end.
func (x *trim) size(m *measure) size {
	cut, text := m.of(x.cut), m.of(x.x)
	steps := cut.steps + text.steps + text.chars + cut.chars
	if least := m.atLeast(x.cut); x.side != "LEADING" && least != 1 {
		steps += text.chars * text.chars / (4 * max(least, 2))
	}
	return size{text.chars, steps}
}

func (x *dateArith) size(m *measure) size { return m.scalar(x.x, x.n) }
func (x *unitCall) size(m *measure) size  { return m.scalar(x.a, x.b) }
func (x *unixTime) size(m *measure) size  { return m.scalar(x.x) }

func (x *cast) size(m *measure) size {
	s := m.of(x.x)
	s.steps += s.chars
	switch {
	case x.typeName == "CHAR":
	case strings.HasPrefix(x.typeName, "CHAR("):
		s.chars = min(s.chars, constant(strings.TrimSuffix(x.typeName[len("CHAR("):], ")")))
	default:
		s.chars = scalarChars
	}
	return s
}

func (x *aggregate) size(m *measure) size {
	sum, longest := m.all(x.children()...)
	switch x.fn.name {
	case "MIN", "MAX":
	case "GROUP_CONCAT":
		longest = maxValueChars // group_concat_max_len of MariaDB; MySQL's is smaller
	default:
		longest = scalarChars
	}
	return size{longest, sum.steps + sum.chars}
}

func (x *typedLiteral) size(*measure) size { return size{chars: scalarChars} }
func (x *extract) size(m *measure) size    { return m.scalar(x.x) }

// sized is the arguments of a call.
type sized struct {
	m       *measure
	name    string
	args    []expr
	sizes   []size
	sum     size // of all; the steps count each character of each argument once
	longest float64
}

// sizing is the size of a function's value for its arguments.
type sizing func(a sized) size

// sizeUnknown is of a function whose value was not thought about: it can be called nowhere.
func sizeUnknown(sized) size { return size{chars: maxValueChars + 1} }

// sizeScalar is of a function that gives a number or a time.
func sizeScalar(a sized) size { return size{scalarChars, a.sum.steps} }

// sizeFirst is of a function whose value is no longer than its first argument.
func sizeFirst(a sized) size { return size{a.sizes[0].chars, a.sum.steps} }

// sizeLongest is of a function that gives one of its arguments.
func sizeLongest(a sized) size { return size{a.longest, a.sum.steps} }

// sizeNullif is of NULLIF, of which MariaDB computes the first argument twice: to compare it, and to return it.
func sizeNullif(a sized) size { return size{a.sizes[0].chars, a.sum.steps + a.sizes[0].steps} }

func sizeConcat(a sized) size { return size{a.sum.chars, a.sum.steps + a.sum.chars} }

func sizeConcatWS(a sized) size {
	separators := a.sizes[0].chars * float64(max(len(a.args)-3, 0)) // the first is among the arguments
	return size{a.sum.chars + separators, a.sum.steps + a.sum.chars + separators}
}

// sizeLeft is of LEFT, RIGHT and SUBSTRING, of which the last argument counts characters: of SUBSTRING the third.
func sizeLeft(a sized) size {
	chars := a.sizes[0].chars
	if last := len(a.args) - 1; last == 2 || a.name == "LEFT" || a.name == "RIGHT" {
		chars = min(chars, a.m.count(a.args[last]))
	}
	return size{chars, a.sum.steps}
}

// sizeFormat is of a time written after a pattern, of which two characters become at most the name of a month or day.
func sizeFormat(a sized) size {
	chars := float64(scalarChars)
	if len(a.args) == 2 {
		chars = 16 * a.sizes[1].chars
	}
	return size{chars, a.sum.steps + chars}
}

// sizeSearch is of a function that finds one of two texts in the other, and gives a number.
func sizeSearch(a sized) size {
	return size{scalarChars, a.sum.steps + a.sizes[0].chars*a.sizes[1].chars/8}
}

// sizeReplace is of REPLACE(x, from, to), which moves the rest of the text for each piece that it replaces by one of
// another length.
func sizeReplace(a sized) size {
	text, from, to := a.sizes[0].chars, a.sizes[1].chars, a.sizes[2].chars
	least := max(a.m.atLeast(a.args[1]), 1)
	pieces := text / least
	out := text + pieces*max(to-least, 0)
	steps := a.sum.steps + text*from/8
	switch {
	case to > least:
		steps += pieces * out / 64
	case a.m.atLeast(a.args[2]) != from || least != from: // not surely as long as what it replaces
		steps += pieces * text / 512
	}
	return size{out, steps}
}

// atLeast is the least length of a constant text, and otherwise 0.
func (m *measure) atLeast(e expr) float64 {
	switch x := e.(type) {
	case stringLiteral:
		return x.size(m).chars
	case marker:
		if _, ok := m.t.params[x.param].value.(string); ok {
			return x.size(m).chars
		}
	}
	return 0
}

// count is the value of a constant count, and otherwise without a bound.
func (m *measure) count(e expr) float64 {
	switch x := e.(type) {
	case numberLiteral:
		return constant(string(x))
	case marker:
		if n, ok := m.t.params[x.param].value.(int64); ok {
			return float64(max(n, 0))
		}
	}
	return math.Inf(1)
}

// constant reads a literal that counts something.
func constant(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.Inf(1)
	}
	return n
}

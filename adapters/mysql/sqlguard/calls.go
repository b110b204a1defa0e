package sqlguard

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"
)

// call translates a function call. The parser also makes calls of operators and typed literals; those have a shape or a name of their own.
func (t *translator) call(n *ast.FuncCallExpr) expr {
	switch n.FnName.L {
	case ast.DateLiteral:
		return t.typedLiteral("DATE", n)
	case ast.TimeLiteral:
		return t.typedLiteral("TIME", n)
	case ast.TimestampLiteral:
		return t.typedLiteral("TIMESTAMP", n)
	}
	f := t.function(n)
	if f == nil {
		t.values(n.Args)
		return nullLiteral{}
	}
	switch f.shape {
	case shapeDateArith:
		return t.dateArith(f, n)
	case shapeUnitFirst:
		return t.unitFirst(f, n)
	case shapeTrim:
		return t.trim(f, n)
	case shapeClock:
		return t.clock(f, n)
	case shapeExtract:
		return t.extract(f, n)
	case shapeJSON:
		if !t.arity(f, len(n.Args)) {
			t.values(n.Args)
			return nullLiteral{}
		}
		return t.json(f, n)
	case shapeUnixTime:
		if len(n.Args) == 1 {
			return t.unixTime(n.Args[0])
		}
		fallthrough
	case shapePlain, shapeMod:
		if !t.arity(f, len(n.Args)) {
			t.values(n.Args)
			return nullLiteral{}
		}
		args := t.exprs(n.Args)
		if f.shape == shapeMod {
			return &binary{"%", args[0], args[1]}
		}
		return &call{f, args}
	}
	t.wrongShape(f)
	t.values(n.Args)
	return nullLiteral{}
}

// function finds the allowed function that a call names, or refuses it.
func (t *translator) function(n *ast.FuncCallExpr) *function {
	name := n.FnName.O
	upper := upperASCII(name)
	f := t.guard.functions[upper]
	switch {
	case n.Schema.O != "":
		t.rep.add(rankFunction, "stored functions are refused: write %s without a schema if you mean the built-in one", show(name))
		return nil
	case f == nil && isMetadataFunction(upper):
		t.rep.add(rankMetadata, "%s() is refused: it tells about the server, not about the data", show(upper))
		return nil
	case f == nil:
		t.notAllowed(upper, t.written(n.OriginTextPosition(), upper))
		return nil
	case f.shape != shapeDateArith && !t.builtin(f, n):
		t.rep.add(rankFunction, "%s with quotes or with a blank before its parenthesis is no built-in function: write %s(", f.name, f.name)
		return nil
	}
	return f
}

// notAllowed refuses a function under the name that the agent wrote.
func (t *translator) notAllowed(upper, written string) {
	if t.rep.wants(rankFunction) {
		t.rep.add(rankFunction, "%s is not allowed%s", show(written), t.guard.functionAdvice(upper))
	}
}

// written is the name that stands in the agent's text, where the parser calls a function something else: STDDEV, or ->>.
func (t *translator) written(at int, name string) string {
	rest := t.lex.src[min(at, len(t.lex.src)):]
	if _, ok := cutFold(rest, name); ok {
		return name
	}
	switch word := upperASCII(rest[:skip(rest, 0, isNameByte)]); {
	case name == "JSON_UNQUOTE":
		return "->>"
	case name == "JSON_EXTRACT":
		return "->"
	case instead[word] == name, strings.HasPrefix(word, "STD"), strings.HasPrefix(word, "VAR"):
		return word
	}
	return name
}

// builtin reports whether the server takes the call as written for the built-in function.
func (t *translator) builtin(f *function, n *ast.FuncCallExpr) bool {
	at := n.OriginTextPosition()
	rest := t.lex.src[min(at, len(t.lex.src)):]
	for strings.HasPrefix(rest, "{") { // the place of an ODBC escape {fn name(…)} is the brace's
		rest = strings.TrimLeft(rest[1:], blanks)
		rest = strings.TrimLeft(rest[skip(rest, 0, isNameByte):], blanks)
	}
	if strings.HasPrefix(rest, "`") {
		return !f.keyword
	}
	return !f.tight || len(rest) > len(f.name) && rest[len(f.name)] == '('
}

func upperASCII(s string) string {
	if lowerASCII(s) == s && !strings.ContainsFunc(s, func(r rune) bool { return 'a' <= r && r <= 'z' }) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - ('a' - 'A')
		}
		return r
	}, s)
}

func (t *translator) arity(f *function, n int) bool {
	if f.min <= n && n <= f.max {
		return true
	}
	switch {
	case f.name == "ISNULL" && n == 2:
		t.rep.add(rankFunction, "ISNULL takes one argument: write IFNULL(a, b)")
	case f.min == f.max:
		t.rep.add(rankFunction, "%s takes %d argument(s)", f.name, f.min)
	case f.max == unlimited:
		t.rep.add(rankFunction, "%s takes at least %d argument(s)", f.name, f.min)
	default:
		t.rep.add(rankFunction, "%s takes %d to %d arguments", f.name, f.min, f.max)
	}
	return false
}

func (t *translator) wrongShape(f *function) {
	switch {
	case f.shape == shapeAggregate:
		t.rep.add(rankFunction, "%s is not written like this: write %s(x), without a blank before the parenthesis", f.name, f.name)
	case f.name == "CONVERT":
		t.rep.add(rankFunction, "CONVERT … USING is refused: write CAST(x AS CHAR)")
	default:
		t.rep.add(rankFunction, "%s is not written like this", f.name)
	}
}

// values looks at the arguments of a refused call, for a stronger reason to refuse.
func (t *translator) values(nodes []ast.ExprNode) {
	for _, n := range nodes {
		switch n.(type) {
		case *ast.TimeUnitExpr, *ast.TrimDirectionExpr, *ast.GetFormatSelectorExpr, *ast.TableNameExpr:
		default:
			t.expr(n)
		}
	}
}

// unixTime cuts what is not a plain number.
func (t *translator) unixTime(n ast.ExprNode) expr {
	inner := beforeCut(n)
	x := t.expr(inner)
	number, plain := x.(numberLiteral)
	return &unixTime{x, inner != n || !plain || strings.ContainsAny(string(number), "eExXbB'")}
}

// beforeCut returns x of TRUNCATE(x, 6), as a printed FROM_UNIXTIME has it, and any other expression as it is.
func beforeCut(n ast.ExprNode) ast.ExprNode {
	f, ok := n.(*ast.FuncCallExpr)
	if !ok || f.Schema.O != "" || len(f.Args) != 2 || !sameName(f.FnName.O, "truncate") {
		return n
	}
	if v, ok := f.Args[1].(*driver.ValueExpr); ok && v.Kind() == driver.KindInt64 && v.GetInt64() == 6 {
		return f.Args[0]
	}
	return n
}

func (t *translator) dateArith(f *function, n *ast.FuncCallExpr) expr {
	var unit *ast.TimeUnitExpr
	if len(n.Args) == 3 {
		unit, _ = n.Args[2].(*ast.TimeUnitExpr)
	}
	if unit == nil || unit.Unit.String() == "" {
		t.rep.add(rankFunction, "write %s(date, INTERVAL n DAY)", f.name)
		t.values(n.Args)
		return nullLiteral{}
	}
	if n.OriginTextPosition() == n.Args[0].OriginTextPosition() || isPrefixInterval(n) { // an operator, not a call
		return &dateArith{f, t.operand(n.Args[0]), t.operand(n.Args[1]), unit.Unit.String()}
	}
	return &dateArith{f, t.expr(n.Args[0]), t.operand(n.Args[1]), unit.Unit.String()}
}

// isPrefixInterval recognises INTERVAL n unit + x, of which the parser makes the call DATE_ADD(x, INTERVAL n unit), by the places of n and x.
func isPrefixInterval(n *ast.FuncCallExpr) bool {
	if len(n.Args) != 3 || n.Args[1].OriginTextPosition() >= n.Args[0].OriginTextPosition() {
		return false
	}
	_, ok := n.Args[2].(*ast.TimeUnitExpr)
	return ok
}

func (t *translator) unitFirst(f *function, n *ast.FuncCallExpr) expr {
	var unit *ast.TimeUnitExpr
	if len(n.Args) == 3 {
		unit, _ = n.Args[0].(*ast.TimeUnitExpr)
	}
	if unit == nil || unit.Unit.String() == "" {
		t.rep.add(rankFunction, "write %s(DAY, a, b)", f.name)
		t.values(n.Args)
		return nullLiteral{}
	}
	return &unitCall{f, unit.Unit.String(), t.expr(n.Args[1]), t.expr(n.Args[2])}
}

func (t *translator) typedLiteral(kind string, n *ast.FuncCallExpr) expr {
	if t.guard.functions[typedLiterals] == nil {
		t.rep.add(rankFunction, "%s '…' is not allowed: write the time as a text, or CAST('…' AS %s)", kind,
			map[string]string{"DATE": "DATE", "TIME": "TIME", "TIMESTAMP": "DATETIME"}[kind])
		return nullLiteral{}
	}
	if len(n.Args) == 1 {
		if v, ok := n.Args[0].(*driver.ValueExpr); ok && v.Kind() == driver.KindString {
			return &typedLiteral{kind, v.GetString()}
		}
	}
	t.rep.add(rankFunction, "write %s '2024-01-31'", kind)
	return nullLiteral{}
}

func (t *translator) extract(f *function, n *ast.FuncCallExpr) expr {
	if len(n.Args) == 2 {
		if unit, ok := n.Args[0].(*ast.TimeUnitExpr); ok && unit.Unit.String() != "" {
			if unit.Unit.String() == "WEEK" {
				return t.extractWeek(n)
			}
			return &extract{f, unit.Unit.String(), t.expr(n.Args[1])}
		}
	}
	t.rep.add(rankFunction, "write EXTRACT(HOUR FROM x)")
	t.values(n.Args)
	return nullLiteral{}
}

// extractWeek writes WEEK(x), which is the same: of '0000-00-00' MariaDB extracts week 613566757.
func (t *translator) extractWeek(n *ast.FuncCallExpr) expr {
	week := t.guard.functions["WEEK"]
	if week == nil {
		t.rep.add(rankFunction, "EXTRACT(WEEK FROM x) is not allowed, because WEEK is not")
		t.values(n.Args)
		return nullLiteral{}
	}
	return &call{week, []expr{t.expr(n.Args[1])}}
}

// json translates a call with paths. A path is a constant, and has no **, which may take each part of a document as
// often as it is deep.
func (t *translator) json(f *function, n *ast.FuncCallExpr) expr {
	c := &call{f, t.exprs(n.Args)}
	paths := c.args[1:]
	if f.name == "JSON_CONTAINS" {
		paths = c.args[2:]
	}
	for _, path := range paths {
		text, known := "", false
		switch x := path.(type) {
		case stringLiteral:
			text, known = string(x), true
		case marker:
			if t.printed != nil || x.param >= len(t.params) {
				continue
			}
			text, known = t.params[x.param].value.(string)
		}
		if !known || !strings.HasPrefix(strings.TrimSpace(text), "$") || strings.Contains(text, "**") {
			t.rep.add(rankFunction, "a path of %s is a text or a parameter such as '$.items[0].sku', without **", f.name)
			break
		}
	}
	return c
}

func (t *translator) trim(f *function, n *ast.FuncCallExpr) expr {
	side := "BOTH"
	switch len(n.Args) {
	case 1:
		return &call{f, t.exprs(n.Args)}
	case 2:
	case 3:
		d, ok := n.Args[2].(*ast.TrimDirectionExpr)
		switch {
		case ok && d.Direction == ast.TrimLeading:
			side = "LEADING"
		case ok && d.Direction == ast.TrimTrailing:
			side = "TRAILING"
		case !ok || d.Direction != ast.TrimBoth:
			t.wrongShape(f)
		}
	default:
		t.wrongShape(f)
		return nullLiteral{}
	}
	return &trim{side: side, cut: t.expr(n.Args[1]), x: t.expr(n.Args[0])}
}

// clock translates NOW() and its like; a precision must be a literal from 0 to 6.
func (t *translator) clock(f *function, n *ast.FuncCallExpr) expr {
	if len(n.Args) == 0 {
		return &call{fn: f}
	}
	if len(n.Args) == 1 && f.max == 1 {
		if v, ok := n.Args[0].(*driver.ValueExpr); ok && v.Kind() == driver.KindInt64 && 0 <= v.GetInt64() && v.GetInt64() <= 6 {
			return &call{f, t.exprs(n.Args)}
		}
	}
	t.rep.add(rankFunction, "%s takes no argument, or a precision from 0 to 6 where it has one", f.name)
	t.values(n.Args)
	return nullLiteral{}
}

package sqlguard

import (
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/charset"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"
)

// call translates a function call. The parser also makes calls of operators and typed literals; those have a shape or a name of their own.
func (t *translator) call(n *ast.FuncCallExpr) expr {
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
		if t.rep.stronger(rankFunction) {
			t.rep.add(rankFunction, "%s is not allowed%s; allowed are %s", show(upper), t.guard.functionAdvice(upper), t.guard.functionList())
		}
		return nil
	case f.shape != shapeDateArith && !t.builtin(f, n):
		t.rep.add(rankFunction, "%s with quotes or with a blank before its parenthesis is no built-in function: write %s(", f.name, f.name)
		return nil
	}
	return f
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
	t.rep.add(rankFunction, "%s is not written like this", f.name)
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

// unixTime rounds what is not a plain number.
func (t *translator) unixTime(n ast.ExprNode) expr {
	inner := rounded(n)
	x := t.expr(inner)
	number, plain := x.(numberLiteral)
	return &unixTime{x, inner != n || !plain || strings.ContainsAny(string(number), "eExXbB'")}
}

// rounded returns x of ROUND(x, 6), as a printed FROM_UNIXTIME has it, and any other expression as it is.
func rounded(n ast.ExprNode) ast.ExprNode {
	f, ok := n.(*ast.FuncCallExpr)
	if !ok || f.Schema.O != "" || len(f.Args) != 2 || !sameName(f.FnName.O, "round") {
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

const castTypes = "the type of a CAST may be SIGNED, UNSIGNED, DECIMAL(p,s), CHAR(n), DATE, DATETIME(n), TIME(n) or DOUBLE"

func (t *translator) cast(n *ast.FuncCastExpr) expr {
	x := t.expr(n.Expr)
	var f *function
	switch n.FunctionType {
	case ast.CastFunction:
		f = t.guard.functions["CAST"]
	case ast.CastConvertFunction:
		f = t.guard.functions["CONVERT"]
	default:
		t.rep.add(rankNode, "BINARY is refused: leave it out")
		return nullLiteral{}
	}
	if f == nil {
		t.rep.add(rankFunction, "CAST and CONVERT are not both allowed; allowed are %s", t.guard.functionList())
		return nullLiteral{}
	}
	name := castType(n)
	if name == "" {
		t.rep.add(rankNode, castTypes)
		return nullLiteral{}
	}
	return &cast{f, x, name}
}

// castType spells the type of a cast, or nothing if it is none of those allowed.
func castType(n *ast.FuncCastExpr) string {
	tp := n.Tp
	if tp == nil || tp.IsArray() || n.ExplicitCharSet {
		return ""
	}
	length, digits := tp.GetFlen(), tp.GetDecimal()
	switch tp.GetType() {
	case mysql.TypeLonglong:
		if tp.GetFlag()&mysql.UnsignedFlag != 0 {
			return "UNSIGNED"
		}
		return "SIGNED"
	case mysql.TypeNewDecimal:
		if length < 0 || length > 65 || digits < 0 || digits > min(length, 38) {
			return ""
		}
		return "DECIMAL(" + strconv.Itoa(length) + "," + strconv.Itoa(digits) + ")"
	case mysql.TypeVarString:
		switch {
		case tp.GetCharset() == charset.CharsetBin || tp.GetFlag()&mysql.BinaryFlag != 0 || length > 1<<16:
			return ""
		case length < 0:
			return "CHAR"
		}
		return "CHAR(" + strconv.Itoa(length) + ")"
	case mysql.TypeDate:
		return "DATE"
	case mysql.TypeDatetime:
		return withPrecision("DATETIME", digits)
	case mysql.TypeDuration:
		return withPrecision("TIME", digits)
	case mysql.TypeDouble:
		return "DOUBLE"
	}
	return ""
}

func withPrecision(name string, digits int) string {
	switch {
	case digits < 0 || digits > 6:
		return ""
	case digits == 0:
		return name
	}
	return name + "(" + strconv.Itoa(digits) + ")"
}

func (t *translator) aggregate(n *ast.AggregateFuncExpr) expr {
	t.named = true
	upper := upperASCII(n.F)
	f := t.guard.functions[upper]
	t.misplaced(upper)
	t.aggregates++
	defer func() { t.aggregates-- }()
	if f == nil || f.shape != shapeAggregate || n.Order != nil {
		if t.rep.stronger(rankFunction) {
			t.rep.add(rankFunction, "%s is not allowed; allowed are %s", show(upper), t.guard.functionList())
		}
		t.values(n.Args)
		return nullLiteral{}
	}
	a := &aggregate{fn: f, distinct: n.Distinct}
	switch {
	case f.name == "COUNT" && !n.Distinct && isCountStar(n):
		a.star = true
	case len(n.Args) < f.min || len(n.Args) > f.max || !n.Distinct && len(n.Args) != 1:
		t.wrongShape(f)
	default:
		a.args = t.exprs(n.Args)
	}
	return a
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

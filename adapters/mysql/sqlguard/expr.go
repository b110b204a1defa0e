package sqlguard

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"
)

// expr translates an expression. Every kind of node that is not named here is refused.
func (t *translator) expr(n ast.ExprNode) expr {
	if t.depth++; t.depth > maxDepth || t.rep.rank == rankLimit {
		t.rep.add(rankLimit, "the expression is nested too deeply")
		t.depth--
		return nullLiteral{}
	}
	whole := t.whole
	if _, ok := n.(*ast.ColumnNameExpr); !ok {
		t.whole = false
	}
	e := t.node(n)
	t.whole = whole
	t.depth--
	return e
}

func (t *translator) node(n ast.ExprNode) expr {
	switch n := n.(type) {
	case *ast.ParenthesesExpr:
		return t.node(n.Expr) // the scan has bounded how many there are, and they add no level to the tree
	case *ast.ColumnNameExpr:
		return t.column(n.Name)
	case *driver.ValueExpr:
		return t.literal(n)
	case *driver.ParamMarkerExpr:
		return t.value(t.marker(n))
	case *ast.BinaryOperationExpr:
		return t.binary(n)
	case *ast.UnaryOperationExpr:
		return t.unary(n)
	case *ast.BetweenExpr:
		return &between{n.Not, t.operand(n.Expr), t.operand(n.Left), t.operand(n.Right)}
	case *ast.PatternInExpr:
		return t.inList(n)
	case *ast.PatternLikeOrIlikeExpr:
		return t.like(n)
	case *ast.IsNullExpr:
		return &test{n.Not, "NULL", t.operand(n.Expr)}
	case *ast.IsTruthExpr:
		return t.truth(n)
	case *ast.CaseExpr:
		return t.caseExpr(n)
	case *ast.FuncCallExpr:
		return t.call(n)
	case *ast.FuncCastExpr:
		return t.cast(n)
	case *ast.AggregateFuncExpr:
		return t.aggregate(n)
	}
	return t.refused(n)
}

// operand translates an operand of an operator. INTERVAL … + x may not be one without parentheses: what follows belongs to x on the server, not
// so for the parser.
func (t *translator) operand(n ast.ExprNode) expr {
	if f, ok := n.(*ast.FuncCallExpr); ok && isPrefixInterval(f) {
		t.rep.add(rankNode, "put parentheses around INTERVAL … + …, or write x + INTERVAL …")
	}
	return t.expr(n)
}

// refused names what an expression outside the algebra is.
func (t *translator) refused(n ast.ExprNode) expr {
	switch n := n.(type) {
	case *ast.SubqueryExpr, *ast.ExistsSubqueryExpr, *ast.CompareSubqueryExpr:
		t.rep.add(rankSubquery, subqueryAdvice)
	case *ast.VariableExpr:
		t.rep.add(rankVariable, "variables are refused")
	case *ast.WindowFuncExpr:
		t.rep.add(rankNode, "window functions (OVER) are refused: use GROUP BY")
	case *ast.RowExpr:
		t.rep.add(rankNode, "row values (a, b) are refused: compare one column at a time")
		t.exprs(n.Values)
	case *ast.PatternRegexpExpr:
		t.rep.add(rankNode, "REGEXP is refused: use LIKE")
		t.expr(n.Expr)
		t.expr(n.Pattern)
	case *ast.SetCollationExpr:
		t.rep.add(rankNode, "COLLATE is refused: leave it out")
		t.expr(n.Expr)
	case *ast.MatchAgainst:
		t.rep.add(rankNode, "MATCH … AGAINST is refused: use LIKE")
	case *ast.JSONSumCrc32Expr:
		t.rep.add(rankFunction, "JSON_SUM_CRC32 is not allowed")
	default:
		t.rep.add(rankNode, "this construct is refused")
	}
	return nullLiteral{}
}

func (t *translator) exprs(nodes []ast.ExprNode) []expr {
	if len(nodes) > maxListItems {
		t.rep.add(rankLimit, "a list of more than %d elements", maxListItems)
		return nil
	}
	out := make([]expr, len(nodes))
	for i, n := range nodes {
		out[i] = t.expr(n)
	}
	return out
}

func (t *translator) literal(n *driver.ValueExpr) expr {
	if n.Type.GetFlag()&mysql.UnderScoreCharsetFlag != 0 {
		t.rep.add(rankNode, "character set introducers (_utf8mb4'…', N'…') are refused: leave them out")
		return nullLiteral{}
	}
	switch n.Kind() {
	case driver.KindNull:
		return nullLiteral{}
	case driver.KindInt64:
		if n.Type.GetFlag()&mysql.IsBooleanFlag != 0 {
			return boolLiteral(n.GetInt64() != 0)
		}
		return numberLiteral(strconv.FormatInt(n.GetInt64(), 10))
	case driver.KindUint64:
		return numberLiteral(strconv.FormatUint(n.GetUint64(), 10))
	case driver.KindString:
		t.quotedName(n)
		return stringLiteral(n.GetString())
	case driver.KindMysqlDecimal, driver.KindFloat64, driver.KindBinaryLiteral:
		if text := t.lex.spelling(n.OriginTextPosition()); spellsKind(text, n.Kind()) {
			return numberLiteral(text)
		}
	}
	t.rep.add(rankNode, "this spelling of a literal is refused")
	return nullLiteral{}
}

// spellsKind reports whether a spelling is of the kind that the parser read.
func spellsKind(text string, kind byte) bool {
	switch {
	case text == "":
		return false
	case !isDigit(text[0]) && text[0] != '.' || len(text) > 1 && !isDigit(text[1]) && text[1]|0x20 != 'e' && text[1] != '.':
		return kind == driver.KindBinaryLiteral
	case strings.ContainsAny(text, "eE"):
		return kind == driver.KindFloat64
	}
	return kind == driver.KindMysqlDecimal
}

// spelling returns the number, hex or bit literal at the offset as it was written: the value alone does not tell 0x0A, a number where one is
// expected, from x'0A', always a string. It returns nothing for a spelling that the server reads differently from the parser.
func (l *lexed) spelling(offset int) string {
	// The first one from the offset on: an ODBC brace may stand before it. They ascend.
	at, _ := slices.BinarySearch(l.numbers, int32(offset))
	if at == len(l.numbers) {
		return ""
	}
	text := l.src[l.numbers[at]:]
	if digits, ok := cutFold(text, "x'"); ok {
		return quotedDigits(text, digits, isHexDigit)
	}
	if digits, ok := cutFold(text, "b'"); ok {
		return quotedDigits(text, digits, isBit)
	}
	if strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X") || strings.HasPrefix(text, "0b") {
		end := 2
		for end < len(text) && isNameByte(text[end]) {
			end++
		}
		valid := isHexDigit
		if text[1] == 'b' {
			valid = isBit
		}
		if text[1] == 'X' || end == 2 || !all(text[2:end], valid) {
			return ""
		}
		return text[:end]
	}
	return text[:decimalEnd(text)]
}

// decimalEnd is the length of digits[.digits][e[+-]digits] at the start of text.
func decimalEnd(text string) int {
	end := skip(text, 0, isDigit)
	if end < len(text) && text[end] == '.' {
		end = skip(text, end+1, isDigit)
	}
	if end < len(text) && text[end]|0x20 == 'e' {
		exponent := end + 1
		if exponent < len(text) && (text[exponent] == '+' || text[exponent] == '-') {
			exponent++
		}
		if exponent < len(text) && isDigit(text[exponent]) {
			end = skip(text, exponent, isDigit)
		}
	}
	return end
}

func skip(text string, from int, while func(byte) bool) int {
	for from < len(text) && while(text[from]) {
		from++
	}
	return from
}

func all(text string, valid func(byte) bool) bool { return skip(text, 0, valid) == len(text) }

func cutFold(text, prefix string) (string, bool) {
	if len(text) < len(prefix) || !sameName(text[:len(prefix)], prefix) {
		return "", false
	}
	return text[len(prefix):], true
}

func quotedDigits(text, digits string, valid func(byte) bool) string {
	end := skip(digits, 0, valid)
	if end == len(digits) || digits[end] != '\'' {
		return ""
	}
	return text[:len(text)-len(digits)+end+1]
}

func isHexDigit(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isBit(c byte) bool { return c == '0' || c == '1' }

func (t *translator) binary(n *ast.BinaryOperationExpr) expr {
	var op string
	switch n.Op {
	case opcode.LogicAnd, opcode.LogicOr:
		return t.chain(n)
	case opcode.LogicXor:
		op = "XOR"
	case opcode.GE:
		op = ">="
	case opcode.LE:
		op = "<="
	case opcode.EQ:
		op = "="
	case opcode.NE:
		op = "<>"
	case opcode.LT:
		op = "<"
	case opcode.GT:
		op = ">"
	case opcode.NullEQ:
		op = "<=>"
	case opcode.Plus:
		op = "+"
	case opcode.Minus:
		op = "-"
	case opcode.Mul:
		op = "*"
	case opcode.Div:
		op = "/"
	case opcode.IntDiv:
		op = "DIV"
	case opcode.Mod:
		op = "%"
	case opcode.And:
		op = t.bitOperator("&")
	case opcode.Or:
		op = t.bitOperator("|")
	case opcode.LeftShift:
		op = t.bitOperator("<<")
	case opcode.RightShift:
		op = t.bitOperator(">>")
	default:
		t.rep.add(rankNode, "the operator ^ is refused")
	}
	return &binary{op, t.operand(n.L), t.operand(n.R)}
}

func (t *translator) bitOperator(op string) string {
	if t.guard.functions[bitOperators] == nil {
		t.rep.add(rankNode, "the operator %s is refused: to test a bit, write x DIV 4 %% 2 = 1", op)
	}
	return op
}

func isComparison(op string) bool {
	switch op {
	case "=", "<>", "<", "<=", ">", ">=":
		return true
	}
	return false
}

// chain translates a run of the same of AND and OR, which the parser nests to the left, into one node: fifty ORs are not fifty levels deep.
func (t *translator) chain(n *ast.BinaryOperationExpr) expr {
	c := &chain{op: "AND"}
	if n.Op == opcode.LogicOr {
		c.op = "OR"
	}
	links := 1
	var first ast.ExprNode = n
	for {
		l, ok := first.(*ast.BinaryOperationExpr)
		if !ok || l.Op != n.Op {
			break
		}
		first = l.L
		links++
	}
	if links > maxChain {
		t.rep.add(rankLimit, "more than %d conditions joined by %s", maxChain, c.op)
		return nullLiteral{}
	}
	c.args = make([]expr, links)
	rights := make([]ast.ExprNode, links)
	rights[0] = first
	for node, i := n, links-1; i > 0; i-- {
		rights[i] = node.R
		node, _ = node.L.(*ast.BinaryOperationExpr)
	}
	for i, r := range rights { // from left to right, so that the first problem is the one reported
		c.args[i] = t.operand(r)
	}
	return c
}

func (t *translator) unary(n *ast.UnaryOperationExpr) expr {
	switch n.Op {
	case opcode.Minus:
		return &unary{"-", t.operand(n.V)}
	case opcode.Not:
		return &unary{"NOT", t.operand(n.V)}
	case opcode.Not2:
		t.rep.add(rankNode, "! is refused: write NOT (…)")
	case opcode.Plus:
		t.rep.add(rankNode, "unary + is refused: leave it out")
	default:
		t.rep.add(rankNode, "bit operators are refused")
	}
	t.expr(n.V)
	return nullLiteral{}
}

func (t *translator) inList(n *ast.PatternInExpr) expr {
	x := t.operand(n.Expr)
	if n.Sel != nil {
		t.rep.add(rankSubquery, subqueryAdvice)
		return nullLiteral{}
	}
	return &inList{n.Not, x, t.exprs(n.List)}
}

func (t *translator) like(n *ast.PatternLikeOrIlikeExpr) expr {
	if !n.IsLike {
		t.rep.add(rankNode, "ILIKE is refused: LIKE ignores letter case where the column's collation does")
	}
	l := &like{not: n.Not, x: t.operand(n.Expr), pattern: t.operand(n.Pattern)}
	switch {
	case !n.EscapeExplicit:
	case n.Escape == 0 || n.Escape >= 0x80:
		t.rep.add(rankNode, "ESCAPE needs one ASCII character")
	default:
		l.escape = string(rune(n.Escape))
	}
	return l
}

func (t *translator) truth(n *ast.IsTruthExpr) expr {
	what := "FALSE"
	if n.True != 0 {
		what = "TRUE"
	}
	return &test{n.Not, what, t.operand(n.Expr)}
}

func (t *translator) caseExpr(n *ast.CaseExpr) expr {
	c := &caseExpr{whens: make([]when, len(n.WhenClauses))}
	if n.Value != nil {
		c.value = t.expr(n.Value)
	}
	for i, w := range n.WhenClauses {
		c.whens[i] = when{t.expr(w.Expr), t.expr(w.Result)}
	}
	if n.ElseClause != nil {
		c.other = t.expr(n.ElseClause)
	}
	return c
}

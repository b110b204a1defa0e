package sqlguard

import (
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/charset"
	"github.com/pingcap/tidb/pkg/parser/mysql"
)

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
		t.rep.add(rankFunction, "CAST and CONVERT are not both allowed: write the other one, or leave it out")
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

package sqlguard

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"
)

// Plain judges statements of an operator's own, for which there is no allowlist: any SELECT that only reads tables. It judges what a statement
// does, not which names it reads, so wildcards, subqueries, set operations and window functions pass, and the names are the account's business.
// It is safe for concurrent use, touches no network, and is default deny: a construct that it does not list is refused.
//
// Agents' statements are never judged by it: those are translated, by Guard.
type Plain struct{ guard *Guard }

// NewPlain returns a judge of plain SELECTs.
func NewPlain() *Plain {
	g := &Guard{functions: map[string]*function{}, synonyms: map[string]*function{}}
	g.addFunctions(KnownFunctions(), func(string, ...any) {})
	g.functionNames = append(g.functionNames, readers()...)
	slices.Sort(g.functionNames)
	g.workers.New = func() any { return newWorker() }
	return &Plain{g}
}

// Check returns the values for the statement's placeholders in order, or the *Rejection of a statement that is anything but one SELECT without
// side effects: writes, several statements, metadata, transaction commands, locks, INTO, variables, executable comments, hints, and functions
// that do more than compute.
func (p *Plain) Check(sql string, params []Param) (args []any, err error) {
	if len(sql) > MaxStatementBytes {
		return nil, &Rejection{ReasonLimit, "a statement may have at most 64 KiB"}
	}
	if !utf8.ValidString(sql) {
		return nil, &Rejection{ReasonSyntax, "the statement is not valid UTF-8"}
	}
	w := p.guard.workers.Get().(*worker)
	defer func() {
		if recover() != nil { // the worker, whose parser may be anywhere, is dropped
			args, err = nil, &Rejection{ReasonSyntax, "the statement cannot be read"}
			return
		}
		p.guard.workers.Put(w)
	}()
	if rejection := w.readPlain(p.guard, sql, len(params)); rejection != nil {
		return nil, rejection
	}
	args = make([]any, len(params))
	for i, param := range params {
		args[i] = param.value
	}
	return args, nil
}

func (w *worker) readPlain(g *Guard, sql string, params int) *Rejection {
	var rep report
	w.lex.reset(sql, maxNesting)
	w.lex.scan(&rep)
	if rep.rank == rankLimit || rep.rank == rankComment || rep.rank == rankHintComment {
		return rep.rejection()
	}
	nodes, _, err := w.parser.ParseSQL(sql)
	if err != nil {
		rep.add(rankSyntax, "%s", w.lex.syntaxDetail(err))
		return rep.rejection()
	}
	t := translator{guard: g, lex: &w.lex, rep: &rep, stmt: &statement{}, merged: map[columnRef]bool{}}
	switch {
	case len(nodes) == 1:
		if _, union := nodes[0].(*ast.SetOprStmt); union {
			nodes[0].Accept(&plainVisitor{t: &t})
			break
		}
		if _, one := nodes[0].(*ast.SelectStmt); one {
			nodes[0].Accept(&plainVisitor{t: &t})
			break
		}
		t.translate(nodes) // which says what it is
	default:
		t.translate(nodes)
	}
	if rep.rank == 0 && params != len(w.lex.markers) {
		rep.add(rankParamCount, "the statement has %d placeholder(s), %d parameter(s) were given", len(w.lex.markers), params)
	}
	return rep.rejection()
}

// plainVisitor refuses every node that it does not know to be harmless. Parts of a node that the parser's walk leaves out are looked at here.
type plainVisitor struct{ t *translator }

// Leave goes on.
func (v *plainVisitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// Enter judges one node.
func (v *plainVisitor) Enter(n ast.Node) (ast.Node, bool) {
	rep := v.t.rep
	switch n := n.(type) {
	case *ast.SelectStmt:
		v.selectStmt(n)
	case *ast.SetOprStmt:
		v.noWith(n.With)
	case *ast.SetOprSelectList:
		v.noWith(n.With)
	case *ast.TableName:
		v.table(n)
	case *ast.TableSource:
		if n.Lateral || len(n.ColumnNames) > 0 {
			rep.add(rankNode, "LATERAL and column lists after a table's alias are refused")
		}
	case *ast.FuncCallExpr:
		v.call(n)
	case *ast.AggregateFuncExpr:
		v.known(n.F)
	case *ast.WindowFuncExpr:
		v.known(n.Name)
	case *ast.FuncCastExpr:
		if n.Tp == nil || n.Tp.IsArray() {
			rep.add(rankNode, "this type of a CAST is refused")
		}
	case *ast.VariableExpr:
		rep.add(rankVariable, "variables are refused: use a ? and parameters")
	case *ast.Join, *ast.OnCondition, *ast.TableRefsClause, *ast.FieldList, *ast.SelectField, *ast.WildCardField,
		*ast.GroupByClause, *ast.HavingClause, *ast.OrderByClause, *ast.ByItem, *ast.Limit, *ast.SubqueryExpr, *ast.ExistsSubqueryExpr,
		*ast.CompareSubqueryExpr, *ast.ColumnNameExpr, *ast.ColumnName, *ast.BinaryOperationExpr, *ast.UnaryOperationExpr, *ast.ParenthesesExpr,
		*ast.PatternInExpr, *ast.PatternLikeOrIlikeExpr, *ast.PatternRegexpExpr, *ast.BetweenExpr, *ast.IsNullExpr, *ast.IsTruthExpr,
		*ast.CaseExpr, *ast.WhenClause, *ast.RowExpr, *ast.PositionExpr, *ast.SetCollationExpr, *ast.TimeUnitExpr, *ast.TrimDirectionExpr,
		*ast.WindowSpec, *ast.PartitionByClause, *ast.FrameClause, *ast.FrameBound, *driver.ValueExpr, *driver.ParamMarkerExpr:
	default:
		rep.add(rankNode, "the statement has a part that is not on the list of what only reads")
	}
	return n, false
}

func (v *plainVisitor) noWith(with *ast.WithClause) {
	if with != nil {
		v.t.rep.add(rankCTE, "WITH is refused: write a subquery")
	}
}

func (v *plainVisitor) selectStmt(n *ast.SelectStmt) {
	rep := v.t.rep
	v.noWith(n.With)
	if n.SelectIntoOpt != nil {
		rep.add(rankInto, "INTO is refused")
	}
	if n.LockInfo != nil && n.LockInfo.LockType != ast.SelectLockNone {
		rep.add(rankLocking, "FOR UPDATE and FOR SHARE are refused")
	}
	if len(n.TableHints) > 0 || n.SelectStmtOpts != nil && len(n.SelectStmtOpts.TableHints) > 0 {
		rep.add(rankHint, "optimizer hints are refused: leave them out")
	}
	if n.Kind != ast.SelectStmtKindSelect || len(n.Lists) > 0 || n.SelectStmtOpts == nil || n.AsViewSchema {
		rep.add(rankNode, "TABLE and VALUES are refused: write SELECT")
		return
	}
	o := n.SelectStmtOpts
	if o.SQLBigResult || o.SQLBufferResult || o.SQLSmallResult || !o.SQLCache || o.CalcFoundRows || o.Priority != 0 {
		rep.add(rankNode, "of the options after SELECT only ALL, DISTINCT and STRAIGHT_JOIN are allowed")
	}
}

func (v *plainVisitor) table(n *ast.TableName) {
	rep := v.t.rep
	if IsSystemSchema(n.Schema.O) {
		rep.add(rankMetadata, "schema %s is refused: it tells about the server, not about the data", show(n.Schema.O))
	}
	if len(n.IndexHints) > 0 {
		rep.add(rankHint, "index hints are refused: leave them out")
	}
	if n.TableSample != nil || n.AsOf != nil || len(n.PartitionNames) > 0 {
		rep.add(rankNode, "PARTITION, TABLESAMPLE and AS OF are refused")
	}
}

// IsSystemSchema reports whether the schema belongs to the server itself.
func IsSystemSchema(name string) bool {
	switch lowerASCII(name) {
	case "information_schema", "mysql", "performance_schema", "sys":
		return true
	}
	return false
}

// call accepts a function that a policy can allow, in its usual shape, and the readers, in their plain spelling only: with quotes or a blank
// before the parenthesis the server may look for a stored function of that name.
func (v *plainVisitor) call(n *ast.FuncCallExpr) {
	upper := upperASCII(n.FnName.O)
	if n.Schema.O == "" && slices.Contains(readers(), upper) {
		rest := v.t.lex.src[min(n.OriginTextPosition(), len(v.t.lex.src)):]
		if !strings.EqualFold(rest[:min(len(upper)+1, len(rest))], upper+"(") {
			v.t.rep.add(rankFunction, "%s with quotes or with a blank before its parenthesis may be a stored function: write %s(", upper, upper)
		}
		return
	}
	v.t.function(n)
}

func (v *plainVisitor) known(name string) {
	upper := upperASCII(name)
	if v.t.guard.functions[upper] == nil && !slices.Contains(readers(), upper) && !slices.Contains(windowFunctions(), upper) {
		v.t.rep.add(rankFunction, "%s is not allowed%s", show(upper), v.t.guard.functionAdvice(upper))
	}
}

// readers lists built-in functions beyond those of policies: they compute a value of their arguments and do nothing else.
func readers() []string {
	return []string{"GROUP_CONCAT", "STD", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "VARIANCE", "VAR_POP", "VAR_SAMP", "BIT_AND", "BIT_OR", "BIT_XOR",
		"HEX", "UNHEX", "MD5", "SHA1", "SHA2", "CRC32", "JSON_EXTRACT", "JSON_UNQUOTE", "JSON_LENGTH", "JSON_VALID", "JSON_KEYS", "JSON_CONTAINS",
		"INET_NTOA", "INET_ATON", "ISNULL", "FORMAT"}
}

func windowFunctions() []string {
	return []string{"ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE"}
}

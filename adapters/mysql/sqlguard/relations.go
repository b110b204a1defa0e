package sqlguard

import "github.com/pingcap/tidb/pkg/parser/ast"

// relation translates FROM. Sources are numbered from left to right, so that the tables below a join are a range of them: those are the tables
// its ON may use.
func (t *translator) relation(n ast.ResultSetNode) relation {
	switch n := n.(type) {
	case *ast.Join:
		if n.Right == nil {
			if n.On != nil || len(n.Using) > 0 || n.NaturalJoin || n.StraightJoin {
				t.rep.add(rankJoin, joinAdvice)
			}
			return t.relation(n.Left)
		}
		return t.join(n)
	case *ast.TableSource:
		return t.source(n)
	}
	t.rep.add(rankSubquery, subqueryAdvice)
	return t.addSource(nil, "", false)
}

const (
	joinAdvice     = "write joins as JOIN … ON or LEFT JOIN … ON"
	subqueryAdvice = "subqueries are refused: use a JOIN, or send two queries"
)

func (t *translator) join(n *ast.Join) relation {
	low := len(t.stmt.sources)
	if t.depth++; t.depth > maxTables {
		t.rep.add(rankLimit, "more than %d tables", maxTables)
		t.depth--
		return t.addSource(nil, "", false)
	}
	j := &join{left: n.Tp == ast.LeftJoin}
	j.first = t.relation(n.Left)
	j.then = t.relation(n.Right)
	t.depth--
	if left, ok := n.Left.(*ast.TableSource); ok && sameName(left.AsName.O, "full") {
		t.rep.add(rankJoin, "there is no FULL JOIN: send two queries, one with LEFT JOIN")
	}
	switch {
	case n.NaturalJoin || n.StraightJoin || len(n.Using) > 0 && !t.using(j, n, low) || n.Tp == ast.RightJoin:
		t.rep.add(rankJoin, "NATURAL, STRAIGHT_JOIN, RIGHT JOIN%s are refused: %s", t.noUsing(), joinAdvice)
	case len(n.Using) > 0:
	case n.On == nil || n.On.Expr == nil:
		t.rep.add(rankJoin, "a join without ON (also a comma or CROSS JOIN) is refused: %s", joinAdvice)
	case n.Tp != ast.CrossJoin && n.Tp != ast.LeftJoin:
		t.rep.add(rankJoin, joinAdvice)
	}
	if n.On == nil {
		return j
	}
	t.low, t.high = low, len(t.stmt.sources)
	j.on = t.expr(n.On.Expr)
	return j
}

func (t *translator) noUsing() string {
	if t.guard.functions[joinUsing] == nil {
		return " and USING"
	}
	return ""
}

// using translates USING (a, b) into ON first.a = then.a AND first.b = then.b, if the policy allows it. Without a
// qualifier such a column is the first one from then on.
func (t *translator) using(j *join, n *ast.Join, low int) bool {
	if t.guard.functions[joinUsing] == nil || n.NaturalJoin || n.StraightJoin || n.Tp == ast.RightJoin {
		return false
	}
	r, ok := j.then.(sourceRef)
	if !ok {
		t.rep.add(rankJoin, "USING with a join in parentheses is refused: %s", joinAdvice)
		return true
	}
	var equal []expr
	for _, c := range n.Using {
		t.low, t.high = low, r.index
		first := t.unqualified(c.Name.O)
		t.low, t.high = r.index, r.index+1
		then := t.unqualified(c.Name.O)
		equal = append(equal, &binary{"=", first, then})
		if ref, ok := then.(columnRef); ok {
			t.merged[ref] = true
		}
	}
	if j.on = equal[0]; len(equal) > 1 {
		j.on = &chain{"AND", equal}
	}
	return true
}

func (t *translator) source(n *ast.TableSource) relation {
	name, ok := n.Source.(*ast.TableName)
	if !ok || n.Lateral || len(n.ColumnNames) > 0 {
		t.rep.add(rankSubquery, subqueryAdvice)
		return t.addSource(nil, n.AsName.O, true)
	}
	if len(name.IndexHints) > 0 {
		t.rep.add(rankHint, "index hints are refused: leave them out")
	}
	if len(name.PartitionNames) > 0 || name.TableSample != nil || name.AsOf != nil || name.IsAlias {
		t.rep.add(rankNode, "PARTITION, TABLESAMPLE and AS OF are refused")
	}
	entry := t.table(name)
	if n.AsName.O != "" {
		return t.addSource(entry, n.AsName.O, true)
	}
	return t.addSource(entry, name.Name.O, false)
}

// addSource appends a table to the scope and refuses a second one of the same visible name. The same table name from two schemas, both
// without an alias, is told apart by the schema.
func (t *translator) addSource(entry *table, name string, alias bool) relation {
	if len(t.stmt.sources) >= maxTables {
		t.rep.add(rankLimit, "more than %d tables", maxTables)
	}
	for _, s := range t.stmt.sources {
		if s.name == name && name != "" && (s.alias || alias || s.table == entry) {
			t.rep.add(rankDuplicate, "two tables are called %s: give each an alias of its own", show(name))
		}
	}
	t.stmt.sources = append(t.stmt.sources, source{entry, name, alias})
	return sourceRef{len(t.stmt.sources) - 1}
}

func (t *translator) table(n *ast.TableName) *table {
	schema := n.Schema.O
	if schema == "" {
		schema = t.guard.defaultSchema
	} else if !t.schema(schema) {
		return nil
	}
	if entry := t.guard.schemas[schema][n.Name.O]; entry != nil {
		return entry
	}
	if t.rep.wants(rankTable) {
		written := n.Name.O
		if n.Schema.O != "" {
			written = n.Schema.O + "." + written
		}
		if near := t.guard.nearTable(written); near != "" && near != written {
			t.rep.add(rankTable, "table %s is not available; did you mean %s?", show(written), near)
		} else {
			t.rep.add(rankTable, "table %s is not available; the tables are %s", show(written), t.guard.tableList(written))
		}
	}
	return nil
}

// schema reports whether a schema that was written out has allowlisted tables, and refuses it otherwise.
func (t *translator) schema(name string) bool {
	if t.guard.schemas[name] != nil {
		return true
	}
	switch lowerASCII(name) {
	case "information_schema", "mysql", "performance_schema", "sys":
		t.rep.add(rankMetadata, "schema %s is refused: the tables and columns are in the tool mysql_schema", show(name))
	default:
		if t.rep.wants(rankSchema) {
			t.rep.add(rankSchema, "schema %s is not available; the tables are %s", show(name), t.guard.tableList(name))
		}
	}
	return false
}

package sqlguard

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// nodes has one row for each kind of expression: a node with every member set, and a statement in
// which an agent writes it. What is computed over the algebra is tested on each row.
func nodes() map[string]struct {
	node    expr
	sql     string   // of one select item
	printed string   // of that item
	sources []string // its lineage
} {
	fn := &function{name: "F"}
	a, b, c := columnRef{0, 0}, columnRef{0, 1}, columnRef{0, 2}
	type row = struct {
		node    expr
		sql     string
		printed string
		sources []string
	}
	const id, total, status = "shop.orders.id", "shop.orders.total", "shop.orders.status"
	return map[string]row{
		"columnRef":     {columnRef{1, 2}, "total", "`_t1`.`total`", []string{total}},
		"aliasRef":      {aliasRef{1}, "", "", nil}, // stands in GROUP BY, HAVING and ORDER BY only
		"nullLiteral":   {nullLiteral{}, "NULL", "NULL", nil},
		"boolLiteral":   {boolLiteral(true), "TRUE", "TRUE", nil},
		"stringLiteral": {stringLiteral("x"), "'x'", "'x'", nil},
		"numberLiteral": {numberLiteral("1.5"), "1.5", "1.5", nil},
		"marker":        {marker{1}, "?", "?", nil},
		"unary":         {&unary{"-", a}, "-total", "(-`_t1`.`total`)", []string{total}},
		"binary":        {&binary{"+", a, b}, "id + total", "(`_t1`.`id` + `_t1`.`total`)", []string{id, total}},
		"chain": {&chain{"AND", []expr{a, b}}, "id AND total", "(`_t1`.`id` AND `_t1`.`total`)",
			[]string{id, total}},
		"between": {&between{true, a, b, c}, "id NOT BETWEEN total AND status",
			"(`_t1`.`id` NOT BETWEEN `_t1`.`total` AND `_t1`.`status`)", []string{id, total, status}},
		"inList": {&inList{true, a, []expr{b, c}}, "id NOT IN (total, status)",
			"(`_t1`.`id` NOT IN (`_t1`.`total`, `_t1`.`status`))", []string{id, total, status}},
		"like": {&like{true, a, b, "!"}, "status NOT LIKE total ESCAPE '!'",
			"(`_t1`.`status` NOT LIKE `_t1`.`total` ESCAPE '!')", []string{status, total}},
		"test": {&test{true, "NULL", a}, "total IS NOT NULL", "(`_t1`.`total` IS NOT NULL)", []string{total}},
		"caseExpr": {&caseExpr{a, []when{{b, c}}, a}, "CASE id WHEN total THEN status ELSE id END",
			"(CASE `_t1`.`id` WHEN `_t1`.`total` THEN `_t1`.`status` ELSE `_t1`.`id` END)",
			[]string{id, total, status}},
		"call": {&call{fn, []expr{a, b}}, "COALESCE(id, total)", "COALESCE(`_t1`.`id`, `_t1`.`total`)",
			[]string{id, total}},
		"trim": {&trim{"BOTH", a, b}, "TRIM(LEADING status FROM id)", "TRIM(LEADING `_t1`.`status` FROM `_t1`.`id`)",
			[]string{status, id}},
		"dateArith": {&dateArith{fn, a, b, "DAY"}, "DATE_ADD(status, INTERVAL id DAY)",
			"DATE_ADD(`_t1`.`status`, INTERVAL `_t1`.`id` DAY)", []string{status, id}},
		"unitCall": {&unitCall{fn, "DAY", a, b}, "TIMESTAMPDIFF(DAY, status, id)",
			"TIMESTAMPDIFF(DAY, `_t1`.`status`, `_t1`.`id`)", []string{status, id}},
		"unixTime":     {&unixTime{a, true}, "FROM_UNIXTIME(total)", "FROM_UNIXTIME(TRUNCATE(`_t1`.`total`, 6))", []string{total}},
		"typedLiteral": {&typedLiteral{"DATE", "2024-01-31"}, "DATE '2024-01-31'", "DATE '2024-01-31'", nil},
		"extract":      {&extract{fn, "HOUR", a}, "EXTRACT(HOUR FROM total)", "EXTRACT(HOUR FROM `_t1`.`total`)", []string{total}},
		"cast":         {&cast{fn, a, "CHAR"}, "CAST(total AS CHAR)", "CAST(`_t1`.`total` AS CHAR)", []string{total}},
		"aggregate": {&aggregate{fn, true, true, []expr{a, b}, []orderItem{{c, true, true}}, ","},
			"GROUP_CONCAT(DISTINCT total ORDER BY total DESC SEPARATOR ';')",
			"GROUP_CONCAT(DISTINCT `_t1`.`total` ORDER BY `_t1`.`total` DESC SEPARATOR ';')", []string{total}},
	}
}

// TestEveryNodeHasARow reads the package's source: a new kind of node must get a row above.
func TestEveryNodeHasARow(t *testing.T) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "algebra.go", nil, 0)
	require.NoError(t, err)
	var declared []string
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != "children" {
			continue
		}
		receiver := f.Recv.List[0].Type
		if p, ok := receiver.(*ast.StarExpr); ok {
			receiver = p.X
		}
		declared = append(declared, receiver.(*ast.Ident).Name)
	}
	require.Greater(t, len(declared), 15)
	rows := nodes()
	for _, name := range declared {
		row, ok := rows[name]
		require.True(t, ok, "%s has no row in nodes()", name)
		kind := reflect.TypeOf(row.node)
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		require.Equal(t, name, kind.Name(), "the row's node")
	}
	require.Len(t, rows, len(declared), "a row without a node")
}

// TestChildrenLeaveNothingOut finds every expression inside a node by reflection: children must
// return each of them, and a row must set each of them.
func TestChildrenLeaveNothingOut(t *testing.T) {
	for name, row := range nodes() {
		t.Run(name, func(t *testing.T) {
			value := reflect.ValueOf(row.node)
			if value.Kind() == reflect.Pointer {
				value = value.Elem()
			}
			var inside []expr
			expressions(t, name, value, &inside)
			require.ElementsMatch(t, inside, row.node.children())
		})
	}
}

// expressions collects the expressions among the members of a struct, without looking into them.
func expressions(t *testing.T, path string, v reflect.Value, into *[]expr) {
	t.Helper()
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		member, at := v.Field(i), fmt.Sprintf("%s.%s", path, v.Type().Field(i).Name)
		require.False(t, member.IsZero() && member.Kind() != reflect.Int, "the row does not set %s", at)
		switch {
		case member.Type() == reflect.TypeFor[expr]():
			*into = append(*into, exprOf(member))
		case member.Type() == reflect.TypeFor[[]expr]():
			for j := range member.Len() {
				*into = append(*into, exprOf(member.Index(j)))
			}
		case member.Kind() == reflect.Slice:
			for j := range member.Len() {
				expressions(t, at, member.Index(j), into)
			}
		}
	}
}

// exprOf reads an unexported member: columnRef is the only kind that the rows use as a child.
func exprOf(v reflect.Value) expr {
	c := v.Elem()
	return columnRef{int(c.Field(0).Int()), int(c.Field(1).Int())}
}

// TestEachNodeIsTranslatedPrintedAndTraced takes each kind of node through Prepare.
func TestEachNodeIsTranslatedPrintedAndTraced(t *testing.T) {
	policy := Policy{DefaultSchema: "shop", MaxRows: 200, Tables: []Table{{Schema: "shop", Name: "orders",
		Columns: []Column{{Name: "id"}, {Name: "total"}, {Name: "status"}}}}}
	g, err := New(policy)
	require.NoError(t, err)
	for name, row := range nodes() {
		if row.sql == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var params []Param
			if name == "marker" {
				params = []Param{{value: "x"}}
			}
			plan, err := g.Prepare("SELECT "+row.sql+" FROM orders", params)
			require.NoError(t, err)
			order := " ORDER BY `_o1`"
			if row.sources == nil || name == "aggregate" {
				order = ""
			}
			require.Equal(t, "SELECT "+row.printed+" AS `_o1` FROM `shop`.`orders` AS `_t1`"+order+" LIMIT 201", plan.SQL)
			require.Equal(t, row.sources, plan.Columns[0].Sources)
		})
	}
	plan, err := g.Prepare("SELECT id AS a, COUNT(*) AS n FROM orders GROUP BY a ORDER BY n", nil)
	require.NoError(t, err)
	require.Contains(t, plan.SQL, "GROUP BY `_o1` ORDER BY `_o2`", "aliasRef")
}

// TestEqualSeesEveryMember changes each member of each kind of node in turn, and each member of a
// statement: the comparison must tell the two apart.
func TestEqualSeesEveryMember(t *testing.T) {
	for name := range nodes() {
		t.Run(name, func(t *testing.T) {
			for i := range members(nodes()[name].node) {
				a := &statement{where: nodes()[name].node}
				require.True(t, equal(a, &statement{where: nodes()[name].node}))
				changed := altered(t, nodes()[name].node, i)
				require.False(t, equal(a, &statement{where: changed}), "member %d: %#v", i, changed)
			}
		})
	}
	full := func() *statement {
		on := join{left: true, first: sourceRef{0}, then: sourceRef{1}, on: marker{}}
		return &statement{
			distinct: true, fields: []field{{expr: marker{}}}, sources: []source{{table: &table{full: "a"}}},
			from: &on, where: marker{}, group: []expr{marker{}}, rollup: true, having: marker{},
			order: []orderItem{{marker{}, true, false}}, limit: 1, offset: 2, hasOffset: true,
		}
	}
	for what, change := range map[string]func(s *statement){
		"distinct": func(s *statement) { s.distinct = false }, "fields": func(s *statement) { s.fields[0].expr = marker{1} },
		"a field": func(s *statement) { s.fields = append(s.fields, field{expr: marker{}}) },
		"sources": func(s *statement) { s.sources[0].table = &table{full: "b"} }, "from": func(s *statement) { s.from = sourceRef{0} },
		"left": func(s *statement) { s.from.(*join).left = false }, "first": func(s *statement) { s.from.(*join).first = sourceRef{1} },
		"then": func(s *statement) { s.from.(*join).then = sourceRef{0} }, "on": func(s *statement) { s.from.(*join).on = marker{1} },
		"where": func(s *statement) { s.where = nil }, "group": func(s *statement) { s.group[0] = marker{1} },
		"rollup": func(s *statement) { s.rollup = false },
		"having": func(s *statement) { s.having = nil }, "order": func(s *statement) { s.order[0].expr = marker{1} },
		"desc": func(s *statement) { s.order[0].desc = false }, "limit": func(s *statement) { s.limit = 2 },
		"offset": func(s *statement) { s.offset = 3 }, "hasOffset": func(s *statement) { s.hasOffset = false },
	} {
		t.Run(what, func(t *testing.T) {
			require.True(t, equal(full(), full()))
			other := full()
			change(other)
			require.False(t, equal(full(), other))
		})
	}
	named := full()
	named.fields[0].alias, named.fields[0].heading, named.fields[0].aggregate = "a", "A", present
	named.sources[0].name, named.sources[0].alias = "t", true
	require.True(t, equal(full(), named), "what the printed text does not carry is not compared")
	require.Equal(t, "A", named.fields[0].heading, "and stays")
}

func members(e expr) []int {
	v := reflect.ValueOf(e)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return []int{0}
	}
	return slices.Collect(func(yield func(int) bool) {
		for i := range v.NumField() {
			if !yield(i) {
				return
			}
		}
	})
}

// altered returns a copy of the node with its i-th member changed.
func altered(t *testing.T, e expr, i int) expr {
	t.Helper()
	other := marker{99}
	switch x := e.(type) {
	case columnRef:
		return []expr{columnRef{x.source + 1, x.column}, columnRef{x.source, x.column + 1}}[i]
	case aliasRef:
		return aliasRef{x.field + 1}
	case boolLiteral:
		return !x
	case stringLiteral:
		return x + "y"
	case numberLiteral:
		return x + "0"
	case marker:
		return marker{x.param + 1}
	case nullLiteral:
		return boolLiteral(false)
	case *unary:
		return []expr{&unary{"NOT", x.x}, &unary{x.op, other}}[i]
	case *binary:
		return []expr{&binary{"-", x.l, x.r}, &binary{x.op, other, x.r}, &binary{x.op, x.l, other}}[i]
	case *chain:
		return []expr{&chain{"OR", x.args}, &chain{x.op, x.args[:1]}}[i]
	case *between:
		return []expr{&between{!x.not, x.x, x.lo, x.hi}, &between{x.not, other, x.lo, x.hi},
			&between{x.not, x.x, other, x.hi}, &between{x.not, x.x, x.lo, other}}[i]
	case *inList:
		return []expr{&inList{!x.not, x.x, x.list}, &inList{x.not, other, x.list}, &inList{x.not, x.x, x.list[:1]}}[i]
	case *like:
		return []expr{&like{!x.not, x.x, x.pattern, x.escape}, &like{x.not, other, x.pattern, x.escape},
			&like{x.not, x.x, other, x.escape}, &like{x.not, x.x, x.pattern, ""}}[i]
	case *test:
		return []expr{&test{!x.not, x.what, x.x}, &test{x.not, "TRUE", x.x}, &test{x.not, x.what, other}}[i]
	case *caseExpr:
		return []expr{&caseExpr{nil, x.whens, x.other}, &caseExpr{x.value, []when{{other, other}}, x.other},
			&caseExpr{x.value, x.whens, nil}}[i]
	case *call:
		return []expr{&call{&function{name: "G"}, x.args}, &call{x.fn, x.args[:1]}}[i]
	case *trim:
		return []expr{&trim{"LEADING", x.cut, x.x}, &trim{x.side, other, x.x}, &trim{x.side, x.cut, other}}[i]
	case *dateArith:
		return []expr{&dateArith{&function{name: "G"}, x.x, x.n, x.unit}, &dateArith{x.fn, other, x.n, x.unit},
			&dateArith{x.fn, x.x, other, x.unit}, &dateArith{x.fn, x.x, x.n, "HOUR"}}[i]
	case *unitCall:
		return []expr{&unitCall{&function{name: "G"}, x.unit, x.a, x.b}, &unitCall{x.fn, "HOUR", x.a, x.b},
			&unitCall{x.fn, x.unit, other, x.b}, &unitCall{x.fn, x.unit, x.a, other}}[i]
	case *unixTime:
		return []expr{&unixTime{other, x.cut}, &unixTime{x.x, false}}[i]
	case *typedLiteral:
		return []expr{&typedLiteral{"TIME", x.text}, &typedLiteral{x.kind, "2024-01-30"}}[i]
	case *extract:
		return []expr{&extract{&function{name: "G"}, x.unit, x.x}, &extract{x.fn, "DAY", x.x}, &extract{x.fn, x.unit, other}}[i]
	case *cast:
		return []expr{&cast{&function{name: "G"}, x.x, x.typeName}, &cast{x.fn, other, x.typeName}, &cast{x.fn, x.x, "DATE"}}[i]
	case *aggregate:
		changed := *x
		[]func(){func() { changed.fn = &function{name: "G"} }, func() { changed.distinct = false }, func() { changed.star = false },
			func() { changed.args = x.args[:1] }, func() { changed.order = nil }, func() { changed.separator = ";" }}[i]()
		return &changed
	}
	require.Fail(t, "no alteration", "%T: add it here", e)
	return nil
}

package sqlguard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard/sqlgen"
)

// bind turns generated values into parameters.
func bind(t testing.TB, values []any) []sqlguard.Param {
	t.Helper()
	raw, err := toRaw(values)
	require.NoError(t, err)
	params, err := sqlguard.ParamsFromJSON(raw)
	require.NoError(t, err)
	return params
}

// Statements over the allowed grammar are accepted; those next to it never make Prepare panic; what is accepted is a fixed point.
func TestGeneratedS30S33(t *testing.T) {
	g := open(t)
	gen := sqlgen.New(1, sqlgen.Shop())
	counts := map[sqlgen.Kind][2]int{}
	const statements = 4_000
	for range statements {
		s := gen.Next()
		plan, err := g.Prepare(s.SQL, bind(t, s.Params))
		c := counts[s.Kind]
		c[0]++
		if err == nil {
			c[1]++
			requireFixedPoint(t, g, plan)
		} else if s.Kind == sqlgen.Plain {
			var r *sqlguard.Rejection
			require.ErrorAs(t, err, &r)
			// The server has the same opinion of two columns shown under one name; a long value is no fault of the grammar.
			if r.Reason != sqlguard.ReasonAmbiguousColumn && r.Reason != sqlguard.ReasonLimit {
				t.Errorf("refused: %v\n\t%s", err, s.SQL)
			}
		}
		counts[s.Kind] = c
	}
	plain := counts[sqlgen.Plain]
	require.Greater(t, plain[1]*100, plain[0]*97)
	t.Logf("accepted of generated: plain %v, loose %v, neighbours %v", plain, counts[sqlgen.Loose], counts[sqlgen.Neighbour])
}

// requireFixedPoint proves that what was printed is accepted again and printed the same.
func requireFixedPoint(t testing.TB, g *sqlguard.Guard, plan *sqlguard.Plan) {
	t.Helper()
	again, err := g.Prepare(plan.SQL, bind(t, plan.Args))
	require.NoError(t, err, plan.SQL)
	require.Equal(t, plan.SQL, again.SQL)
	require.Equal(t, plan.Tables, again.Tables)
	require.Len(t, again.Columns, len(plan.Columns))
	for i := range plan.Columns {
		require.Equal(t, plan.Columns[i].Sources, again.Columns[i].Sources)
		require.Equal(t, plan.Columns[i].Sensitive, again.Columns[i].Sensitive)
	}
}

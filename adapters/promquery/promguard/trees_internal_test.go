package promguard

import (
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// TestTreesThatTheParserDoesNotMakeToday translates what a newer or differently configured parser
// could hand over: a modifier that has no translation is refused, never dropped.
func TestTreesThatTheParserDoesNotMakeToday(t *testing.T) {
	g, err := New(Policy{Metrics: []string{"up"}})
	require.NoError(t, err)
	up := func() *parser.VectorSelector {
		return &parser.VectorSelector{LabelMatchers: []*labels.Matcher{
			labels.MustNewMatcher(labels.MatchEqual, "__name__", "up"),
		}}
	}
	expression, now := &parser.DurationExpr{}, int64(0)
	offset, anchored, smoothed := up(), up(), up()
	offset.OriginalOffsetExpr, anchored.Anchored, smoothed.Smoothed = expression, true, true
	sub := func(change func(*parser.SubqueryExpr)) parser.Expr {
		s := &parser.SubqueryExpr{Expr: up(), Range: time.Hour, Step: time.Minute}
		change(s)
		return s
	}
	for name, e := range map[string]parser.Expr{
		"a range that is computed": &parser.MatrixSelector{VectorSelector: up(), Range: time.Hour,
			RangeExpr: expression},
		"an offset that is":         offset,
		"an anchored selector":      anchored,
		"a smoothed selector":       smoothed,
		"a subquery's range":        sub(func(s *parser.SubqueryExpr) { s.RangeExpr = expression }),
		"a subquery's step":         sub(func(s *parser.SubqueryExpr) { s.StepExpr = expression }),
		"a subquery's offset":       sub(func(s *parser.SubqueryExpr) { s.OriginalOffsetExpr = expression }),
		"a subquery's time":         sub(func(s *parser.SubqueryExpr) { s.Timestamp = &now }),
		"a subquery's start or end": sub(func(s *parser.SubqueryExpr) { s.StartOrEnd = parser.START }),
		"matching that fills in": &parser.BinaryExpr{Op: parser.ADD, LHS: up(), RHS: up(),
			VectorMatching: &parser.VectorMatching{FillValues: parser.VectorMatchFillValues{LHS: new(float64)}}},
		"an unknown operator":    &parser.BinaryExpr{Op: parser.EOF, LHS: up(), RHS: up()},
		"an unknown aggregation": &parser.AggregateExpr{Op: parser.EOF, Expr: up()},
		"an unknown node":        &parser.StepInvariantExpr{Expr: up()},
	} {
		t.Run(name, func(t *testing.T) {
			tr := translator{guard: g, metrics: map[string]bool{}, inner: 1}
			_, err := tr.node(e, frame{inner: 1})
			require.Equal(t, fault.QueryRejected, fault.CodeOf(err))
		})
	}
	tr := translator{guard: g, metrics: map[string]bool{}, inner: 1}
	_, err = tr.node(sub(func(*parser.SubqueryExpr) {}), frame{inner: 1})
	require.NoError(t, err, "the same without a modifier")
}

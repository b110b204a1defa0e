package promguard

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// Reasons of QUERY_REJECTED: stable classes that an agent can act on.
const (
	ReasonSyntax         = "SYNTAX"           // the text is not PromQL
	ReasonLimit          = "LIMIT"            // too long, too deep, too far back, too fine
	ReasonMetric         = "UNKNOWN_METRIC"   // the metric is not available
	ReasonMetricName     = "METRIC_NAME"      // a selector does not name one metric by equality
	ReasonMandatoryLabel = "MANDATORY_LABEL"  // the query contradicts or overwrites a mandatory label
	ReasonLabel          = "LABEL"            // a label name that is not available
	ReasonFunction       = "FUNCTION"         // a function or aggregation that is not available
	ReasonUnsupported    = "UNSUPPORTED_NODE" // any other construct that is not available
	ReasonNoMetric       = "NO_METRIC"        // the query reads no metric
	ReasonResultType     = "RESULT_TYPE"      // the query is not a vector
)

// Statement is a query that may run.
type Statement struct {
	// Text is the query as printed by this package.
	Text string
	// Matrix is true for a range vector, which only an instant query can return.
	Matrix bool
	// Metrics are the metrics that it reads, sorted.
	Metrics []string
	// Inner is how many inner evaluations its subqueries cause at each step; at least 1.
	Inner int
}

// Translate returns the statement that may run for the query, or QUERY_REJECTED with a reason
// of this package and a detail made of the query's own words.
func (g *Guard) Translate(query string) (Statement, error) {
	if len(query) > g.policy.MaxQuery {
		return Statement{}, reject(ReasonLimit, "the query has more than %d bytes", g.policy.MaxQuery)
	}
	root, st, err := g.read(query)
	if err != nil {
		return Statement{}, err
	}
	st.Text = printed(root)
	if len(st.Text) > g.policy.MaxQuery {
		return Statement{}, reject(ReasonLimit, "the query with what the service adds to it has more than %d bytes",
			g.policy.MaxQuery)
	}
	if err := g.verify(root, st.Text); err != nil {
		return Statement{}, err
	}
	return st, nil
}

// read parses and translates a query.
func (g *Guard) read(query string) (node, Statement, error) {
	expr, err := g.parser.ParseExpr(query)
	if err != nil {
		return nil, Statement{}, syntax(err)
	}
	t := translator{guard: g, metrics: map[string]bool{}, inner: 1}
	root, err := t.node(expr, frame{inner: 1})
	if err != nil {
		return nil, Statement{}, err
	}
	if len(t.metrics) == 0 {
		return nil, Statement{}, reject(ReasonNoMetric, "the query reads no metric")
	}
	st := Statement{Matrix: expr.Type() == parser.ValueTypeMatrix, Inner: t.inner}
	if !st.Matrix && expr.Type() != parser.ValueTypeVector {
		return nil, Statement{}, reject(ReasonResultType,
			"the query must be a vector, not a %s: leave out scalar() around it", expr.Type())
	}
	for m := range t.metrics {
		st.Metrics = append(st.Metrics, m)
	}
	slices.Sort(st.Metrics)
	return root, st, nil
}

// verify reads what was printed as a stranger would: each selector must name one allowed metric
// and carry the mandatory matchers, and translating it must give the same tree, member by member.
func (g *Guard) verify(root node, text string) error {
	expr, err := g.parser.ParseExpr(text)
	if err != nil {
		return unfaithful(err)
	}
	var bad error
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok && !g.bound(s.LabelMatchers) {
			bad = errors.New("a printed selector is not bound")
		}
		return nil
	})
	if bad != nil {
		return unfaithful(bad)
	}
	again, _, err := g.read(text)
	if err != nil {
		return unfaithful(err)
	}
	if !reflect.DeepEqual(root, again) {
		return unfaithful(errors.New("the print reads as another query"))
	}
	return nil
}

// bound reports whether matchers select one allowed metric within the mandatory matchers.
func (g *Guard) bound(matchers []*labels.Matcher) bool {
	names := 0
	for _, m := range matchers {
		if m.Name == model.MetricNameLabel {
			names++
			if m.Type != labels.MatchEqual || !g.allowed(m.Value) {
				return false
			}
		}
	}
	return names == 1 && !slices.ContainsFunc(g.mandatory, func(must *labels.Matcher) bool {
		return !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return same(m, must) })
	})
}

func same(a, b *labels.Matcher) bool {
	return a.Name == b.Name && a.Type == b.Type && a.Value == b.Value
}

// unfaithful refuses a query whose print could not be shown to be safe. That is a fault of this
// package, and refusing is all that is safe.
func unfaithful(cause error) error {
	return fault.Because(fault.QueryRejected, ReasonUnsupported,
		"the query cannot be written safely: ask in a simpler way").WithCause(cause)
}

func reject(reason, format string, args ...any) error {
	return fault.Because(fault.QueryRejected, reason, fmt.Sprintf(format, args...))
}

// syntax returns the parser's own first complaint, which is about the agent's text only.
func syntax(err error) error {
	detail := "the query is not PromQL"
	var list parser.ParseErrors
	if errors.As(err, &list) && len(list) > 0 {
		detail = fmt.Sprintf("byte %d: %s", list[0].PositionRange.Start+1, clip(list[0].Err.Error()))
	}
	return fault.Because(fault.QueryRejected, ReasonSyntax, detail).WithCause(err)
}

// clip keeps a complaint short and printable: it can quote the agent's text at length.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	if len(s) <= 200 {
		return s
	}
	cut := 200
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + " …"
}

package promguard

import (
	"math"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// translator makes the tree of one query.
type translator struct {
	guard     *Guard
	metrics   map[string]bool
	selectors int
	inner     int
}

// frame is where in the query a node stands: how deep, how far back in time it is evaluated,
// and how many evaluations its subqueries cause.
type frame struct {
	depth int
	back  time.Duration
	inner int
}

var labelForm = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// node translates an expression, or refuses it. A type that is not named here has no
// translation.
func (t *translator) node(e parser.Expr, f frame) (node, error) {
	e = unparen(e) // parentheses are not depth: the print has others
	if f.depth++; f.depth > t.guard.policy.MaxDepth {
		return nil, reject(ReasonLimit, "the query nests deeper than %d levels", t.guard.policy.MaxDepth)
	}
	switch e := e.(type) {
	case *parser.NumberLiteral:
		return numberOf(e.Val), nil
	case *parser.VectorSelector:
		return t.selector(e, 0, f)
	case *parser.MatrixSelector:
		return t.ranged(e, f)
	case *parser.SubqueryExpr:
		return t.subquery(e, f)
	case *parser.Call:
		return t.call(e, f)
	case *parser.AggregateExpr:
		return t.aggregate(e, f)
	case *parser.BinaryExpr:
		return t.binary(e, f)
	case *parser.UnaryExpr:
		inner, err := t.node(e.Expr, f)
		if err != nil || e.Op == parser.ADD {
			return inner, err
		}
		return negation{inner}, nil
	case *parser.StringLiteral:
		return nil, reject(ReasonUnsupported, "a vector or number is needed where a string is")
	default:
		return nil, reject(ReasonUnsupported, "the query uses a construct that is not available")
	}
}

func unparen(e parser.Expr) parser.Expr {
	for {
		paren, ok := e.(*parser.ParenExpr)
		if !ok {
			return e
		}
		e = paren.Expr
	}
}

func (t *translator) ranged(e *parser.MatrixSelector, f frame) (node, error) {
	s, ok := e.VectorSelector.(*parser.VectorSelector)
	if !ok || e.RangeExpr != nil {
		return nil, reject(ReasonUnsupported, "write the range as a duration such as [5m]")
	}
	if err := wholeDuration(e.Range); err != nil {
		return nil, err
	}
	return t.selector(s, e.Range, f)
}

func (t *translator) selector(e *parser.VectorSelector, rng time.Duration, f frame) (node, error) {
	if t.selectors++; t.selectors > t.guard.policy.MaxSelectors {
		return nil, reject(ReasonLimit, "the query has more than %d selectors", t.guard.policy.MaxSelectors)
	}
	if e.Timestamp != nil || e.StartOrEnd != 0 {
		return nil, reject(ReasonUnsupported, "@ is not available: set the time of the request instead, or use offset")
	}
	if e.Anchored || e.Smoothed {
		return nil, reject(ReasonUnsupported, "anchored and smoothed are not available")
	}
	offset, err := t.offset(e.OriginalOffset, e.OriginalOffsetExpr)
	if err != nil {
		return nil, err
	}
	if err := t.lookback(f.back, rng, offset); err != nil {
		return nil, err
	}
	s := selector{rng: rng, offset: offset}
	var own []*labels.Matcher
	for _, m := range e.LabelMatchers {
		if m.Name != model.MetricNameLabel {
			if err := t.guard.judge(m); err != nil {
				return nil, err
			}
			own = append(own, m)
			continue
		}
		if s.metric != "" || m.Type != labels.MatchEqual {
			return nil, reject(ReasonMetricName,
				"a selector must name one metric, as in http_requests_total{code=\"500\"}, without patterns of names")
		}
		if !t.guard.allowed(m.Value) {
			return nil, reject(ReasonMetric, "%.80q is not available", m.Value)
		}
		s.metric = m.Value
	}
	if s.metric == "" {
		return nil, reject(ReasonMetricName, "a selector must name a metric, as in http_requests_total{code=\"500\"}")
	}
	t.metrics[s.metric] = true
	s.matchers = matchersOf(t.guard.restrict(own))
	return s, nil
}

func (t *translator) offset(d time.Duration, e *parser.DurationExpr) (time.Duration, error) {
	if e != nil || d < 0 {
		return 0, reject(ReasonUnsupported, "an offset must be a duration that looks back, such as offset 1h")
	}
	if d == 0 {
		return 0, nil
	}
	return d, wholeDuration(d)
}

// lookback refuses what lies further back than the policy allows. The parts cannot overflow
// together: each was checked before the next was added.
func (t *translator) lookback(parts ...time.Duration) error {
	var sum time.Duration
	for _, d := range parts {
		if d > t.guard.policy.MaxLookback-sum {
			return reject(ReasonLimit, "range, offset and subqueries together look back further than %s",
				printDuration(t.guard.policy.MaxLookback))
		}
		sum += d
	}
	return nil
}

func (t *translator) subquery(e *parser.SubqueryExpr, f frame) (node, error) {
	p := t.guard.policy
	switch {
	case e.Timestamp != nil || e.StartOrEnd != 0:
		return nil, reject(ReasonUnsupported, "@ is not available: set the time of the request instead, or use offset")
	case e.RangeExpr != nil || e.StepExpr != nil:
		return nil, reject(ReasonUnsupported, "write range and step of a subquery as durations, as in [1h:1m]")
	case e.Step == 0:
		return nil, reject(ReasonUnsupported, "a subquery needs a step, as in [1h:1m]")
	case e.Step < p.MinStep:
		return nil, reject(ReasonLimit, "the step of a subquery must be at least %s", printDuration(p.MinStep))
	}
	for _, d := range []time.Duration{e.Range, e.Step} {
		if err := wholeDuration(d); err != nil {
			return nil, err
		}
	}
	offset, err := t.offset(e.OriginalOffset, e.OriginalOffsetExpr)
	if err != nil {
		return nil, err
	}
	if err := t.lookback(f.back, e.Range, offset); err != nil {
		return nil, err
	}
	times := int64(e.Range/e.Step) + 1
	if times > int64(p.MaxInner/f.inner) {
		return nil, reject(ReasonLimit, "the subqueries cause more than %d evaluations: use a larger step", p.MaxInner)
	}
	f.back += e.Range + offset
	f.inner *= int(times)
	t.inner = max(t.inner, f.inner)
	inner, err := t.node(e.Expr, f)
	if err != nil {
		return nil, err
	}
	return subquery{expr: inner, rng: e.Range, step: e.Step, offset: offset}, nil
}

// judge refuses the agent's own matcher when its label is not available or when it contradicts
// a mandatory matcher: the answer would be empty, and look like evidence of absence.
func (g *Guard) judge(m *labels.Matcher) error {
	if !g.labelName(m.Name) {
		return reject(ReasonLabel, "the label %.80q is not available", m.Name)
	}
	if !utf8.ValidString(m.Value) {
		return reject(ReasonUnsupported, "the value for the label %.80q is not UTF-8", m.Name)
	}
	for _, must := range g.mandatory {
		if must.Name == m.Name && contradict(m, must) {
			return reject(ReasonMandatoryLabel, "only series with %s are available: leave the label %s out",
				printMatcher(matchersOf([]*labels.Matcher{must})[0]), must.Name)
		}
	}
	return nil
}

// contradict reports whether no value can satisfy both matchers, as far as that can be told.
func contradict(m, must *labels.Matcher) bool {
	for _, pair := range [][2]*labels.Matcher{{m, must}, {must, m}} {
		for _, value := range values(pair[0]) {
			if pair[1].Matches(value) {
				return false
			}
		}
		if len(values(pair[0])) > 0 {
			return true
		}
	}
	return false
}

// values returns the only values that satisfy the matcher, or nil when they cannot be listed.
func values(m *labels.Matcher) []string {
	switch m.Type {
	case labels.MatchEqual:
		return []string{m.Value}
	case labels.MatchRegexp:
		return m.SetMatches()
	default:
		return nil
	}
}

// restrict returns the agent's matchers with the mandatory ones behind them.
func (g *Guard) restrict(own []*labels.Matcher) []*labels.Matcher {
	var list []*labels.Matcher
	for _, m := range own {
		mandatory := false
		for _, must := range g.mandatory {
			mandatory = mandatory || same(m, must)
		}
		if !mandatory {
			list = append(list, m)
		}
	}
	return append(list, g.mandatory...)
}

// labelName reports whether the label may be named. Names with two leading underscores have
// meanings of their own in some servers.
func (g *Guard) labelName(name string) bool {
	if strings.HasPrefix(name, "__") {
		return false
	}
	return labelForm.MatchString(name) || g.policy.Version3 && name != "" && printable(name)
}

func printable(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// wholeDuration refuses durations that PromQL cannot write: they are whole milliseconds.
func wholeDuration(d time.Duration) error {
	if d <= 0 || d%time.Millisecond != 0 || d == math.MaxInt64 {
		return reject(ReasonLimit, "a duration must be positive and whole milliseconds")
	}
	return nil
}

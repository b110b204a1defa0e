package promguard

import (
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

func (t *translator) call(e *parser.Call, f frame) (node, error) {
	class := functions[e.Func.Name]
	if class == 0 || class == version3 && !t.guard.policy.Version3 {
		return nil, reject(ReasonFunction, "the function %.80s is not available", e.Func.Name)
	}
	c := call{function: e.Func.Name}
	for i, arg := range e.Args {
		if i > 0 && (class == relabels || class == joinsLabels) {
			s, err := literal(arg)
			if err != nil {
				return nil, err
			}
			c.args = append(c.args, text(s))
			continue
		}
		n, err := t.node(arg, f)
		if err != nil {
			return nil, err
		}
		c.args = append(c.args, n)
	}
	return c, t.labelArguments(class, c.args)
}

// labelArguments judges the strings of label_replace(v, dst, replacement, src, regex) and
// label_join(v, dst, separator, src…).
func (t *translator) labelArguments(class functionClass, args []node) error {
	if class != relabels && class != joinsLabels {
		return nil
	}
	if err := t.guard.written(string(args[1].(text))); err != nil {
		return err
	}
	sources := args[3:]
	if class == relabels {
		sources = args[3:4]
		pattern := string(args[4].(text))
		if _, err := regexp.Compile("^(?s:" + pattern + ")$"); err != nil {
			return reject(ReasonSyntax, "the pattern of label_replace is not a regular expression")
		}
	}
	for _, s := range sources {
		if name := string(s.(text)); name != "" && name != model.MetricNameLabel && !t.guard.labelName(name) {
			return reject(ReasonLabel, "the label %.80q is not available", name)
		}
	}
	return nil
}

// written refuses a label that the query may not write into its results.
func (g *Guard) written(label string) error {
	if g.reserved(label) {
		return reject(ReasonMandatoryLabel, "a query may not write the label %.80q", label)
	}
	if !g.labelName(label) {
		return reject(ReasonLabel, "the label %.80q is not available", label)
	}
	return nil
}

// literal returns the string that an argument is.
func literal(e parser.Expr) (string, error) {
	s, ok := unparen(e).(*parser.StringLiteral)
	if !ok || !utf8.ValidString(s.Val) {
		return "", reject(ReasonUnsupported, "the argument must be a string in double quotes, in UTF-8")
	}
	return s.Val, nil
}

func (t *translator) aggregate(e *parser.AggregateExpr, f frame) (node, error) {
	op, known := aggregators[e.Op]
	if !known {
		return nil, reject(ReasonFunction, "the aggregation %.80s is not available", e.Op)
	}
	a := aggregate{op: op, without: e.Without, grouping: list(e.Grouping)}
	if err := t.named(e.Grouping); err != nil {
		return nil, err
	}
	var err error
	if a.expr, err = t.node(e.Expr, f); err != nil {
		return nil, err
	}
	switch {
	case e.Param == nil:
		return a, nil
	case e.Op == parser.COUNT_VALUES:
		label, err := literal(e.Param)
		if err != nil {
			return nil, err
		}
		a.param = text(label)
		return a, t.guard.written(label)
	default:
		a.param, err = t.node(e.Param, f)
		return a, err
	}
}

func (t *translator) binary(e *parser.BinaryExpr, f frame) (node, error) {
	op, known := operators[e.Op]
	if !known {
		return nil, reject(ReasonUnsupported, "the operator %.80s is not available", e.Op)
	}
	b := binary{op: op, bool: e.ReturnBool}
	if m := e.VectorMatching; m != nil {
		if m.FillValues != (parser.VectorMatchFillValues{}) {
			return nil, reject(ReasonUnsupported, "fill is not available")
		}
		if err := t.named(slices.Concat(m.MatchingLabels, m.Include)); err != nil {
			return nil, err
		}
		b.matching = translateMatching(m)
	}
	var err error
	if b.lhs, err = t.node(e.LHS, f); err != nil {
		return nil, err
	}
	b.rhs, err = t.node(e.RHS, f)
	return b, err
}

func translateMatching(m *parser.VectorMatching) *matching {
	t := &matching{on: m.On, labels: list(m.MatchingLabels), include: list(m.Include)}
	switch m.Card {
	case parser.CardManyToOne:
		t.group = "group_left"
	case parser.CardOneToMany:
		t.group = "group_right"
	}
	if !t.on && len(t.labels) == 0 && t.group == "" {
		return nil
	}
	return t
}

// list returns nil for an empty list, however it was written.
func list(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	return names
}

// named refuses label lists with a label that may not be named. The metric name may: what it
// can be is an allowed metric.
func (t *translator) named(list []string) error {
	for _, name := range list {
		if name != model.MetricNameLabel && !t.guard.labelName(name) {
			return reject(ReasonLabel, "the label %.80q is not available", name)
		}
	}
	return nil
}

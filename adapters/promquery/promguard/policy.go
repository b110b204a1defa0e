package promguard

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// Policy is what queries of one data source may do. Zero bounds take the default.
type Policy struct {
	// Metrics are the allowed metric names: exact, or a prefix of at least one character
	// followed by an asterisk, such as http_*.
	Metrics []string
	// Matchers are put on every selector: label matchers as PromQL writes them, such as
	// tenant="a". None means that every series of the allowed metrics may be read.
	Matchers []string
	// Version3 allows names in UTF-8 and the functions that Prometheus 2.42 does not know.
	Version3 bool
	// MaxLookback is the furthest that a sample may lie before the instant of evaluation: range,
	// offset and enclosing subqueries together. Default 8 days.
	MaxLookback time.Duration
	// MinStep is the finest step of a subquery. Default 1 s.
	MinStep time.Duration
	// MaxInner is the most inner evaluations that subqueries may cause per step. Default 1000.
	MaxInner int
	// MaxQuery is the longest query, in bytes, as sent and as printed. Default 4 KiB.
	MaxQuery int
	// MaxSelectors is the most selectors of a query. Default 16.
	MaxSelectors int
	// MaxDepth is how deeply a query may nest. Default 32.
	MaxDepth int
}

// Guard judges queries by one policy. It is immutable and safe for concurrent use.
type Guard struct {
	policy    Policy
	exact     map[string]bool
	prefixes  []string
	mandatory []*labels.Matcher
	parser    parser.Parser
}

var metricForm = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)

// newParser reads experimental functions too: they are refused by name, which says more to an
// agent than a complaint about a flag of the server.
func newParser() parser.Parser {
	return parser.NewParser(parser.Options{EnableExperimentalFunctions: true})
}

// New returns the guard of the policy, or every reason why there is none.
func New(p Policy) (*Guard, error) {
	g := &Guard{policy: p.WithDefaults(), exact: map[string]bool{}, parser: newParser()}
	var problems []error
	if len(p.Metrics) == 0 {
		problems = append(problems, errors.New("no metric is allowed"))
	}
	for _, m := range p.Metrics {
		name, isPrefix := strings.CutSuffix(m, "*")
		switch {
		case !g.metricName(name):
			problems = append(problems, fmt.Errorf("%q is neither the name of a metric nor a prefix such as http_*", m))
		case isPrefix:
			g.prefixes = append(g.prefixes, name)
		default:
			g.exact[name] = true
		}
	}
	for _, text := range p.Matchers {
		m, err := g.matcher(text)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		g.mandatory = append(g.mandatory, m)
	}
	return g, errors.Join(problems...)
}

// WithDefaults returns the policy with the default in place of every bound that is zero, as New
// uses it.
func (p Policy) WithDefaults() Policy {
	for _, d := range []struct {
		at      *time.Duration
		initial time.Duration
	}{{&p.MaxLookback, 8 * 24 * time.Hour}, {&p.MinStep, time.Second}} {
		if *d.at == 0 {
			*d.at = d.initial
		}
	}
	for _, d := range []struct {
		at      *int
		initial int
	}{{&p.MaxInner, 1000}, {&p.MaxQuery, 4 << 10}, {&p.MaxSelectors, 16}, {&p.MaxDepth, 32}} {
		if *d.at == 0 {
			*d.at = d.initial
		}
	}
	return p
}

// metricName reports whether the text can name a metric of this source.
func (g *Guard) metricName(name string) bool {
	if g.policy.Version3 {
		return name != "" && printable(name)
	}
	return metricForm.MatchString(name)
}

// matcher reads one mandatory matcher.
func (g *Guard) matcher(text string) (*labels.Matcher, error) {
	list, err := g.parser.ParseMetricSelector("{" + text + "}")
	if err != nil || len(list) != 1 || list[0].Name == model.MetricNameLabel || !g.labelName(list[0].Name) {
		return nil, fmt.Errorf("%q is not one label matcher such as tenant=\"a\"", text)
	}
	return list[0], nil
}

// allowed reports whether the metric may be read.
func (g *Guard) allowed(metric string) bool {
	if !g.metricName(metric) {
		return false
	}
	return g.exact[metric] || slices.ContainsFunc(g.prefixes,
		func(p string) bool { return strings.HasPrefix(metric, p) })
}

// Admits reports whether a series with these labels may be shown: it has no metric name or an
// allowed one, and every mandatory label that it has satisfies its matcher. Results of queries
// that this guard translated always do; a source that answers otherwise is not the one that
// was asked.
func (g *Guard) Admits(series map[string]string) bool {
	if name, named := series[model.MetricNameLabel]; named && !g.allowed(name) {
		return false
	}
	for _, m := range g.mandatory {
		if value, has := series[m.Name]; has && !m.Matches(value) {
			return false
		}
	}
	return true
}

// Mandatory returns the mandatory matchers as PromQL writes them.
func (g *Guard) Mandatory() []string {
	list := make([]string, len(g.mandatory))
	for i, m := range matchersOf(g.mandatory) {
		list[i] = printMatcher(m)
	}
	return list
}

// reserved reports whether results may not get this label from the query itself.
func (g *Guard) reserved(label string) bool {
	return label == model.MetricNameLabel ||
		slices.ContainsFunc(g.mandatory, func(m *labels.Matcher) bool { return m.Name == label })
}

package promguard_test

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/promquery/promguard"
	"github.com/toolboundary/toolboundary/domain/fault"
)

type query struct{ Verdict, Reason, Query string }

func queries(t testing.TB) []query {
	t.Helper()
	f, err := os.Open("testdata/queries.jsonl")
	require.NoError(t, err)
	defer f.Close()
	var all []query
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var q query
		require.NoError(t, json.Unmarshal(lines.Bytes(), &q))
		all = append(all, q)
	}
	return all
}

// policy is the one that testdata/queries.jsonl is judged by.
func policy() promguard.Policy {
	return promguard.Policy{Metrics: []string{"up", "node_load1", "http_*", "job:http_requests:rate5m"},
		Matchers: []string{`tenant="a"`}}
}

func guard(t testing.TB, p promguard.Policy) *promguard.Guard {
	t.Helper()
	g, err := promguard.New(p)
	require.NoError(t, err)
	return g
}

func detail(err error) string {
	if err == nil {
		return ""
	}
	return fault.Of(err).Detail
}

func rejected(t *testing.T, g *promguard.Guard, q, reason string) *fault.Error {
	t.Helper()
	_, err := g.Translate(q)
	require.Equal(t, fault.QueryRejected, fault.CodeOf(err), q)
	require.Equal(t, reason, fault.Of(err).Reason, "%s: %s", q, fault.Of(err).Detail)
	require.NotEmpty(t, fault.Of(err).Detail, q)
	return fault.Of(err)
}

// bare finds every selector with upstream's parser alone, so that this judge shares nothing
// with the code that it judges.
func bare(t testing.TB, printed string) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(printed)
	require.NoError(t, err, printed)
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		s, ok := n.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		names, tenants := 0, 0
		for _, m := range s.LabelMatchers {
			switch {
			case m.Name == model.MetricNameLabel:
				names++
				ok := m.Value == "up" || m.Value == "node_load1" || strings.HasPrefix(m.Value, "http_") ||
					m.Value == "job:http_requests:rate5m"
				require.True(t, ok && m.Type == labels.MatchEqual, printed)
			case m.Name == "tenant" && m.Type == labels.MatchEqual && m.Value == "a":
				tenants++
			}
		}
		require.Equal(t, []int{1, 1}, []int{names, tenants}, printed)
		return nil
	})
}

func TestS30_S42_QueriesAreJudgedRight(t *testing.T) {
	g := guard(t, policy())
	count := map[string]int{}
	for _, q := range queries(t) {
		count[q.Verdict]++
		if q.Verdict == "reject" {
			rejected(t, g, q.Query, q.Reason)
			continue
		}
		st, err := g.Translate(q.Query)
		require.NoError(t, err, "%s: %s", q.Query, detail(err))
		bare(t, st.Text)
		again, err := g.Translate(st.Text)
		require.NoError(t, err, st.Text)
		require.Equal(t, st, again, "translating the print changes nothing")
	}
	require.GreaterOrEqual(t, count["accept"], 30)
	require.GreaterOrEqual(t, count["reject"], 30)
}

func TestPrint(t *testing.T) {
	g := guard(t, policy())
	for q, want := range map[string]string{
		`up`:                               `{__name__="up",tenant="a"}`,
		`up{tenant="a",job=~'a"b'}`:        `{__name__="up",job=~"a\"b",tenant="a"}`,
		`-up ^ 2`:                          `(-({__name__="up",tenant="a"} ^ 2))`,
		`(-1) ^ up`:                        `((-1) ^ {__name__="up",tenant="a"})`,
		`up - -Inf`:                        `({__name__="up",tenant="a"} - (-Inf))`,
		`up > bool NaN`:                    `({__name__="up",tenant="a"} > bool NaN)`,
		`up > bool -NaN`:                   `({__name__="up",tenant="a"} > bool NaN)`,
		`up > 5m`:                          `({__name__="up",tenant="a"} > 300)`,
		`sum by(job)(rate(http_x[90m]))`:   `sum by (job) (rate({__name__="http_x",tenant="a"}[1h30m]))`,
		`sum_over_time(up[300] offset 1h)`: `sum_over_time({__name__="up",tenant="a"}[5m] offset 1h)`,
		`min_over_time((up + 1)[1h:1m])`:   `min_over_time((({__name__="up",tenant="a"} + 1))[1h:1m])`,
		`up * on(job) group_left() http_i`: `({__name__="up",tenant="a"} * on (job) group_left () {__name__="http_i",tenant="a"})`,
		`up + ignoring() up`:               `({__name__="up",tenant="a"} + {__name__="up",tenant="a"})`,
		`up and on(job) up`:                `({__name__="up",tenant="a"} and on (job) {__name__="up",tenant="a"})`,
		`up < Inf`:                         `({__name__="up",tenant="a"} < Inf)`,
		`up * on(job) group_right up`:      `({__name__="up",tenant="a"} * on (job) group_right () {__name__="up",tenant="a"})`,
		`sum by () (up)`:                   `sum ({__name__="up",tenant="a"})`,
		`sum without () (up)`:              `sum without () ({__name__="up",tenant="a"})`,
		`up and on() up`:                   `({__name__="up",tenant="a"} and on () {__name__="up",tenant="a"})`,
		`quantile without (job) (0.9, up)`: `quantile without (job) (0.9, {__name__="up",tenant="a"})`,
		`label_replace(up,"x","` + "é" +
			`","job","")`: `label_replace({__name__="up",tenant="a"}, "x", "é", "job", "")`,
	} {
		st, err := g.Translate(q)
		require.NoError(t, err, "%s %s", q, detail(err))
		require.Equal(t, want, st.Text)
	}
}

func TestStatementSaysWhatItCosts(t *testing.T) {
	g := guard(t, policy())
	st, err := g.Translate(`max_over_time(avg_over_time(up[10m:1m])[1h:10m]) + http_x`)
	require.NoError(t, err)
	require.Equal(t, 77, st.Inner)
	require.Equal(t, []string{"http_x", "up"}, st.Metrics)
	require.False(t, st.Matrix)
	st, err = g.Translate(`up[5m]`)
	require.NoError(t, err)
	require.True(t, st.Matrix)
}

func TestBoundsAreRefusedAtTheNextValue(t *testing.T) {
	p := policy()
	p.MaxLookback, p.MaxSelectors, p.MaxDepth, p.MaxInner, p.MinStep, p.MaxQuery = time.Hour, 2, 4, 10, time.Minute, 200
	g := guard(t, p)
	for _, pair := range [][2]string{
		{`up + up`, `up + up + up`},
		{`((abs(abs(abs(up)))))`, `abs(((abs(abs(up)))) + 1)`},
		{`rate(up[59m] offset 1m)`, `rate(up[59m] offset 61s)`},
		{`sum_over_time(up[9m:1m])`, `sum_over_time(up[10m:1m])`},
		{`sum_over_time(rate(up[50m])[8m:2m] offset 2m)`, `sum_over_time(rate(up[50m])[8m:2m] offset 121s)`},
		{`sum_over_time(up[2m:60s])`, `sum_over_time(up[2m:59s])`},
		{`up{job="` + strings.Repeat("x", 167) + `"}`, `up{job="` + strings.Repeat("x", 168) + `"}`},
	} {
		_, err := g.Translate(pair[0])
		require.NoError(t, err, "%s %s", pair[0], detail(err))
		rejected(t, g, pair[1], promguard.ReasonLimit)
	}
	rejected(t, guard(t, policy()), strings.Repeat("abs(", 800)+"up"+strings.Repeat(")", 800), promguard.ReasonLimit)
	rejected(t, guard(t, policy()), `up offset 292y + up offset 292y`, promguard.ReasonLimit)
}

func TestVersion3(t *testing.T) {
	p := policy()
	p.Version3 = true
	p.Metrics = append(p.Metrics, "http.server.*")
	g := guard(t, p)
	for q, want := range map[string]string{
		`{"http.server.requests","service.name"="x"}`: `{__name__="http.server.requests","service.name"="x",tenant="a"}`,
		`sum by ("service.name") (up)`:                `sum by ("service.name") ({__name__="up",tenant="a"})`,
		`histogram_avg(http_d)`:                       `histogram_avg({__name__="http_d",tenant="a"})`,
	} {
		st, err := g.Translate(q)
		require.NoError(t, err, "%s %s", q, detail(err))
		require.Equal(t, want, st.Text)
	}
	rejected(t, g, `info(up)`, promguard.ReasonFunction)
	rejected(t, g, `up{"__x"="b"}`, promguard.ReasonLabel)
	rejected(t, g, `{"secret.metric"}`, promguard.ReasonMetric)
}

func TestMandatoryMatchers(t *testing.T) {
	p := policy()
	p.Matchers = []string{`tenant=~"a|b"`, `env!="prod"`}
	g := guard(t, p)
	require.Equal(t, []string{`tenant=~"a|b"`, `env!="prod"`}, g.Mandatory())
	for _, q := range []string{`up{tenant="a"}`, `up{tenant=~".*"}`, `up{env="dev"}`, `up{tenant!="a"}`} {
		st, err := g.Translate(q)
		require.NoError(t, err, q)
		require.True(t, strings.HasSuffix(st.Text, `,tenant=~"a|b",env!="prod"}`), st.Text)
	}
	for _, q := range []string{`up{tenant="c"}`, `up{tenant!~"a|b"}`, `up{env="prod"}`, `up{env=~"prod"}`} {
		rejected(t, g, q, promguard.ReasonMandatoryLabel)
	}
	require.True(t, g.Admits(map[string]string{"__name__": "up", "tenant": "b"}))
	require.True(t, g.Admits(map[string]string{"job": "x"}))
	require.False(t, g.Admits(map[string]string{"__name__": "down"}))
	require.False(t, g.Admits(map[string]string{"tenant": "c"}))
	require.False(t, g.Admits(map[string]string{"env": "prod"}))
}

func TestPoliciesThatMeanNothingAreRefused(t *testing.T) {
	for name, p := range map[string]promguard.Policy{
		"nothing allowed": {},
		"everything":      {Metrics: []string{"*"}},
		"a pattern":       {Metrics: []string{"http_.*"}},
		"inner asterisk":  {Metrics: []string{"a*b"}},
		"dots":            {Metrics: []string{"http.server"}},
		"no matcher":      {Metrics: []string{"up"}, Matchers: []string{"tenant"}},
		"two matchers":    {Metrics: []string{"up"}, Matchers: []string{`a="b",c="d"`}},
		"injection":       {Metrics: []string{"up"}, Matchers: []string{`a="b"} or up{c="d"`}},
		"a metric name":   {Metrics: []string{"up"}, Matchers: []string{`__name__="down"`}},
		"empty":           {Metrics: []string{"up"}, Matchers: []string{``}},
	} {
		_, err := promguard.New(p)
		require.Error(t, err, name)
	}
}

func TestATextWhereAVectorBelongs(t *testing.T) {
	g := guard(t, policy())
	require.Contains(t, rejected(t, g, `abs(up) + "x"`, promguard.ReasonSyntax).Detail,
		"binary expression must contain only scalar and instant vector types")
	require.Equal(t, "a vector or number is needed where a string is",
		rejected(t, g, `"up"`, promguard.ReasonUnsupported).Detail)
}

// Refusals must not tell a hidden metric from one that does not exist.
func TestS33_HiddenAndMissingLookAlike(t *testing.T) {
	g := guard(t, policy())
	hidden := rejected(t, g, `secret_tokens_total`, promguard.ReasonMetric)
	missing := rejected(t, g, `no_such_metric_ever`, promguard.ReasonMetric)
	require.Equal(t, strings.Replace(hidden.Detail, "secret_tokens_total", "X", 1),
		strings.Replace(missing.Detail, "no_such_metric_ever", "X", 1))
}

// The translator reads these fields and no others. A field that upstream adds may be a new
// modifier that is silently dropped: judge it, then add it here.
func TestTheTreeOfUpstreamIsKnown(t *testing.T) {
	for _, c := range []struct {
		node   any
		fields string
	}{
		{parser.AggregateExpr{}, "Op Expr Param Grouping Without unquotedUTF8Names PosRange"},
		{parser.BinaryExpr{}, "Op LHS RHS VectorMatching ReturnBool unquotedUTF8Names"},
		{parser.VectorMatching{}, "Card MatchingLabels On Include FillValues"},
		{parser.VectorMatchFillValues{}, "RHS LHS"},
		{parser.Call{}, "Func Args PosRange"},
		{parser.NumberLiteral{}, "Val Duration PosRange"},
		{parser.StringLiteral{}, "Val PosRange"},
		{parser.ParenExpr{}, "Expr PosRange"},
		{parser.UnaryExpr{}, "Op Expr StartPos"},
		{parser.MatrixSelector{}, "VectorSelector Range RangeExpr EndPos"},
		{parser.SubqueryExpr{}, "Expr Range RangeExpr OriginalOffset OriginalOffsetExpr Offset Timestamp StartOrEnd " +
			"Step StepExpr EndPos"},
		{parser.VectorSelector{}, "Name OriginalOffset OriginalOffsetExpr Offset Timestamp SkipHistogramBuckets " +
			"StartOrEnd LabelMatchers UnexpandedSeriesSet Series BypassEmptyMatcherCheck Anchored Smoothed " +
			"unquotedUTF8Names PosRange"},
		{labels.Matcher{}, "Type Name Value re"},
	} {
		require.Equal(t, c.fields, fieldsOf(reflect.TypeOf(c.node)))
	}
}

func fieldsOf(t reflect.Type) string {
	var names []string
	for i := range t.NumField() {
		names = append(names, t.Field(i).Name)
	}
	return strings.Join(names, " ")
}

func FuzzTranslate(f *testing.F) {
	for _, q := range queries(f) {
		f.Add(q.Query)
	}
	f.Add(`up{a="` + "\\u2028" + `"}`)
	f.Add(`up > ` + strings.Repeat("9", 400))
	f.Add(`up offset ` + time.Duration(math.MaxInt64).String())
	g := guard(f, policy())
	f.Fuzz(func(t *testing.T, q string) {
		st, err := g.Translate(q)
		if err != nil {
			require.Equal(t, fault.QueryRejected, fault.CodeOf(err))
			require.NotContains(t, detail(err), "written safely", "the printer and the translator disagree")
			return
		}
		bare(t, st.Text)
		again, err := g.Translate(st.Text)
		require.NoError(t, err, st.Text)
		require.Equal(t, st, again)
	})
}

// TestVerifySeesWhatAPrinterLoses takes a print from which something is missing: it is a query that
// could run, and not the one that was asked.
func TestVerifySeesWhatAPrinterLoses(t *testing.T) {
	g := guard(t, policy())
	for _, c := range []struct{ query, lost string }{
		{`sum by (job) (up)`, ` by (job)`}, {`up{job="x"}`, `,job="x"`}, {`rate(up[5m] offset 1h)`, ` offset 1h`},
		{`up > bool 1`, ` bool`}, {`-up`, `-`}, {`topk(5, up) > 1`, ` > 1`}, {`up / on (job) up`, ` on (job)`},
		{`up * on (job) group_left (zone) up`, ` group_left (zone)`},
		{`max_over_time(up[1h:1m] offset 5m)`, ` offset 5m`},
		{`round(up, 5)`, `, 5`}, {`quantile without (job) (0.9, up)`, ` without (job)`},
	} {
		st, err := g.Translate(c.query)
		require.NoError(t, err, c.query)
		require.Contains(t, st.Text, c.lost)
		require.NoError(t, g.Verifies(c.query, st.Text))
		require.Error(t, g.Verifies(c.query, strings.Replace(st.Text, c.lost, "", 1)), c.query)
	}
}

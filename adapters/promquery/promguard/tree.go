package promguard

import (
	"math"
	"strconv"
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

// node is an allowed construct. The types of this file are all there are. They are plain values:
// two trees that mean the same are equal by reflect.DeepEqual, with empty lists as nil.
type node interface{ print(*printer) }

// selector reads an allowed metric: at one instant, or over rng when that is not zero.
type selector struct {
	metric      string
	matchers    []matcher // the agent's own, then the mandatory ones
	rng, offset time.Duration
}

// matcher is a label matcher as a plain value: labels.Matcher holds a compiled pattern.
type matcher struct {
	kind        labels.MatchType
	name, value string
}

func matchersOf(list []*labels.Matcher) []matcher {
	var values []matcher
	for _, m := range list {
		values = append(values, matcher{m.Type, m.Name, m.Value})
	}
	return values
}

// call is a function of the allowlist; its string arguments have been judged.
type call struct {
	function string
	args     []node
}

// aggregate is sum, topk and their kin. param is nil when the operator takes none.
type aggregate struct {
	op          string
	without     bool
	grouping    []string
	param, expr node
}

// binary is an operator between two expressions.
type binary struct {
	op       string
	bool     bool
	matching *matching
	lhs, rhs node
}

// matching says which series of two vectors meet. group is "", group_left or group_right.
type matching struct {
	on      bool
	labels  []string
	group   string
	include []string
}

// negation is unary minus.
type negation struct{ expr node }

// subquery evaluates expr every step over the last rng.
type subquery struct {
	expr              node
	rng, step, offset time.Duration
}

// number is a literal as it is printed, so that NaN equals itself.
type number string

func numberOf(f float64) number {
	if math.IsInf(f, 1) {
		return "Inf"
	}
	return number(strconv.FormatFloat(f, 'g', -1, 64)) // NaN, -Inf and -0 too
}

type text string

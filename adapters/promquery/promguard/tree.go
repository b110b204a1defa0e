package promguard

import (
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

// node is an allowed construct. The types of this file are all there are.
type node interface{ print(*printer) }

// selector reads an allowed metric: at one instant, or over rng when that is not zero.
type selector struct {
	metric      string
	matchers    []*labels.Matcher // the agent's own, then the mandatory ones
	rng, offset time.Duration
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

type number float64

type text string

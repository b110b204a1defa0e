package promguard

import "github.com/prometheus/prometheus/promql/parser"

// What a function may be given besides numbers and vectors.
type functionClass int

const (
	plain functionClass = iota + 1
	relabels
	joinsLabels
	version3
)

// functions is the allowlist. Left out on purpose: info (reads metrics that the query does not
// name) and everything that upstream calls experimental.
var functions = map[string]functionClass{
	"label_replace": relabels, "label_join": joinsLabels,

	"histogram_avg": version3, "histogram_stddev": version3, "histogram_stdvar": version3,

	"abs": plain, "absent": plain, "absent_over_time": plain, "acos": plain, "acosh": plain, "asin": plain,
	"asinh": plain, "atan": plain, "atanh": plain, "avg_over_time": plain, "ceil": plain, "changes": plain,
	"clamp": plain, "clamp_max": plain, "clamp_min": plain, "cos": plain, "cosh": plain, "count_over_time": plain,
	"day_of_month": plain, "day_of_week": plain, "day_of_year": plain, "days_in_month": plain, "deg": plain,
	"delta": plain, "deriv": plain, "exp": plain, "floor": plain, "histogram_count": plain,
	"histogram_fraction": plain, "histogram_quantile": plain, "histogram_sum": plain, "hour": plain,
	"idelta": plain, "increase": plain, "irate": plain, "last_over_time": plain, "ln": plain, "log10": plain,
	"log2": plain, "max_over_time": plain, "min_over_time": plain, "minute": plain, "month": plain, "pi": plain,
	"predict_linear": plain, "present_over_time": plain, "quantile_over_time": plain, "rad": plain, "rate": plain,
	"resets": plain, "round": plain, "scalar": plain, "sgn": plain, "sin": plain, "sinh": plain, "sort": plain,
	"sort_desc": plain, "sqrt": plain, "stddev_over_time": plain, "stdvar_over_time": plain, "sum_over_time": plain,
	"tan": plain, "tanh": plain, "time": plain, "timestamp": plain, "vector": plain, "year": plain,
}

// aggregators and operators are spelled here, not by the parser's own tables, so that a later
// parser cannot change what is printed.
var aggregators = map[parser.ItemType]string{
	parser.SUM: "sum", parser.AVG: "avg", parser.MIN: "min", parser.MAX: "max", parser.COUNT: "count",
	parser.GROUP: "group", parser.STDDEV: "stddev", parser.STDVAR: "stdvar", parser.TOPK: "topk",
	parser.BOTTOMK: "bottomk", parser.QUANTILE: "quantile", parser.COUNT_VALUES: "count_values",
}

var operators = map[parser.ItemType]string{
	parser.ADD: "+", parser.SUB: "-", parser.MUL: "*", parser.DIV: "/", parser.MOD: "%", parser.POW: "^",
	parser.ATAN2: "atan2", parser.EQLC: "==", parser.NEQ: "!=", parser.GTR: ">", parser.LSS: "<",
	parser.GTE: ">=", parser.LTE: "<=", parser.LAND: "and", parser.LOR: "or", parser.LUNLESS: "unless",
}

package sqlguard

import (
	"cmp"
	"slices"
	"strings"
)

// shape is how a function's arguments are written and translated.
type shape uint8

const (
	shapePlain     shape = iota // name(a, b, …)
	shapeClock                  // name or name(), with an optional precision 0..6
	shapeTrim                   // TRIM([BOTH|LEADING|TRAILING] [x] FROM y)
	shapeDateArith              // name(x, INTERVAL n unit)
	shapeUnitFirst              // name(unit, a, b)
	shapeCast                   // CAST(x AS type), CONVERT(x, type)
	shapeMod                    // MOD(a, b), which the parser reads as a % b
	shapeUnixTime               // FROM_UNIXTIME(x[, format])
	shapeExtract                // EXTRACT(unit FROM x)
	shapeJSON                   // name(document, …, path): the path is a constant
	shapeAggregate
	shapeSyntax // no call: operators, literals and clauses that a policy can allow by name
)

// function is one function that a policy can allow. The server reads some names as keywords: those are functions only when
// written without quotes, some only directly before their parenthesis. With quotes or a blank it looks for a stored function.
type function struct {
	name     string
	shape    shape
	min, max int
	keyword  bool // `name`(…) is a stored function
	tight    bool // name (…) is a stored function
	standard bool // part of DefaultFunctions: all that are safe anywhere, which today are all
	size     sizing
}

const unlimited = maxListItems

// What a policy can allow that is no function.
const (
	bitOperators  = "BIT_OPERATORS"  // & | << >>
	typedLiterals = "TYPED_LITERALS" // DATE '…', TIME '…', TIMESTAMP '…'
	joinUsing     = "JOIN_USING"
	withRollup    = "WITH_ROLLUP"
)

// catalogue lists every function a policy can name, with its argument shape.
func catalogue() map[string]*function {
	all := []function{
		plain("COALESCE", 1, unlimited), plain("IFNULL", 2, 2), plain("NULLIF", 2, 2), keyword("IF", 3, 3),
		plain("ABS", 1, 1), plain("ROUND", 1, 2), plain("FLOOR", 1, 1), plain("CEIL", 1, 1), plain("CEILING", 1, 1),
		{name: "MOD", shape: shapeMod, min: 2, max: 2, standard: true},
		plain("GREATEST", 2, unlimited), plain("LEAST", 2, unlimited),
		plain("LOWER", 1, 1), plain("UPPER", 1, 1), {name: "TRIM", shape: shapeTrim, min: 1, max: 1, keyword: true, tight: true, standard: true},
		plain("LTRIM", 1, 1), plain("RTRIM", 1, 1), plain("LENGTH", 1, 1), plain("CHAR_LENGTH", 1, 1), tight("SUBSTRING", 2, 3),
		keyword("LEFT", 2, 2), keyword("RIGHT", 2, 2), plain("CONCAT", 1, unlimited), plain("CONCAT_WS", 2, unlimited), keyword("REPLACE", 3, 3),
		keyword("DATE", 1, 1), keyword("YEAR", 1, 1), keyword("MONTH", 1, 1), keyword("DAY", 1, 1), keyword("HOUR", 1, 1), keyword("MINUTE", 1, 1),
		plain("DATE_FORMAT", 2, 2), plain("DATEDIFF", 2, 2),
		{name: "TIMESTAMPDIFF", shape: shapeUnitFirst, min: 3, max: 3, keyword: true, standard: true},
		{name: "DATE_ADD", shape: shapeDateArith, min: 3, max: 3, standard: true},
		{name: "DATE_SUB", shape: shapeDateArith, min: 3, max: 3, standard: true},
		{name: "NOW", shape: shapeClock, max: 1, keyword: true, tight: true, standard: true},
		{name: "CURDATE", shape: shapeClock, keyword: true, tight: true, standard: true},
		{name: "CURRENT_DATE", shape: shapeClock, keyword: true, standard: true},
		{name: "CURRENT_TIMESTAMP", shape: shapeClock, max: 1, keyword: true, standard: true},
		plain("UNIX_TIMESTAMP", 0, 1), {name: "FROM_UNIXTIME", shape: shapeUnixTime, min: 1, max: 2, standard: true},
		{name: "CAST", shape: shapeCast, standard: true}, {name: "CONVERT", shape: shapeCast, standard: true},
		{name: "COUNT", shape: shapeAggregate, min: 1, max: unlimited, standard: true}, {name: "SUM", shape: shapeAggregate, min: 1, max: 1, standard: true},
		{name: "AVG", shape: shapeAggregate, min: 1, max: 1, standard: true}, {name: "MIN", shape: shapeAggregate, min: 1, max: 1, standard: true},
		{name: "MAX", shape: shapeAggregate, min: 1, max: 1, standard: true},
		tight("SUBSTR", 2, 3), tight("MID", 3, 3), plain("LCASE", 1, 1), plain("UCASE", 1, 1),
		plain("CHARACTER_LENGTH", 1, 1), keyword("REVERSE", 1, 1), plain("INSTR", 2, 2), plain("LOCATE", 2, 3),
		plain("FIELD", 2, unlimited), plain("FIND_IN_SET", 2, 2), plain("SUBSTRING_INDEX", 3, 3), plain("STRCMP", 2, 2), plain("ISNULL", 1, 1),
		plain("HEX", 1, 1), plain("UNHEX", 1, 1),
		plain("SIGN", 1, 1), plain("SQRT", 1, 1), plain("POW", 2, 2), plain("POWER", 2, 2), keyword("TRUNCATE", 2, 2),
		plain("LN", 1, 1), plain("LOG2", 1, 1), plain("LOG10", 1, 1), plain("EXP", 1, 1),
		keyword("SECOND", 1, 1), keyword("QUARTER", 1, 1), keyword("WEEK", 1, 2), plain("WEEKDAY", 1, 1), plain("WEEKOFYEAR", 1, 1),
		plain("YEARWEEK", 1, 2), plain("DAYOFMONTH", 1, 1), plain("DAYOFWEEK", 1, 1), plain("DAYOFYEAR", 1, 1),
		plain("DAYNAME", 1, 1), plain("MONTHNAME", 1, 1), plain("LAST_DAY", 1, 1), plain("TO_DAYS", 1, 1),
		plain("TIMEDIFF", 2, 2), plain("TIME_TO_SEC", 1, 1), plain("SEC_TO_TIME", 1, 1), plain("STR_TO_DATE", 2, 2),
		keyword("TIME", 1, 1), keyword("TIMESTAMP", 1, 2), plain("CONVERT_TZ", 3, 3),
		{name: "UTC_TIMESTAMP", shape: shapeClock, max: 1, keyword: true, standard: true}, {name: "UTC_DATE", shape: shapeClock, keyword: true, standard: true},
		{name: "EXTRACT", shape: shapeExtract, keyword: true, tight: true, standard: true},
		{name: "TIMESTAMPADD", shape: shapeUnitFirst, min: 3, max: 3, keyword: true, standard: true},
		{name: "JSON_EXTRACT", shape: shapeJSON, min: 2, max: 8, standard: true}, {name: "JSON_VALUE", shape: shapeJSON, min: 2, max: 2, standard: true},
		{name: "JSON_LENGTH", shape: shapeJSON, min: 1, max: 2, standard: true}, {name: "JSON_CONTAINS", shape: shapeJSON, min: 2, max: 3, standard: true},
		plain("JSON_UNQUOTE", 1, 1),
		{name: "STDDEV_POP", shape: shapeAggregate, min: 1, max: 1, standard: true}, {name: "STDDEV_SAMP", shape: shapeAggregate, min: 1, max: 1, standard: true},
		{name: "VAR_POP", shape: shapeAggregate, min: 1, max: 1, standard: true}, {name: "VAR_SAMP", shape: shapeAggregate, min: 1, max: 1, standard: true},
		{name: "STDDEV", shape: shapeAggregate, min: 1, max: 1, standard: true}, {name: "STD", shape: shapeAggregate, min: 1, max: 1, standard: true},
		{name: "VARIANCE", shape: shapeAggregate, min: 1, max: 1, standard: true},
		{name: "GROUP_CONCAT", shape: shapeAggregate, min: 1, max: unlimited, standard: true},
		{name: bitOperators, shape: shapeSyntax, standard: true}, {name: typedLiterals, shape: shapeSyntax, standard: true},
		{name: joinUsing, shape: shapeSyntax, standard: true}, {name: withRollup, shape: shapeSyntax, standard: true},
	}
	byName := make(map[string]*function, len(all))
	for i := range all {
		all[i].size = sizeOf(all[i].name)
		byName[all[i].name] = &all[i]
	}
	return byName
}

// sizeOf bounds the value of a function that is called with plain arguments. Those that are missing here cannot be
// called; those of another shape are nodes, which know their size.
func sizeOf(name string) sizing {
	switch name {
	case "COALESCE", "IFNULL", "IF", "GREATEST", "LEAST":
		return sizeLongest
	case "NULLIF":
		return sizeNullif
	case "JSON_EXTRACT": // a path takes each part of the document once, and several give an array of all
		return func(a sized) size {
			return size{a.sizes[0].chars*float64(len(a.args)-1) + 64, a.sum.steps + a.sizes[0].chars}
		}
	case "HEX":
		return func(a sized) size { return size{8 * a.sizes[0].chars, a.sum.steps} } // of up to four bytes a character
	case "LOWER", "UPPER", "LCASE", "UCASE", "TRIM", "LTRIM", "RTRIM", "REVERSE", "UNHEX", "JSON_VALUE", "JSON_UNQUOTE":
		return sizeFirst
	case "LEFT", "RIGHT", "SUBSTRING", "SUBSTR", "MID":
		return sizeLeft
	case "CONCAT":
		return sizeConcat
	case "CONCAT_WS":
		return sizeConcatWS
	case "REPLACE":
		return sizeReplace
	case "INSTR", "LOCATE", "JSON_CONTAINS":
		return sizeSearch
	case "SUBSTRING_INDEX":
		return func(a sized) size { return size{a.sizes[0].chars, sizeSearch(a).steps} }
	case "DATE_FORMAT", "FROM_UNIXTIME":
		return sizeFormat
	case "ABS", "ROUND", "FLOOR", "CEIL", "CEILING", "SIGN", "SQRT", "POW", "POWER", "TRUNCATE", "LN", "LOG2", "LOG10", "EXP",
		"LENGTH", "CHAR_LENGTH", "CHARACTER_LENGTH", "FIELD", "FIND_IN_SET", "STRCMP", "ISNULL", "JSON_LENGTH", "CONVERT_TZ", "TIME", "TIMESTAMP",
		"UTC_TIMESTAMP", "UTC_DATE",
		"DATE", "YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "QUARTER", "WEEK", "WEEKDAY", "WEEKOFYEAR", "YEARWEEK", "DAYOFMONTH",
		"DAYOFWEEK", "DAYOFYEAR", "DAYNAME", "MONTHNAME", "LAST_DAY", "TO_DAYS", "DATEDIFF", "TIMEDIFF", "TIME_TO_SEC", "SEC_TO_TIME",
		"STR_TO_DATE", "UNIX_TIMESTAMP", "NOW", "CURDATE", "CURRENT_DATE", "CURRENT_TIMESTAMP":
		return sizeScalar
	}
	return sizeUnknown
}

func plain(name string, least, most int) function {
	return function{name: name, min: least, max: most, standard: true}
}

func keyword(name string, least, most int) function {
	return function{name: name, min: least, max: most, keyword: true, standard: true}
}

func tight(name string, least, most int) function {
	return function{name: name, min: least, max: most, keyword: true, tight: true, standard: true}
}

// DefaultFunctions returns the names of the functions allowed when a policy lists none, sorted.
func DefaultFunctions() []string { return named(func(f *function) bool { return f.standard }) }

// KnownFunctions returns the names of every function that a policy can allow, sorted.
func KnownFunctions() []string { return named(func(*function) bool { return true }) }

func named(keep func(*function) bool) []string {
	var names []string
	for name, f := range catalogue() {
		if keep(f) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// isMetadataFunction reports functions that tell about the session, the server or a column's definition.
func isMetadataFunction(upper string) bool {
	switch upper {
	case "DATABASE", "SCHEMA", "USER", "CURRENT_USER", "SESSION_USER", "SYSTEM_USER", "CURRENT_ROLE", "VERSION", "CONNECTION_ID",
		"FOUND_ROWS", "ROW_COUNT", "LAST_INSERT_ID", "CHARSET", "COLLATION", "COERCIBILITY":
		return true
	}
	return false
}

// advice is what to write instead of what is often meant.
var advice = map[string]string{
	"INTERVAL": "where the count is in parentheses, write DATE_ADD(x, INTERVAL (…) DAY)", "UUID_TO_BIN": "write x'…' with the id's 32 hex digits",
	"BIN_TO_UUID": "write HEX(x)", "NVL2": "write IF(x IS NULL, b, a)", "DECODE": "write CASE", "IIF": "write IF(a, b, c)", "REGEXP_LIKE": "use LIKE",
	"REGEXP_REPLACE": "use REPLACE", "REGEXP_SUBSTR": "use SUBSTRING_INDEX or SUBSTRING", "RAND": "there is no random order", "ROW_NUMBER": "use GROUP BY",
	"PERCENTILE_CONT": "count by ranges with CASE", "MEDIAN": "count by ranges with CASE", "BITAND": "write a & b", "BITOR": "write a | b", "TRY_CAST": "write CAST",
	"AGE": "write TIMESTAMPDIFF(DAY, a, b)", "SPLIT_PART": "write SUBSTRING_INDEX(x, ',', 1)", "CONTAINS": "use LIKE", "STARTS_WITH": "use LIKE 'x%'",
}

// instead is a function that does what is meant.
var instead = map[string]string{
	"SUBSTR": "SUBSTRING", "MID": "SUBSTRING", "LCASE": "LOWER", "UCASE": "UPPER", "CHARACTER_LENGTH": "CHAR_LENGTH", "NVL": "IFNULL",
	"SYSDATE": "NOW", "LOCALTIME": "NOW", "LOCALTIMESTAMP": "NOW", "UTC_TIMESTAMP": "NOW", "UTC_DATE": "CURDATE", "CURRENT_TIME": "NOW", "CURTIME": "NOW",
	"UTC_TIME": "NOW", "GETDATE": "NOW", "DATE_PART": "EXTRACT", "DATEPART": "EXTRACT", "DAYOFMONTH": "DAY", "TO_CHAR": "DATE_FORMAT", "DATE_TRUNC": "DATE_FORMAT",
	"STRFTIME": "DATE_FORMAT", "TIME_FORMAT": "DATE_FORMAT", "ADDDATE": "DATE_ADD", "SUBDATE": "DATE_SUB", "TIMESTAMPADD": "DATE_ADD", "DATEADD": "DATE_ADD",
	"LEN": "CHAR_LENGTH", "OCTET_LENGTH": "LENGTH", "TRUNCATE": "FLOOR", "TRUNC": "TRUNCATE", "TIMESTAMP": "CAST", "TO_DATE": "STR_TO_DATE", "DAYNAME": "DATE_FORMAT",
	"MONTHNAME": "DATE_FORMAT", "TO_TIMESTAMP": "FROM_UNIXTIME", "STRING_AGG": "GROUP_CONCAT", "LISTAGG": "GROUP_CONCAT", "ARRAY_AGG": "GROUP_CONCAT",
	"JSON_ARRAYAGG": "GROUP_CONCAT", "POSITION": "LOCATE", "CHARINDEX": "LOCATE", "STRPOS": "LOCATE", "ISNULL": "IFNULL", "JSON_QUERY": "JSON_EXTRACT",
	"JSON_EXTRACT_PATH_TEXT": "JSON_UNQUOTE", "JSON_KEYS": "JSON_EXTRACT", "ANY_VALUE": "MAX", "BIT_COUNT": "HEX", "CONCATENATE": "CONCAT", "POW": "POWER",
}

// functionAdvice is what to write instead of a function that is not allowed: what it is often meant for, or the allowed
// functions with the nearest names.
func (g *Guard) functionAdvice(upper string) string {
	if text := advice[upper]; text != "" {
		return " (" + text + ")"
	}
	if other := instead[upper]; g.functions[other] != nil {
		return " (" + other + " is)"
	}
	if upper == "EXTRACT" && g.functions["YEAR"] != nil && g.functions["HOUR"] != nil {
		return " (YEAR, MONTH, DAY, HOUR and MINUTE are)"
	}
	if names := g.nearFunctions(upper); len(names) > 0 {
		return "; near it are allowed " + strings.Join(names, ", ")
	}
	return ""
}

const maxNearNames = 8 // names that one refusal lists

// nearFunctions returns allowed functions whose names are misspelt so, or begin alike; the nearest first.
func (g *Guard) nearFunctions(upper string) []string {
	names := slices.Clone(g.functionNames)
	names = slices.DeleteFunc(names, func(name string) bool {
		f := g.functions[name]
		return f == nil || f.shape == shapeSyntax ||
			!near(upper, editDistance(upper, name)) && (len(upper) < 5 || !strings.HasPrefix(name, upper[:4]))
	})
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(editDistance(upper, a), editDistance(upper, b)) })
	return names[:min(len(names), maxNearNames)]
}

package sqlguard

// Bounds on what Prepare looks at. All of them are far above what a question to a database needs and far below what hurts: the parser
// recurses once per comment and concatenates adjacent literals in quadratic time, the server's stack ends at about 1,000 nested calls.
const (
	// MaxStatementBytes is the longest statement accepted, in bytes.
	MaxStatementBytes = 64 << 10

	maxPrintedBytes = 256 << 10              // of the printed statement; an alias used in many places can multiply an expression
	maxNesting      = 128                    // open parentheses, nested CASE, prefix operators in a row, in an agent's text
	maxNodes        = 64 << 10               // of the translated statement; the same
	maxDepth        = 200                    // of the translated tree; AND and OR chains count once
	maxPrintedDepth = maxDepth + 2*maxTables // open parentheses in printed text, which has a pair for each operator
	maxListItems    = 1000                   // elements separated by commas at one level of parentheses
	maxChain        = 4096                   // operands of one run of AND or OR
	maxAdjacent     = 64                     // string literals in a row ('a' 'b' is one value)
	maxComments     = 1000
	maxTables       = 32
	maxDigits       = 66 // of one numeric literal; DECIMAL has 65
	maxNameChars    = 64 // of an identifier in the allowlist
	maxNameShown    = 64 // bytes of an agent's identifier echoed in a refusal
	maxDetailBytes  = 600

	// Of one evaluation of everything in a statement; see size.
	maxValueChars = 1 << 20  // of each value
	maxRowSteps   = 64 << 20 // about half a second
)

// What a column's values are taken to be at most, in characters (bytes, of binary ones), where the policy does not say.
const (
	// UnknownLength is for a column of which the policy has neither MaxLength nor a Type that tells.
	UnknownLength = 4 << 10
	// LongLength is for MEDIUMTEXT, LONGTEXT, JSON and their kin. What a column really holds beyond takes accordingly longer.
	LongLength = 256 << 10
)

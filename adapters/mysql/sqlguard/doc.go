// Package sqlguard turns an agent's SQL text into a statement that cannot read anything outside an allowlist.
//
// It is a translator, not a filter. The text is bounded, scanned for what a parser forgets (comments with a meaning, hints, control characters),
// parsed, and translated into a small algebra of allowed constructs in which every name is a reference into the allowlist. The algebra is
// printed again by this package, and the printed text is parsed and translated once more: it must come out equal. What has no translation is
// rejected. Of the agent's text only literals reach the printed statement; names are spelled as in the allowlist, tables and output columns carry
// private names (_t1, _o1), and the agent's headings are kept beside the statement, in Plan.Columns.
//
// What the printed statement means depends on the session it runs in. The session must use utf8mb4 and an sql_mode without ANSI_QUOTES,
// NO_BACKSLASH_ESCAPES, PIPES_AS_CONCAT, HIGH_NOT_PRECEDENCE, IGNORE_SPACE and ORACLE. No allowlisted or hidden column may be called _o1, _o2, …
//
// The package touches no network. A Guard is safe for concurrent use; Prepare is bounded in time and memory for any input.
//
// Where things are, in the order in which a statement meets them:
//
//	prepare.go     Prepare: the whole way, and Plan; params.go: values for placeholders
//	scan.go        what the parser forgets: comments, hints, control characters; limits.go: its bounds
//	translate.go   the clauses; relations.go: FROM; expr.go, calls.go: expressions and functions
//	resolve.go     names against the allowlist; policy.go: Policy, Guard; functions.go: the catalogue
//	algebra.go     the nodes: each knows its children, its size and how it is printed
//	grouping.go, nulls.go, order.go, size.go   rules over the translated statement
//	print.go       the statement that runs; equal.go: read back, it must be the same
//	asked.go       the statement in the agent's names, for the record
//	reason.go      Rejection and its reasons; syntax.go, suggest.go: what helps to fix it
//	plain.go       Plain: an operator's own statement, without an allowlist
package sqlguard

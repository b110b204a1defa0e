// Package sqlguard turns an agent's SQL text into a statement that cannot read anything outside an allowlist.
//
// It is a translator, not a filter. The text is bounded, scanned for what a parser forgets (comments with a meaning, hints, control characters),
// parsed, and translated into a small algebra of allowed constructs in which every name is a reference into the allowlist. The algebra is
// printed again by this package, and the printed text is parsed and translated once more: it must come out equal. What has no translation is
// refused. Of the agent's text only literals reach the printed statement; names are spelled as in the allowlist, tables and output columns carry
// private names (_t1, _o1), and the agent's headings are kept beside the statement, in Plan.Columns.
//
// What the printed statement means depends on the session it runs in. The session must use utf8mb4 and an sql_mode without ANSI_QUOTES,
// NO_BACKSLASH_ESCAPES, PIPES_AS_CONCAT, HIGH_NOT_PRECEDENCE, IGNORE_SPACE and ORACLE. No allowlisted or hidden column may be called _o1, _o2, …
//
// The package touches no network. A Guard is safe for concurrent use; Prepare is bounded in time and memory for any input.
package sqlguard

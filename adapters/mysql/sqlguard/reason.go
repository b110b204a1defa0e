package sqlguard

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reason is the class of a rejection. The strings are stable.
type Reason string

// The classes of rejections.
const (
	ReasonLimit           Reason = "LIMIT"
	ReasonComment         Reason = "COMMENT"
	ReasonHint            Reason = "HINT"
	ReasonSyntax          Reason = "SYNTAX"
	ReasonMultiStatement  Reason = "MULTI_STATEMENT"
	ReasonWrite           Reason = "WRITE"
	ReasonMetadata        Reason = "METADATA"
	ReasonSetOperation    Reason = "SET_OPERATION"
	ReasonCTE             Reason = "CTE"
	ReasonInto            Reason = "INTO"
	ReasonLocking         Reason = "LOCKING"
	ReasonWildcard        Reason = "WILDCARD"
	ReasonUnsupportedJoin Reason = "UNSUPPORTED_JOIN"
	ReasonSubquery        Reason = "SUBQUERY"
	ReasonUnsupportedNode Reason = "UNSUPPORTED_NODE"
	ReasonFunction        Reason = "FUNCTION"
	ReasonVariable        Reason = "VARIABLE"
	ReasonUnknownSchema   Reason = "UNKNOWN_SCHEMA"
	ReasonUnknownTable    Reason = "UNKNOWN_TABLE"
	ReasonDuplicateAlias  Reason = "DUPLICATE_ALIAS"
	ReasonUnknownAlias    Reason = "UNKNOWN_ALIAS"
	ReasonUnknownColumn   Reason = "UNKNOWN_COLUMN"
	ReasonAmbiguousColumn Reason = "AMBIGUOUS_COLUMN"
	ReasonSensitive       Reason = "SENSITIVE"
	ReasonQuotedName      Reason = "QUOTED_NAME"
	ReasonNullComparison  Reason = "NULL_COMPARISON"
	ReasonNotGrouped      Reason = "NOT_GROUPED"
	ReasonParamCount      Reason = "PARAM_COUNT"
	ReasonParamType       Reason = "PARAM_TYPE"
)

// Rejection is why a statement was rejected. It is safe to show to the agent: Detail names the agent's own identifiers and
// the allowlist only, and is the same whether a name that is not allowlisted exists in the database or not.
type Rejection struct {
	Reason Reason
	Detail string
}

// Error returns the reason and the detail.
func (r *Rejection) Error() string { return string(r.Reason) + ": " + r.Detail }

// rank orders refusals: when several apply, the lowest is reported.
type rank uint8

const (
	rankLimit rank = iota + 1
	rankComment
	rankHintComment
	rankSyntax
	rankMultiStatement
	rankWrite
	rankMetadataStatement
	rankSetOperation
	rankCTE
	rankInto
	rankLocking
	rankHint
	rankWildcard
	rankJoin
	rankSubquery
	rankNode
	rankFunction
	rankMetadata
	rankVariable
	rankSchema
	rankTable
	rankDuplicate
	rankAlias
	rankColumn
	rankAmbiguous
	rankSensitive
	rankQuotedName
	rankNull
	rankNotGrouped
	rankParamCount
	rankBoundLimit
)

func (k rank) reason() Reason {
	return [...]Reason{
		rankLimit: ReasonLimit, rankComment: ReasonComment, rankHintComment: ReasonHint, rankSyntax: ReasonSyntax,
		rankMultiStatement: ReasonMultiStatement, rankWrite: ReasonWrite, rankMetadataStatement: ReasonMetadata,
		rankSetOperation: ReasonSetOperation, rankCTE: ReasonCTE, rankInto: ReasonInto, rankLocking: ReasonLocking, rankHint: ReasonHint,
		rankWildcard: ReasonWildcard, rankJoin: ReasonUnsupportedJoin, rankSubquery: ReasonSubquery, rankNode: ReasonUnsupportedNode,
		rankFunction: ReasonFunction, rankMetadata: ReasonMetadata, rankVariable: ReasonVariable, rankSchema: ReasonUnknownSchema,
		rankTable: ReasonUnknownTable, rankDuplicate: ReasonDuplicateAlias, rankAlias: ReasonUnknownAlias, rankColumn: ReasonUnknownColumn,
		rankAmbiguous: ReasonAmbiguousColumn, rankSensitive: ReasonSensitive, rankQuotedName: ReasonQuotedName,
		rankNull: ReasonNullComparison, rankNotGrouped: ReasonNotGrouped, rankParamCount: ReasonParamCount, rankBoundLimit: ReasonLimit,
	}[k]
}

// report keeps the strongest refusal found so far; the first one wins among equals.
type report struct {
	rank   rank
	detail string
	count  int // of all refusals, the weaker ones too
}

func (r *report) stronger(k rank) bool { return r.rank == 0 || k < r.rank }

func (r *report) add(k rank, format string, args ...any) {
	r.count++
	if r.stronger(k) {
		r.rank, r.detail = k, clip(fmt.Sprintf(format, args...), maxDetailBytes)
	}
}

func (r *report) rejection() *Rejection {
	if r.rank == 0 {
		return nil
	}
	return &Rejection{Reason: r.rank.reason(), Detail: r.detail}
}

// show makes an agent's identifier fit to be echoed: bounded, printable.
func show(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, clip(name, maxNameShown))
	return clean
}

// clip cuts s to at most max bytes at a rune boundary and marks the cut.
func clip(s string, max int) string {
	if len(s) <= max {
		return s
	}
	cut := max - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

package sqlguard

import (
	"cmp"
	"fmt"
	"slices"
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

// report keeps the refusals found so far: the strongest, of which the first one wins among equals, and a few others.
type report struct {
	rank   rank
	detail string
	also   []fault // the others, in the order in which they were found
	count  int     // of all refusals, those that were not kept too
}

type fault struct {
	rank   rank
	detail string
}

const maxAlso = 4 // refusals that are named beside the strongest

// wants reports whether a refusal of rank k would be kept: for those whose detail takes time.
func (r *report) wants(k rank) bool { return r.rank == 0 || k < r.rank || len(r.also) < maxAlso }

func (r *report) add(k rank, format string, args ...any) {
	r.count++
	if !r.wants(k) {
		return
	}
	detail := clip(fmt.Sprintf(format, args...), maxDetailBytes)
	switch {
	case r.rank == 0:
		r.rank, r.detail = k, detail
	case detail == r.detail, slices.ContainsFunc(r.also, func(f fault) bool { return f.detail == detail }):
	case k < r.rank:
		r.also = slices.Insert(r.also, 0, fault{r.rank, r.detail}) // it was the first of its rank
		r.rank, r.detail = k, detail
	default:
		r.also = append(r.also, fault{k, detail})
	}
}

// rejection is the strongest refusal, with the others behind it as far as they fit, the stronger ones first. What is wrong
// with a text that cannot be read is one thing.
func (r *report) rejection() *Rejection {
	if r.rank == 0 {
		return nil
	}
	detail := r.detail
	if r.rank > rankMultiStatement {
		slices.SortStableFunc(r.also, func(a, b fault) int { return cmp.Compare(a.rank, b.rank) })
		for _, f := range r.also[:min(len(r.also), maxAlso)] {
			if more := detail + "; also: " + f.detail; len(more) <= maxDetailBytes {
				detail = more
			}
		}
	}
	return &Rejection{Reason: r.rank.reason(), Detail: detail}
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

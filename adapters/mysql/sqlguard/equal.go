package sqlguard

import (
	"reflect"
	"slices"
)

// equal reports whether a statement and what was read back from its printed text are the same.
//
// It compares everything: a member that is added to a node is compared from then on. Only what the
// printed text does not carry is cleared first: the agent's headings and
// names, and who ordered.
func equal(a, b *statement) bool {
	return reflect.DeepEqual(nameless(a), nameless(b))
}

// nameless returns a copy of the statement without what only the agent's text has.
func nameless(s *statement) statement {
	bare := *s
	bare.fields = slices.Clone(s.fields)
	for i := range bare.fields {
		bare.fields[i].alias, bare.fields[i].heading, bare.fields[i].aggregate = "", "", unknown
	}
	bare.order = slices.Clone(s.order)
	for i := range bare.order {
		bare.order[i].added = false
	}
	bare.sources = slices.Clone(s.sources)
	for i := range bare.sources {
		bare.sources[i].name, bare.sources[i].alias = "", false
	}
	return bare
}

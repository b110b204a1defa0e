// Package answer writes what an agent receives from a tool: a list of items within a bound of
// bytes, and around it what every answer says about itself.
//
//	{"scope":{…},"columns":[…],"rows":[…],"returned":2,"truncated":true,"truncated_by":["rows"],"note":"…"}
//
// Items are shown whole or not at all. Those that do not fit are left out from the end, and the
// answer says so: truncated_by names every cause whenever truncated is true (S38). A projector
// adds its items to a List; it chooses what the items are called and what comes before them.
package answer

import (
	"encoding/json"
	"strconv"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/ports/cell"
)

// Cause is a reason why a part of an answer was left out.
type Cause int

// The causes, in the order in which truncated_by names them.
const (
	// Items means that there are more items than are shown, because their number is bounded. Its
	// name in truncated_by is that of the items, such as rows.
	Items Cause = iota
	// Points means that some points of a shown series are left out.
	Points
	// Cells means that a value, of an item or of the scope, is shown cut.
	Cells
	// Counts means that the counts, which go with the items, are left out.
	Counts
	// Bytes means that items are left out because the answer's bytes are bounded.
	Bytes

	causes = iota
)

// name returns the cause as truncated_by names it.
func (c Cause) name(items string) string {
	return [causes]string{items, "points", "cells", "counts", "bytes"}[c]
}

// Frame is what an answer says besides its items.
type Frame struct {
	// Scope says what was asked; it makes an empty answer a finding that can be cited (S12, S39).
	// Nil is not shown.
	Scope json.RawMessage
	// Items is the name of the member that holds the items: rows, series, lines.
	Items string
	// Incomplete reports that the source could read only a part of its data.
	Incomplete bool
	// Note reminds the agent that the items are data.
	Note string
	// Limit is the most bytes of the whole answer.
	Limit limits.AgentBytes
	// Hint is about how many bytes the answer will have, if that is known: it saves copying.
	Hint int
}

// Member is a member of the answer that comes before its items.
type Member struct {
	Name  string
	Value json.RawMessage
}

// List is an answer whose items are added one by one.
type List struct {
	frame Frame
	out   []byte
	// shown[n] is the state of the answer with its first n items.
	shown []state
	cut   [causes]bool
}

type state struct {
	end   int  // bytes of out
	cells bool // an item is shown with a cut value
}

// New begins an answer with the members, in their order. Members with a nil value are left out.
func New(frame Frame, members ...Member) *List {
	l := &List{frame: frame, out: make([]byte, 0, min(max(frame.Hint, 512), int(frame.Limit)))}
	l.out = append(l.out, '{')
	l.head(Member{"scope", frame.Scope})
	for _, m := range members {
		l.head(m)
	}
	l.out = append(cell.Quote(l.out, frame.Items), `:[`...)
	l.shown = append(make([]state, 0, 32), state{end: len(l.out)})
	return l
}

func (l *List) head(m Member) {
	if m.Value != nil {
		l.out = append(cell.Quote(l.out, m.Name), ':')
		l.out = append(append(l.out, m.Value...), ',')
	}
}

// Add appends an item: one JSON value, which is copied. cut says whether a value in it is shown
// cut.
func (l *List) Add(item []byte, cut bool) {
	if l.Len() > 0 {
		l.out = append(l.out, ',')
	}
	l.out = append(l.out, item...)
	l.shown = append(l.shown, state{len(l.out), cut || l.shown[l.Len()].cells})
}

// Len returns the number of items that were added.
func (l *List) Len() int { return len(l.shown) - 1 }

// Full reports whether the limit is already passed, so that no further item can be shown.
func (l *List) Full() bool { return len(l.out) > int(l.frame.Limit) }

// LeftOut notes why a part of the answer is left out.
func (l *List) LeftOut(c Cause) { l.cut[c] = true }

// Room returns how many bytes n items may take together, if parts of the answer are left out for
// the causes noted so far and those given. It is negative when the rest of the answer alone passes
// the limit. The list must be empty.
func (l *List) Room(n int, also ...Cause) int {
	cut := l.cut
	for _, c := range also {
		cut[c] = true
	}
	separators := max(n-1, 0)
	return int(l.frame.Limit) - len(l.out) - separators - len(l.appendTail(nil, n, cut))
}

// Close returns the answer with as many of its items as fit, and how many those are, or
// RESULT_TOO_LARGE when it does not fit without items either. The list must not be used
// afterwards.
func (l *List) Close() (answer json.RawMessage, items int, err error) {
	for n := l.Len(); n >= 0; n-- {
		cut := l.cut
		cut[Cells] = cut[Cells] || l.shown[n].cells
		out := l.appendTail(l.out[:l.shown[n].end], n, cut)
		if len(out) <= int(l.frame.Limit) {
			return out, n, nil
		}
		l.LeftOut(Bytes)
	}
	return nil, 0, fault.New(fault.ResultTooLarge)
}

// appendTail appends what follows the n-th item, the last one shown.
func (l *List) appendTail(out []byte, n int, cut [causes]bool) []byte {
	out = strconv.AppendInt(append(out, `],"returned":`...), int64(n), 10)
	if l.frame.Incomplete {
		out = append(out, `,"incomplete":true`...)
	}
	if cut == [causes]bool{} {
		out = append(out, `,"truncated":false`...)
	} else {
		out = append(out, `,"truncated":true,"truncated_by":`...)
		separator := byte('[')
		for c, holds := range cut {
			if holds {
				out = cell.Quote(append(out, separator), Cause(c).name(l.frame.Items))
				separator = ','
			}
		}
		out = append(out, ']')
	}
	return append(cell.Quote(append(out, `,"note":`...), l.frame.Note), '}')
}

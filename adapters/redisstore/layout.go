package redisstore

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/ports/record"
)

// layout is where a stored record keeps what the scripts compare and write: positions in bytes,
// from 0. They never decode a record.
type layout struct {
	// status is where the first letter of the status is, which tells the three apart.
	status int
	// begins is how a PROJECTING record begins, up to its owner token.
	begins string
	// ownerEnd is where what begins such a record ends, the owner and its closing quote included.
	ownerEnd int
	// startedAt, completedAt and leaseUntil are where the times begin; each takes timeLength bytes.
	startedAt, completedAt, leaseUntil, timeLength int
	// end is where the last of these ends.
	end int
}

// stored is the layout of every record; that it is the same for all is for a test to show.
var stored = measure()

// measure finds the layout on a record that the encoder renders: no position is written by hand.
func measure() layout {
	owner := strings.Repeat("o", invocation.OwnerLength)
	r := invocation.Begin(invocation.Key{RunID: "r", ToolCallID: "c"}, owner, "t", []byte("1"))
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	r.StartedAt, r.CompletedAt, r.LeaseUntil = year(2001), year(2002), year(2003)
	value, err := record.Encode(r)
	if err != nil {
		panic(err) // the encoder does not encode the plainest of records
	}
	at := func(text string) int { return bytes.Index(value, []byte(text)) }
	l := layout{
		status: at(string(r.Status)), begins: string(value[:at(owner)]), ownerEnd: at(owner) + len(owner) + len(`"`),
		startedAt: at(`"2001-`), completedAt: at(`"2002-`), leaseUntil: at(`"2003-`),
	}
	l.timeLength = bytes.IndexByte(value[l.startedAt:], ',')
	l.end = l.leaseUntil + l.timeLength
	return l
}

// lua returns the layout, and the statuses by their first letters, as definitions of a script.
func (l layout) lua() string {
	var b strings.Builder
	for _, number := range []struct {
		name  string
		value int
	}{
		{"STATUS_AT", l.status}, {"OWNER_END", l.ownerEnd}, {"OWNER_LENGTH", invocation.OwnerLength},
		{"STARTED_AT", l.startedAt}, {"COMPLETED_AT", l.completedAt}, {"LEASE_UNTIL", l.leaseUntil},
		{"TIME_LENGTH", l.timeLength}, {"FRONT_END", l.end},
	} {
		fmt.Fprintf(&b, "local %s = %d\n", number.name, number.value)
	}
	fmt.Fprintf(&b, "local PROJECTING = [[%s]]\nlocal STATUS = {", l.begins)
	for _, s := range []invocation.Status{invocation.Projecting, invocation.Ready, invocation.Error} {
		fmt.Fprintf(&b, "%c = '%s', ", s[0], s)
	}
	b.WriteString("}\n")
	return b.String()
}

// headRead is how much of a record is read for its head: the longest of this version, so that one
// command is enough. A later version's record may have a longer head; then all of it is read.
var headRead = record.MaxHead()

// answerRead is how much of a record's end is read for its agent result: enough for one within the
// default limit. For a longer one the whole record is read.
var answerRead = record.AnswerLen(invocation.Record{
	Sizes: invocation.Sizes{AgentResult: int(limits.Default().AgentResult)},
})

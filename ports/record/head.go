package record

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/domain/tool"
)

// members writes the members of a head in their order, each with its bound in bytes. A new member
// goes before sizes, which marks the end of the head. MaxHead, and with it what stores read of a
// record, follows from the bounds.
func (w *head) members(r *invocation.Record) {
	w.fixed("status", quoted(len(invocation.Projecting)), string(r.Status))
	w.fixed("owner", quoted(invocation.OwnerLength), r.Owner)
	w.fixed("digest", quoted(invocation.OwnerLength), r.Digest)
	w.time("started_at", r.StartedAt)
	w.time("completed_at", r.CompletedAt)
	w.time("lease_until", r.LeaseUntil)
	w.number("schema", schema)
	w.text("run_id", quoted(run.MaxID), string(r.RunID))
	w.text("tool_call_id", quoted(invocation.MaxToolCallID), r.ToolCallID)
	w.text("tool_name", quoted(tool.MaxName), r.ToolName)
	w.text("evidence_status", quoted(len(evidence.Found)), string(r.EvidenceStatus))
	w.optional("error_code", quoted(longestCode), string(r.ErrorCode))
	w.optional("error_reason", escaped(invocation.MaxReason), r.ErrorReason)
	w.optional("error_detail", escaped(invocation.MaxDetail), r.ErrorDetail)
	w.sizes(r.Sizes)
}

const (
	timeForm = `"2006-01-02T15:04:05.000Z"`
	noTime   = `                      null`
	blanks   = `                        `
	// numberMax is the most digits of an int64, with its sign.
	numberMax = 20
	// escapeMax is the most bytes that JSON needs for one byte of a string.
	escapeMax = 6
)

// quoted returns the length of a JSON string of n bytes that need no escape.
func quoted(n int) int { return n + len(`""`) }

// escaped returns the most bytes of a JSON string of any n bytes.
func escaped(n int) int { return quoted(escapeMax * n) }

var longestCode = func() int {
	most := 0
	for _, c := range fault.Codes() {
		most = max(most, len(c))
	}
	return most
}()

// MaxHead returns the most bytes of a stored form that DecodeHead needs, for a record of this
// version: its head.
func MaxHead() int {
	var w head
	w.members(&invocation.Record{})
	return w.most + len(requestMark)
}

// appendHead appends the head up to the request's name to an empty b. It returns an error that names
// the member when one is longer than its bound.
func appendHead(b []byte, r *invocation.Record) ([]byte, error) {
	w := head{b: b}
	w.members(r)
	return w.b, w.err
}

// head writes a head, member by member.
type head struct {
	b    []byte
	most int // what the members so far may take, whatever they hold
	fill int // blanks after the next comma
	err  error
}

// text writes a string, also an empty one.
func (w *head) text(name string, bound int, s string) {
	at := w.begin(name)
	w.b = appendString(w.b, s)
	w.end(name, at, bound)
}

// fixed writes a string, with blanks behind it so that it takes all of its bound.
func (w *head) fixed(name string, bound int, s string) {
	at := w.begin(name)
	w.b = appendString(w.b, s)
	w.end(name, at, bound)
	w.fill = min(max(0, bound-(len(w.b)-at)), len(blanks))
}

// optional writes a string, and leaves the member out when there is none.
func (w *head) optional(name string, bound int, s string) {
	if s == "" {
		w.most += memberMax(name, bound)
		return
	}
	w.text(name, bound, s)
}

// time writes a time in whole milliseconds, always in the same width.
func (w *head) time(name string, t time.Time) {
	at := w.begin(name)
	if t.IsZero() {
		w.b = append(w.b, noTime...)
	} else {
		w.b = t.UTC().AppendFormat(w.b, timeForm)
	}
	w.end(name, at, len(timeForm))
}

func (w *head) number(name string, n int) {
	at := w.begin(name)
	w.b = strconv.AppendInt(w.b, int64(n), 10)
	w.end(name, at, numberMax)
}

func (w *head) sizes(s invocation.Sizes) {
	at := w.begin("sizes")
	w.b = strconv.AppendInt(append(w.b, `{"request":`...), int64(s.Request), 10)
	w.b = strconv.AppendInt(append(w.b, `,"raw_response":`...), int64(s.RawResponse), 10)
	w.b = strconv.AppendInt(append(w.b, `,"agent_result":`...), int64(s.AgentResult), 10)
	w.b = append(w.b, '}')
	w.end("sizes", at, len(`{"request":,"raw_response":,"agent_result":}`)+3*numberMax)
}

// memberMax returns the most bytes of a member with what is before it: a brace or a comma, its name.
func memberMax(name string, bound int) int { return len(`,"":`) + len(name) + bound }

// begin writes what is before a value and returns where the value begins.
func (w *head) begin(name string) int {
	if len(w.b) == 0 {
		w.b = append(w.b, '{')
	} else {
		w.b = append(append(w.b, ','), blanks[:w.fill]...)
	}
	w.fill = 0
	w.b = append(append(append(w.b, '"'), name...), `":`...)
	return len(w.b)
}

// end notes the bound of a value that begins at, and whether it was kept.
func (w *head) end(name string, at, bound int) {
	w.most += memberMax(name, bound)
	if n := len(w.b) - at; n > bound {
		w.err = fmt.Errorf("record: %s takes %d bytes, more than %d", name, n, bound)
	}
}

// appendString appends a JSON string. What needs no escape, which is nearly everything, is copied.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7E || c == '"' || c == '\\' {
			whole, _ := json.Marshal(s) // never fails for a string
			return append(b, whole...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

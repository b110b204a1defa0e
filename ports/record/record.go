// Package record is the stored form of canonical records: one JSON object for each record, the
// same bytes in every store. Processes of other versions read it, so it is a compatibility
// surface, and golden files pin it.
//
//	{"status":"READY",     "owner":"…","digest":"…","started_at":"…","completed_at":"…","lease_until":"…",
//	 "schema":1,"run_id":"r1",…,"sizes":{…},"request":…,"raw_response":…,"agent_result":…}
//
// Everything before the value of "request" is the head. The three bodies follow, byte for byte as
// they were given, the agent result last.
//
// The members up to lease_until have a fixed width, whatever they hold: blanks, which JSON allows
// after a comma, follow a shorter value, and a time that is not set is null with blanks before it.
// So a store may compare and replace these members in place, without decoding a record.
//
// Every head member has a bound. Encode refuses a record with a longer member, so no head is
// longer than MaxHead.
//
// # Versions
//
// Two versions of the service may share one store. These rules let each read what the other wrote:
//
//   - A new version may add head members. They go between "schema" and "sizes", and are
//     strings, numbers, booleans, null, or arrays of these. The schema stays as it is.
//   - A reader ignores head members that it does not know, however long they are.
//   - Everything else (a member that changes its meaning or its bound or is left out, another body)
//     takes the next schema. A reader of schema n reads 1 to n, and takes a later one as corrupt.
//   - The next schema therefore takes two releases: the first one reads it, the second one writes it.
//   - A record that is settled is written anew, with the members that the settling version knows.
//     An execution settles its own record; only a lost one may be settled by another version.
package record

import "errors"

// firstSchema and schema are the earliest and the latest version of the stored form that are read.
// schema is the one that Encode writes.
const (
	firstSchema = 1
	schema      = 1
)

// ErrCorrupt says that bytes are not a stored record. Such a value is never evidence and never
// overwritten (S23).
var ErrCorrupt = errors.New("stored record is corrupt")

// The names of the bodies, with the comma before them.
const (
	requestMark = `,"request":`
	rawMark     = `,"raw_response":`
	agentMark   = `,"agent_result":`
)

// readable reports whether a version whose latest schema is latest reads schema n.
func readable(n, latest int) bool { return n >= firstSchema && n <= latest }

package ports

import (
	"encoding/json"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/tool"
)

// Projector makes the bounded answer of a raw response.
//
// The raw response is all that it sees of a call. What an answer must tell of the plan, such as
// the statement as it ran, the executor writes into the raw response, in the member asked; so a
// projection can be made again from a record alone. Package answer writes the result.
type Projector interface {
	// Project returns the agent's result and what it is worth.
	//  - MUST show what was found in its order, as EVIDENCE_FOUND, also when no item fits (S12, S37);
	//  - MUST stay within bounds.AgentResult in valid JSON, leaving out whole rows or marking cut
	//    cells, never cutting a JSON text in the middle (S38);
	//  - MUST say in truncated whether anything is left out or cut, and then in truncated_by what
	//    caused it; an answer of exactly a bound is not cut (S22, S38);
	//  - MUST report an empty answer as NO_EVIDENCE with its scope: what was asked, where raw says
	//    it (S12, S39);
	//  - MUST NOT show a value that raw marks as sensitive (S40);
	//  - MUST return PROJECTION_FAILED, without a word of the text, for one that is not of its raw
	//    format (S13, S23);
	//  - MUST be a pure function of its arguments: CPU only, the same answer each time, safe for
	//    concurrent use;
	//  - MUST NOT change raw, nor share memory with it.
	Project(raw json.RawMessage, bounds tool.Bounds) (evidence.Projection, error)
}

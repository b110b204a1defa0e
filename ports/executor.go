package ports

import (
	"context"
	"encoding/json"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
)

// Executor is the adapter behind one read-only tool: it prepares requests and executes plans.
type Executor interface {
	// Describe returns the tool's description; it is constant and takes no I/O.
	Describe() tool.Description
	// Prepare makes a plan of a request, or refuses it with a fault (REQUEST_INVALID,
	// DATA_SOURCE_UNKNOWN, QUERY_REJECTED). The request is one JSON object without duplicate
	// names, in valid UTF-8, within the request limit.
	//  - MUST be CPU only: no connection is taken (S42);
	//  - MUST refuse members it does not know, and sources outside the scope;
	//  - MUST be safe for concurrent use, must not keep or change the request, must not panic.
	Prepare(request json.RawMessage, scope tool.Scope) (tool.Plan, error)
	// Execute runs the plan and returns the raw answer: one JSON value of at most limit bytes.
	//  - MUST stop reading, and return RESULT_TOO_LARGE, at the first byte past limit (S20);
	//  - MUST stop the work at the source when ctx ends, and then return promptly (S36);
	//  - MUST return faults only, without a word of the source's own error text (S23).
	Execute(ctx context.Context, plan tool.Plan, limit limits.RawBytes) (json.RawMessage, error)
}

// Projector makes the bounded answer of a raw one.
type Projector interface {
	// Project returns the agent's result and what it is worth.
	//  - MUST stay within bounds.AgentResult in valid JSON, cutting whole rows or marking cut
	//    cells and saying so, never a JSON text in the middle (S38);
	//  - MUST report an empty answer as NO_EVIDENCE with its scope (S12, S39);
	//  - MUST be a pure function of its arguments: CPU only, the same answer each time, safe for
	//    concurrent use; MUST NOT change raw.
	Project(raw json.RawMessage, bounds tool.Bounds) (evidence.Projection, error)
}

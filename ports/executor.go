package ports

import (
	"context"
	"encoding/json"

	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
)

// Executor is the adapter behind one read-only tool: it prepares requests and executes plans.
type Executor interface {
	// Describe returns the tool's description.
	//  - MUST be the same each time, of a tool that only reads, and take no I/O.
	Describe() tool.Description
	// Prepare makes a plan of a request. The request is one JSON object without duplicate names, in
	// valid UTF-8, within the request limit.
	//  - MUST return a plan, or no plan and a fault: REQUEST_INVALID, DATA_SOURCE_UNKNOWN or
	//    QUERY_REJECTED (S32, S34);
	//  - MUST be CPU only: no connection is taken (S42);
	//  - MUST refuse members it does not know, and sources outside the scope in the same words as
	//    those that do not exist (S33);
	//  - MUST be safe for concurrent use;
	//  - MUST NOT keep or change the request;
	//  - MUST NOT panic.
	Prepare(request json.RawMessage, scope tool.Scope) (tool.Plan, error)
	// Execute executes the plan and returns the raw response. Its member asked says which question
	// was put to the source, in names that the agent may see; the projector shows it as the scope of
	// an empty answer. A tool that always has an answer may leave asked out.
	//  - MUST return one JSON value of at most limit bytes, which the caller may change;
	//  - MUST be safe for concurrent use;
	//  - MUST stop reading, and return RESULT_TOO_LARGE, at the first byte past limit (S20);
	//  - MUST stop the work at the source when ctx ends, and then return promptly with
	//    EXECUTION_CANCELLED or EXECUTION_TIMEOUT (S36);
	//  - MUST NOT start anything when ctx has ended already (S36);
	//  - MUST return faults only, without a word of the source's own error text (S23);
	//  - MUST answer again after an execution that was stopped or failed (S36).
	Execute(ctx context.Context, plan tool.Plan, limit limits.RawBytes) (json.RawMessage, error)
}

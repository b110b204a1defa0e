package ports

import (
	"context"
	"encoding/json"

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
	// Execute runs the plan and returns the raw response: one JSON value of at most limit bytes.
	// It describes itself: its member asked says what was asked, as it ran, in names that the agent
	// may see, and the projector shows that as the scope of an empty answer. A tool that always has
	// an answer may leave asked out.
	//  - MUST stop reading, and return RESULT_TOO_LARGE, at the first byte past limit (S20);
	//  - MUST stop the work at the source when ctx ends, and then return promptly (S36);
	//  - MUST return faults only, without a word of the source's own error text (S23).
	Execute(ctx context.Context, plan tool.Plan, limit limits.RawBytes) (json.RawMessage, error)
}

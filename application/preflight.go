package application

import (
	"encoding/json"
	"slices"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
)

// preflight makes every check that needs no I/O and returns the tool and its plan. The order of
// the checks decides which of several faults is reported.
//
// What a call may do is decided here and nowhere else: from the run context's grants and the
// tool's own description. No payload has a member for it (S04).
func preflight(
	c *Catalogue, rc RunContext, call Call, limit limits.RequestBytes,
) (entry catalogued, plan tool.Plan, err error) {
	if err := invocation.CheckToolCallID(call.ToolCallID); err != nil {
		return entry, plan, err
	}
	if call.RunID != rc.RunID {
		return entry, plan, fault.New(fault.RunMismatch)
	}
	entry, found := c.entries[call.ToolName]
	if !found {
		return entry, plan, fault.New(fault.ToolUnknown)
	}
	if !slices.Contains(rc.Grants.Tools, call.ToolName) {
		return entry, plan, fault.New(fault.ToolNotAuthorized)
	}
	if !entry.about.ReadOnly {
		return entry, plan, fault.New(fault.ToolNotReadOnly)
	}
	if err := limits.Check(len(call.Request), limit, fault.RequestTooLarge); err != nil {
		return entry, plan, err
	}
	if err := checkObject(call.Request); err != nil {
		return entry, plan, err
	}
	plan, err = prepare(entry, call.Request, tool.Scope{DataSources: rc.Grants.DataSources})
	return entry, plan, err
}

// prepare calls the executor's Prepare; a panic is an INTERNAL refusal.
func prepare(entry catalogued, request json.RawMessage, scope tool.Scope) (plan tool.Plan, err error) {
	defer func() {
		if p := recover(); p != nil {
			plan, err = tool.Plan{}, fault.Wrap(fault.Internal, panicked{p})
		}
	}()
	plan, err = entry.Executor.Prepare(request, scope)
	if err != nil {
		return tool.Plan{}, fault.Of(err)
	}
	return plan, nil
}

package application

import (
	"encoding/json"
	"slices"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/domain/tool"
)

// RunContext is the run that a caller acts for, with its grants: from the signed agent token,
// or for a harness from the store. Nothing in it comes from an agent.
type RunContext struct {
	RunID       run.ID
	Incarnation string
	Grants      run.Grants
}

// Envelope is the boundary's input. Inbound adapters build it with Catalogue.Envelope;
// Authorized and ReadOnly have no counterpart in any payload (S04).
type Envelope struct {
	RunID      run.ID
	ToolCallID string
	ToolName   string
	// Request is the tool's own request, byte for byte as it was sent.
	Request json.RawMessage
	// Authorized says that the run was granted the tool.
	Authorized bool
	// ReadOnly says that the tool changes nothing.
	ReadOnly bool
}

// Envelope assembles the envelope of one tool call. The run id is the one that the call
// names, which must turn out to be the run context's own (S02).
func (c *Catalogue) Envelope(rc RunContext, named run.ID, toolCallID, toolName string, request json.RawMessage) Envelope {
	return Envelope{
		RunID: named, ToolCallID: toolCallID, ToolName: toolName, Request: request,
		Authorized: slices.Contains(rc.Grants.Tools, toolName),
		ReadOnly:   c.entries[toolName].about.ReadOnly,
	}
}

// preflight checks everything that takes no I/O and returns the plan. Its order decides which
// of several faults is reported.
func (c *Catalogue) preflight(rc RunContext, env Envelope, most limits.RequestBytes) (catalogued, tool.Plan, error) {
	none := tool.Plan{}
	if err := invocation.CheckToolCallID(env.ToolCallID); err != nil {
		return catalogued{}, none, err
	}
	if env.RunID != rc.RunID {
		return catalogued{}, none, fault.New(fault.RunMismatch)
	}
	entry, known := c.entries[env.ToolName]
	if !known {
		return catalogued{}, none, fault.New(fault.ToolUnknown)
	}
	if !env.Authorized {
		return entry, none, fault.New(fault.ToolNotAuthorized)
	}
	if !env.ReadOnly {
		return entry, none, fault.New(fault.ToolNotReadOnly)
	}
	if err := limits.Check(len(env.Request), most, fault.RequestTooLarge); err != nil {
		return entry, none, err
	}
	if err := checkObject(env.Request); err != nil {
		return entry, none, err
	}
	plan, err := prepare(entry, env.Request, tool.Scope{DataSources: rc.Grants.DataSources})
	return entry, plan, err
}

// prepare calls the tool's Prepare; a panic of a tool is an INTERNAL refusal.
func prepare(entry catalogued, request json.RawMessage, scope tool.Scope) (plan tool.Plan, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.Wrap(fault.Internal, panicked{p})
		}
	}()
	plan, err = entry.Executor.Prepare(request, scope)
	if err != nil {
		return tool.Plan{}, fault.Of(err)
	}
	return plan, nil
}

// panicked carries a recovered panic's value to debug logs; it is never shown.
type panicked struct{ value any }

func (panicked) Error() string { return "panic in an adapter" }

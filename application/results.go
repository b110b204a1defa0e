package application

import (
	"context"
	"fmt"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
)

// results reads what was recorded.
type results struct {
	store ports.Invocations
}

func (s *results) result(ctx context.Context, id run.ID, toolCallID string) (Result, error) {
	r, err := s.record(ctx, id, ports.Answer, toolCallID)
	if err != nil {
		return Result{}, err
	}
	return resultOf(r), nil
}

func (s *results) record(
	ctx context.Context, id run.ID, view ports.View, toolCallID string,
) (invocation.Record, error) {
	if err := id.Check(); err != nil {
		return invocation.Record{}, err
	}
	if err := invocation.CheckToolCallID(toolCallID); err != nil {
		return invocation.Record{}, err
	}
	found, err := s.store.Load(ctx, id, view, toolCallID)
	if err != nil {
		return invocation.Record{}, storeFault(err)
	}
	switch f, ok := found[toolCallID]; {
	case !ok:
		return invocation.Record{}, fault.New(fault.InvocationNotFound)
	case f.Fault != nil:
		return invocation.Record{}, f.Fault
	default:
		return f.Record, nil
	}
}

// Reference is a citation of a tool call. An empty RunID means the run that is judged.
type Reference struct {
	RunID      run.ID
	ToolCallID string
}

// MaxReferences is the most references that one request may name.
const MaxReferences = 1000

func checkReferences(refs []Reference) error {
	if len(refs) > MaxReferences {
		return fault.Because(fault.RequestInvalid, "REFERENCES",
			fmt.Sprintf("at most %d references in one request", MaxReferences))
	}
	return nil
}

// judge returns the verdict on each reference, in their order.
func (s *results) judge(ctx context.Context, id run.ID, refs []Reference) ([]evidence.Judgement, error) {
	var ids []string
	for _, ref := range refs {
		if invocation.CheckToolCallID(ref.ToolCallID) == nil {
			ids = append(ids, ref.ToolCallID)
		}
	}
	found, err := s.store.Load(ctx, id, ports.Head, ids...)
	if err != nil {
		return nil, storeFault(err)
	}
	judged := make([]evidence.Judgement, 0, len(refs))
	for _, ref := range refs {
		judged = append(judged, judge(id, ref, found))
	}
	return judged, nil
}

func judge(id run.ID, ref Reference, found map[string]ports.Found) evidence.Judgement {
	if invocation.CheckToolCallID(ref.ToolCallID) != nil {
		return evidence.NotEvidence(ref.ToolCallID, evidence.ReferenceIDInvalid)
	}
	if ref.RunID != "" && ref.RunID != id {
		return evidence.NotEvidence(ref.ToolCallID, evidence.ReferenceRunMismatch)
	}
	f, ok := found[ref.ToolCallID]
	switch {
	case !ok:
		return evidence.NotEvidence(ref.ToolCallID, evidence.ReferenceNotFound)
	case f.Fault != nil || f.Record.Status == invocation.Error:
		return evidence.NotEvidence(ref.ToolCallID, evidence.ReferenceError)
	case f.Record.Status == invocation.Projecting:
		return evidence.NotEvidence(ref.ToolCallID, evidence.ReferenceProjecting)
	default:
		return evidence.Observe(ref.ToolCallID, f.Record.EvidenceStatus)
	}
}

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

// Result returns the bounded result of an earlier call again, without a second execution;
// INVOCATION_NOT_FOUND when there is no record. A PROJECTING result has neither answer nor fault.
func (s *Runs) Result(ctx context.Context, id run.ID, toolCallID string) (Result, error) {
	r, err := s.record(ctx, id, ports.Answer, toolCallID)
	if err != nil {
		return Result{}, err
	}
	return resultOf(r), nil
}

// Record returns the whole canonical record: for harnesses only.
func (s *Runs) Record(ctx context.Context, id run.ID, toolCallID string) (invocation.Record, error) {
	return s.record(ctx, id, ports.Whole, toolCallID)
}

func (s *Runs) record(ctx context.Context, id run.ID, view ports.View, toolCallID string) (invocation.Record, error) {
	if err := id.Check(); err != nil {
		return invocation.Record{}, err
	}
	if err := invocation.CheckToolCallID(toolCallID); err != nil {
		return invocation.Record{}, err
	}
	found, err := s.invocations.Load(ctx, id, view, toolCallID)
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

// Judge says of each reference whether it is evidence: found, nothing found, or refused with
// its own reason (S17). The answers stand in the references' order.
func (s *Runs) Judge(ctx context.Context, id run.ID, refs []Reference) ([]evidence.Judgement, error) {
	if len(refs) > MaxReferences {
		return nil, fault.Because(fault.RequestInvalid, "REFERENCES", fmt.Sprintf("at most %d references in one request", MaxReferences))
	}
	if _, err := s.load(ctx, id); err != nil {
		return nil, err
	}
	var ids []string
	for _, ref := range refs {
		if invocation.CheckToolCallID(ref.ToolCallID) == nil {
			ids = append(ids, ref.ToolCallID)
		}
	}
	found, err := s.invocations.Load(ctx, id, ports.Head, ids...)
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

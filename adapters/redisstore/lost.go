package redisstore

import (
	"context"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/record"
)

// lose settles records to EXECUTION_LOST, puts what became of them into found, and returns the
// ids of those that have changed meanwhile (S16).
func (s *Store) lose(
	ctx context.Context, id run.ID, view ports.View, lapsed []string, found map[string]ports.Found,
) (changed []string, err error) {
	if view != ports.Whole && len(lapsed) > 0 {
		// The settlement's digest covers the request, which a head does not show.
		if _, err := s.read(ctx, id, ports.Whole, lapsed, found); err != nil {
			return nil, err
		}
	}
	for _, toolCallID := range lapsed {
		f, ok := found[toolCallID]
		if !ok || f.Fault != nil {
			continue
		}
		if f.Record.Status == invocation.Projecting {
			f.Record, ok, err = s.loseOne(ctx, f.Record)
			switch {
			case fault.CodeOf(err) == fault.Internal: // this record's alone
				f = ports.Found{Fault: fault.Of(err)}
			case err != nil:
				return nil, err
			case !ok:
				changed = append(changed, toolCallID)
				continue
			}
		}
		found[toolCallID] = f
		trim(found, toolCallID, view)
	}
	return changed, nil
}

// loseOne settles the record and returns it as lost, or false when it has changed since it was read.
func (s *Store) loseOne(ctx context.Context, rec invocation.Record) (invocation.Record, bool, error) {
	lost := rec.Lost()
	value, err := record.Encode(lost)
	if err != nil {
		return rec, false, fault.Wrap(fault.Internal, err)
	}
	a, _, err := s.execute(ctx, call{
		script: lostScript,
		keys:   []string{s.keys.run(rec.RunID), s.keys.record(rec.RunID, rec.ToolCallID)},
		args:   []any{rec.Owner, rec.ToolCallID, lost.Digest},
		value:  value,
	}, nil)
	switch {
	case err != nil:
		return rec, false, err
	case a.code == "OK":
		lost, err = settled(lost, a)
		return lost, err == nil, err
	case a.code == "LEASED", a.code == "CHANGED":
		return rec, false, nil
	default:
		return rec, false, faultOf(a)
	}
}

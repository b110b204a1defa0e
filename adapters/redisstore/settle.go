package redisstore

import (
	"context"
	"errors"
	"time"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/record"
)

// Settle implements ports.Invocations: one round trip. A settlement that its run's end or budget turns
// into an error takes another: the script writes nothing and says what is needed.
func (s *Store) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	if next.Status != invocation.Ready && next.Status != invocation.Error {
		return invocation.Record{}, fault.New(fault.Internal)
	}
	if len(next.Owner) != invocation.OwnerLength || len(next.Digest) != invocation.OwnerLength {
		return invocation.Record{}, fault.Wrap(fault.Internal, errOwner)
	}
	// A run ends before or at its deadline, and its bytes run out once: what is needed changes twice
	// at most.
	value, need := next, fault.Code("")
	for range 4 {
		encoded, err := record.Encode(value)
		if err != nil {
			return invocation.Record{}, fault.Wrap(fault.Internal, err)
		}
		a, _, err := s.execute(ctx, call{
			script: settleScript,
			keys:   []string{s.keys.run(next.RunID), s.keys.record(next.RunID, next.ToolCallID)},
			args: []any{next.Owner, next.ToolCallID, next.Digest, string(next.Status),
				next.Sizes.RawResponse, next.Sizes.AgentResult, string(need)},
			value: encoded,
			stage: s.keys.staged(next.RunID, next.Owner, value.Digest),
		}, nil)
		if err != nil {
			return invocation.Record{}, err
		}
		switch a.code {
		case "OK":
			return settled(value, a)
		case "REPEATED":
			return s.repeated(ctx, next)
		case "NEEDED":
			need = fault.Code(a.str(0))
			value = replacement(next, need)
		default:
			return invocation.Record{}, faultOf(a)
		}
	}
	return invocation.Record{}, fault.Wrap(fault.StoreUnavailable, errUnanswered)
}

// replacement returns what is stored instead of a settlement, for the code that the script names.
func replacement(next invocation.Record, need fault.Code) invocation.Record {
	switch need {
	case "":
		return next
	case fault.RunBytesExhausted:
		return next.Exhausted()
	default:
		return next.Interrupted(need)
	}
}

// settled reads the answer to a settlement that was stored.
func settled(rec invocation.Record, a answer) (invocation.Record, error) {
	if a.str(0) != rec.Owner {
		return invocation.Record{}, fault.Wrap(fault.StoreUnavailable, errReply)
	}
	for i, at := range []*time.Time{&rec.StartedAt, &rec.LeaseUntil, &rec.CompletedAt} {
		var err error
		if *at, err = parseTime(a.str(1 + i)); err != nil {
			return invocation.Record{}, err
		}
	}
	return rec, nil
}

// errUnread says that a settlement was made but its record could not be read.
var errUnread = errors.New("the settled record could not be read")

// repeated returns the record of a settlement that was made before.
func (s *Store) repeated(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	found, err := s.Load(ctx, next.RunID, ports.Whole, next.ToolCallID)
	if err != nil { // not the read's own fault, which says that nothing was changed
		return invocation.Record{}, fault.Wrap(fault.StoreUnavailable, errUnread)
	}
	f, ok := found[next.ToolCallID]
	switch {
	case !ok:
		return invocation.Record{}, fault.New(fault.InvocationNotFound)
	case f.Fault != nil:
		return invocation.Record{}, f.Fault
	default:
		return f.Record, nil
	}
}

// parseTime reads a time of the stored form.
func parseTime(stored string) (time.Time, error) {
	at, err := time.Parse(`"`+time.RFC3339+`"`, stored)
	if err != nil {
		return time.Time{}, fault.Wrap(fault.Internal, err)
	}
	return at.UTC(), nil
}

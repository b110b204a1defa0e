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

var (
	errFenced = errors.New("this Begin was given up before it was executed")
	errOwner  = errors.New("an owner token or digest has the wrong length")
)

// Begin implements ports.Invocations: one round trip.
func (s *Store) Begin(
	ctx context.Context, rec invocation.Record, incarnation string, lease time.Duration,
) (ports.Begun, error) {
	if len(rec.Owner) != invocation.OwnerLength || rec.Digest != "" || rec.Status != invocation.Projecting {
		return ports.Begun{}, fault.Wrap(fault.Internal, errOwner)
	}
	rec.StartedAt, rec.CompletedAt, rec.LeaseUntil = time.Time{}, time.Time{}, time.Time{}
	value, err := record.Encode(rec)
	if err != nil {
		return ports.Begun{}, fault.Wrap(fault.Internal, err)
	}
	a, unsure, err := s.execute(ctx, call{
		script: beginScript,
		keys:   []string{s.keys.run(rec.RunID), s.keys.record(rec.RunID, rec.ToolCallID)},
		args:   []any{incarnation, rec.Owner, rec.ToolCallID, rec.ToolName, len(rec.Request), lease.Milliseconds()},
		value:  value,
		stage:  s.keys.staged(rec.RunID, rec.Owner, ""),
	}, nil)
	if err != nil {
		if unsure {
			s.fence(ctx, fence{rec, incarnation, time.Now().Add(lease)})
		}
		return ports.Begun{}, err
	}
	switch a.code {
	case "OK":
		return begun(rec, a)
	case "FENCED":
		return ports.Begun{}, fault.Wrap(fault.StoreUnavailable, errFenced)
	default:
		return ports.Begun{}, faultOf(a)
	}
}

// begun reads the answer to a Begin that may be executed.
func begun(rec invocation.Record, a answer) (ports.Begun, error) {
	var err error
	if a.str(0) != rec.Owner {
		return ports.Begun{}, fault.Wrap(fault.StoreUnavailable, errReply)
	}
	if rec.StartedAt, err = parseTime(a.str(1)); err != nil {
		return ports.Begun{}, err
	}
	if rec.LeaseUntil, err = parseTime(a.str(2)); err != nil {
		return ports.Begun{}, err
	}
	return ports.Begun{Record: rec, Remaining: time.Duration(a.num(3)) * time.Millisecond}, nil
}

// maxFences is how many Begins of unknown outcome are remembered while Redis is away.
const maxFences = 1024

// fence is a Begin of unknown outcome that must not become an execution. It is tried until the lease
// has passed: from then on the record, if there is one, is lost anyway.
type fence struct {
	rec         invocation.Record
	incarnation string
	until       time.Time
}

// fence keeps the Begin from becoming an execution: at once if it can, else as soon as Redis is back.
// It goes on when ctx ends.
func (s *Store) fence(ctx context.Context, f fence) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.try)
	defer cancel()
	if s.tryFence(ctx, f) {
		return
	}
	select {
	case s.fences <- f:
	default: // too many: the record, if there is one, is lost after its lease
	}
}

// tryFence reports whether the Begin needs no further attempt.
func (s *Store) tryFence(ctx context.Context, f fence) bool {
	failed := f.rec.Failed(fault.New(fault.StoreUnavailable))
	value, err := record.Encode(failed)
	if err != nil {
		return true // does not happen: Begin has encoded the same members
	}
	_, _, err = s.execute(ctx, call{
		script: fenceScript,
		keys:   []string{s.keys.run(f.rec.RunID), s.keys.record(f.rec.RunID, f.rec.ToolCallID)},
		args:   []any{f.incarnation, f.rec.Owner, f.rec.ToolCallID, failed.Digest},
		value:  value,
	}, nil)
	return err == nil || fault.CodeOf(err) == fault.Internal
}

// fenceLater tries again what could not be fenced at once.
func (s *Store) fenceLater(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case f := <-s.fences:
			for time.Now().Before(f.until) && !isDone(ctx) && !s.tryFence(ctx, f) {
				wait(ctx, lastPause)
			}
		}
	}
}

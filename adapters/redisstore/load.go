package redisstore

import (
	"context"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/record"
)

// readAtOnce is how many records one round trip reads.
const readAtOnce = 256

// Load implements ports.Invocations: one round trip for each 256 ids. Records whose lease has
// passed take a few more, and so does a record of which more must be read than is usual.
func (s *Store) Load(
	ctx context.Context, id run.ID, view ports.View, toolCallIDs ...string,
) (map[string]ports.Found, error) {
	found := make(map[string]ports.Found, len(toolCallIDs))
	for ids := range slices.Chunk(toolCallIDs, readAtOnce) {
		// A record that is settled while it is being declared lost is read again, and by then
		// it is terminal.
		for range 3 {
			lapsed, err := s.read(ctx, id, view, ids, found)
			if err != nil {
				return nil, err
			}
			if ids, err = s.lose(ctx, id, view, lapsed, found); err != nil {
				return nil, err
			}
			if len(ids) == 0 {
				break
			}
		}
	}
	return found, nil
}

// read puts what is stored into found and returns the ids of the records whose lease has passed.
func (s *Store) read(
	ctx context.Context, id run.ID, view ports.View, ids []string, found map[string]ports.Found,
) (lapsed []string, err error) {
	all := make([]parts, len(ids))
	now, err := s.reads(ctx, id, func(p redis.Pipeliner) {
		for i, toolCallID := range ids {
			all[i] = queueParts(ctx, p, s.keys.record(id, toolCallID), view)
		}
	})
	if err != nil {
		return nil, err
	}
	for i, toolCallID := range ids {
		delete(found, toolCallID)
		if all[i].absent() {
			continue
		}
		rec, enough, err := all[i].decode(invocation.Key{RunID: id, ToolCallID: toolCallID}, view)
		switch {
		case !enough:
			if _, err := s.read(ctx, id, ports.Whole, []string{toolCallID}, found); err != nil {
				return nil, err
			}
			trim(found, toolCallID, view)
		case err != nil:
			found[toolCallID] = ports.Found{Fault: fault.Wrap(fault.Internal, err)}
		default:
			found[toolCallID] = ports.Found{Record: rec}
		}
		if f := found[toolCallID].Record; f.Status == invocation.Projecting && !now.Before(f.LeaseUntil) {
			lapsed = append(lapsed, toolCallID)
		}
	}
	slices.Sort(lapsed)
	return slices.Compact(lapsed), nil
}

// parts are the replies to the commands that read one record: all of it, or its head and, for its
// answer, its end. They are GET and GETRANGE, which leave a key's expiry alone (S18).
type parts struct {
	value  *redis.StringCmd
	exists *redis.IntCmd // nil for all of it; an empty range does not say whether there is a value
	end    *redis.StringCmd
}

func queueParts(ctx context.Context, p redis.Pipeliner, key string, view ports.View) parts {
	if view == ports.Whole {
		return parts{value: p.Get(ctx, key)}
	}
	c := parts{value: p.GetRange(ctx, key, 0, int64(headRead-1)), exists: p.Exists(ctx, key)}
	if view == ports.Answer {
		c.end = p.GetRange(ctx, key, int64(-answerRead), -1)
	}
	return c
}

// absent reports whether there is no record.
func (p parts) absent() bool {
	return errors.Is(p.value.Err(), redis.Nil) || p.exists != nil && p.exists.Val() == 0
}

// decode returns the record, or says why the value is not a record of this key (S23). enough is
// false when all of the value must be read: its head or its agent result is longer than what was
// read of it, or it was created or expired between two commands.
func (p parts) decode(key invocation.Key, view ports.View) (rec invocation.Record, enough bool, err error) {
	value, err := p.value.Bytes()
	if err != nil {
		return invocation.Record{}, true, err
	}
	enough = true
	if view == ports.Whole {
		rec, err = record.Decode(value)
	} else if rec, err = record.DecodeHead(value); err != nil {
		enough = len(value) != 0 && len(value) < headRead
	} else if view == ports.Answer && rec.Status == invocation.Ready {
		end, _ := p.end.Bytes()
		n := record.AnswerLen(rec)
		if enough = len(end) >= n; enough {
			rec, err = record.DecodeAnswer(rec, end[len(end)-n:])
		}
	}
	if err == nil && rec.Key() != key {
		err = record.ErrCorrupt
	}
	if err != nil {
		rec = invocation.Record{}
	}
	return rec, enough, err
}

// trim removes the bodies that the view does not show.
func trim(found map[string]ports.Found, toolCallID string, view ports.View) {
	f, ok := found[toolCallID]
	if !ok || view == ports.Whole {
		return
	}
	f.Record.Request, f.Record.RawResponse = nil, nil
	if view == ports.Head {
		f.Record.AgentResult = nil
	}
	found[toolCallID] = f
}

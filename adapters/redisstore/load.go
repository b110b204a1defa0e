package redisstore

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
)

// readAtOnce is how many records one round trip reads.
const readAtOnce = 256

// Load implements ports.Invocations: one round trip for each 256 ids. Records whose lease has
// passed take a few more.
func (s *Store) Load(ctx context.Context, id run.ID, view ports.View, toolCallIDs ...string) (map[string]ports.Found, error) {
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

// read puts what is stored into found and returns the ids of the records whose lease has
// passed. It reads with GET and GETRANGE, which leave a key's expiry alone (S18).
func (s *Store) read(ctx context.Context, id run.ID, view ports.View, ids []string, found map[string]ports.Found) (lapsed []string, err error) {
	now, cmds, err := s.reads(ctx, id, func(p redis.Pipeliner) {
		for _, toolCallID := range ids {
			key := s.keys.record(id, toolCallID)
			if view == ports.Whole {
				p.Get(ctx, key)
				continue
			}
			p.GetRange(ctx, key, 0, invocation.MaxHead-1)
			p.Exists(ctx, key) // an empty range says nothing
			if view == ports.Answer {
				p.GetRange(ctx, key, -invocation.MaxAnswer, -1)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	width := len(cmds) / max(1, len(ids))
	for i, toolCallID := range ids {
		delete(found, toolCallID)
		value, err := cmds[i*width].(*redis.StringCmd).Bytes()
		if errors.Is(err, redis.Nil) || view != ports.Whole && cmds[i*width+1].(*redis.IntCmd).Val() == 0 {
			continue
		}
		var suffix []byte
		if view == ports.Answer {
			suffix, _ = cmds[i*width+2].(*redis.StringCmd).Bytes()
		}
		rec, whole, err := decode(invocation.Key{RunID: id, ToolCallID: toolCallID}, view, value, suffix, err)
		if !whole { // one command, one answer
			if _, err := s.read(ctx, id, ports.Whole, []string{toolCallID}, found); err != nil {
				return nil, err
			}
			trim(found, toolCallID, view)
			continue
		}
		if err != nil {
			found[toolCallID] = ports.Found{Fault: fault.Wrap(fault.Internal, err)}
			continue
		}
		found[toolCallID] = ports.Found{Record: rec}
		if rec.Status == invocation.Projecting && !now.Before(rec.LeaseUntil) && !slices.Contains(lapsed, toolCallID) {
			lapsed = append(lapsed, toolCallID)
		}
	}
	return lapsed, nil
}

// decode reads a value that is a record of this key, or says why it is none (S23). whole is
// false when the parts that were read do not say: the result is longer than the suffix, or the
// record began or expired between one part and the other.
func decode(key invocation.Key, view ports.View, value, suffix []byte, err error) (rec invocation.Record, whole bool, _ error) {
	if err != nil {
		return invocation.Record{}, true, err
	}
	if view != ports.Whole && len(value) == 0 {
		return invocation.Record{}, false, nil
	}
	whole = true
	switch view {
	case ports.Head:
		rec, err = invocation.DecodeHead(value)
	case ports.Answer:
		rec, whole, err = invocation.DecodeAnswer(value, suffix)
	default:
		rec, err = invocation.Decode(value)
	}
	if err == nil && rec.Key() != key {
		err = invocation.ErrCorrupt
	}
	if err != nil {
		return invocation.Record{}, true, err
	}
	return rec, whole, nil
}

// trim takes away what the view does not show.
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

// reads runs commands that only read, in one round trip, and returns the time of the run's
// server from just before. A command's own error is redis.Nil or that of a value of a wrong
// type; any other is a fault of the whole.
func (s *Store) reads(ctx context.Context, id run.ID, queue func(redis.Pipeliner)) (now time.Time, cmds []redis.Cmder, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	err = errUnanswered
	for pause := firstPause; !isDone(ctx); pause = min(2*pause, lastPause) {
		pipe := s.client.Pipeline()
		clock := pipe.Eval(ctx, nowText, []string{s.keys.run(id)})
		queue(pipe)
		cmds, _ = pipe.Exec(ctx)
		if err = firstError(cmds); err == nil {
			now, err = serverTime(clock)
			return now, cmds[1:], err
		}
		if o := classify(err); o == refused || o == broken {
			break
		}
		wait(ctx, pause)
	}
	return time.Time{}, nil, failure(err, false)
}

// firstError returns the first error for which a pipeline as a whole failed.
func firstError(cmds []redis.Cmder) error {
	for i, cmd := range cmds {
		if err := cmd.Err(); err != nil && !errors.Is(err, redis.Nil) && (i == 0 || classify(err) != broken) {
			return err
		}
	}
	return nil
}

func serverTime(clock *redis.Cmd) (time.Time, error) {
	parts, err := clock.StringSlice()
	if err != nil || len(parts) != 2 {
		return time.Time{}, fault.Wrap(fault.StoreUnavailable, errReply)
	}
	sec, err1 := strconv.ParseInt(parts[0], 10, 64)
	usec, err2 := strconv.ParseInt(parts[1], 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return time.Time{}, fault.Wrap(fault.StoreUnavailable, err)
	}
	return time.UnixMicro(sec*1e6 + usec).Truncate(time.Millisecond).UTC(), nil
}

// lose settles records to EXECUTION_LOST, puts what became of them into found, and returns the
// ids that have changed meanwhile (S16).
func (s *Store) lose(ctx context.Context, id run.ID, view ports.View, lapsed []string, found map[string]ports.Found) (changed []string, err error) {
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
			if f.Record, ok, err = s.loseOne(ctx, f.Record); err != nil {
				return nil, err
			} else if !ok {
				changed = append(changed, toolCallID)
				continue
			}
		}
		found[toolCallID] = f
		trim(found, toolCallID, view)
	}
	return changed, nil
}

// loseOne returns the record as lost, or false when it is no longer as it was read.
func (s *Store) loseOne(ctx context.Context, rec invocation.Record) (invocation.Record, bool, error) {
	lost := rec.Lost()
	a, _, err := s.run(ctx, call{
		script: lostScript,
		keys:   []string{s.keys.run(rec.RunID), s.keys.record(rec.RunID, rec.ToolCallID)},
		args:   []any{rec.Owner, rec.ToolCallID, lost.Digest},
		value:  lost.Encode(),
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
		return rec, false, verdict(a)
	}
}

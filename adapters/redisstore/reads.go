package redisstore

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
)

// reads runs commands that only read, in one round trip, and returns the time of the run's server
// from just before them. queue adds the commands, again for each attempt. Afterwards a command's
// own error is redis.Nil or that of a value of a wrong type; any other error fails the whole.
func (s *Store) reads(ctx context.Context, id run.ID, queue func(redis.Pipeliner)) (now time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	err = errUnanswered
	for pause := firstPause; !isDone(ctx); pause = min(2*pause, lastPause) {
		pipe := s.client.Pipeline()
		clock := pipe.Eval(ctx, nowText, []string{s.keys.run(id)})
		queue(pipe)
		cmds, _ := pipe.Exec(ctx)
		if err = firstError(cmds); err == nil {
			return serverTime(clock)
		}
		if o := classify(err); o == refused || o == broken {
			break
		}
		wait(ctx, pause)
	}
	return time.Time{}, failure(err, false)
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

// serverTime reads the reply to TIME.
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

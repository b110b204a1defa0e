package redisstore

import (
	"cmp"
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
)

// pingInterval is how long a subscription may be silent before the server is asked whether it is still
// there. It has the same time to answer.
const pingInterval = time.Second

// Watch implements ports.Cancellations. It returns nil when ctx is done; until then it
// subscribes again after every interruption.
func (s *Store) Watch(ctx context.Context, ended func(run.ID), subscribed func()) error {
	for pause := firstPause; !isDone(ctx); pause = min(2*pause, lastPause) {
		if s.watchOnce(ctx, ended, subscribed) {
			pause = firstPause
		}
		wait(ctx, pause)
	}
	return nil
}

// watchOnce keeps one subscription until it breaks, and reports whether the server had accepted it.
func (s *Store) watchOnce(ctx context.Context, ended func(run.ID), subscribed func()) (accepted bool) {
	sub := s.client.Subscribe(ctx, s.keys.channel())
	defer sub.Close()
	defer context.AfterFunc(ctx, func() { _ = sub.Close() })() // ends a read that waits
	for asked := false; ; {
		message, err := sub.ReceiveTimeout(ctx, pingInterval)
		var timeout net.Error
		switch {
		case err == nil:
			asked = false
		case errors.As(err, &timeout) && timeout.Timeout() && !asked && !isDone(ctx):
			asked = true
			if sub.Ping(ctx) != nil {
				return accepted
			}
		default:
			return accepted
		}
		switch m := message.(type) {
		case *redis.Subscription:
			accepted = true
			subscribed()
		case *redis.Message:
			ended(run.ID(m.Payload))
		}
	}
}

// Ended implements ports.Cancellations: one round trip, and one more when a server does not know the
// script yet.
func (s *Store) Ended(ctx context.Context, ids ...run.ID) (map[run.ID]fault.Code, error) {
	over := map[run.ID]fault.Code{}
	if len(ids) == 0 {
		return over, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	var err error = errUnanswered
	for pause := firstPause; !isDone(ctx); pause = min(2*pause, lastPause) {
		if err = s.askEnded(ctx, ids, over); err == nil {
			return over, nil
		}
		if o := classify(err); o == refused || o == broken {
			break
		}
		wait(ctx, pause)
	}
	return over, failure(err, false)
}

// askEnded asks every server and puts what they say into over. It first assumes that they know the
// script, and sends its text to those that did not answer.
func (s *Store) askEnded(ctx context.Context, ids []run.ID, over map[run.ID]fault.Code) (err error) {
	for _, verb := range [...]struct{ name, text string }{{"evalsha", endedScript.sha}, {"eval", endedScript.text}} {
		if ids, err = s.tryEnded(ctx, verb.name, verb.text, ids, over); err == nil {
			return nil
		}
	}
	return err
}

// tryEnded returns the runs of which no server said anything, and why.
func (s *Store) tryEnded(
	ctx context.Context, verb, text string, ids []run.ID, over map[run.ID]fault.Code,
) (left []run.ID, failed error) {
	ctx, cancel := context.WithTimeout(ctx, s.try)
	defer cancel()
	pipe := s.client.Pipeline()
	cmds := make([]*redis.Cmd, len(ids))
	for i, id := range ids {
		cmds[i] = pipe.Do(ctx, verb, text, 1, s.keys.run(id))
	}
	_, _ = pipe.Exec(ctx)
	for i, cmd := range cmds {
		// The value counts, not the error: when one server of a Cluster does not answer in time, the
		// library puts that error on every command, and those that were answered keep their values.
		reply, _ := cmd.Val().([]any)
		a, err := read(reply, nil)
		if err != nil {
			left, failed = append(left, ids[i]), cmp.Or(cmd.Err(), err)
		} else if a.str(0) != "" {
			over[ids[i]] = fault.Code(a.str(0))
		}
	}
	return left, failed
}

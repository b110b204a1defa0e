package redisstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/toolboundary/toolboundary/domain/fault"
)

const (
	// largeValue is the size, in bytes, from which a value is stored under a key of its own (staged)
	// before its script runs: as an argument it would be hashed and copied in Lua while the server waits.
	largeValue = 16 << 10
	// stagedLife is how long a staged value stays when its script never takes it.
	stagedLife = time.Minute
	// bytesPerTry is how many bytes give an attempt another Options.Try of time.
	bytesPerTry = 4 << 20
	firstPause  = 10 * time.Millisecond
	lastPause   = 200 * time.Millisecond
)

// call is one execution of a script.
type call struct {
	script script
	keys   []string
	args   []any
	// value is the script's last argument. From largeValue on it is staged under stage instead, which
	// is then the last key.
	value []byte
	stage string
}

// once is a command that the client library must not repeat: what to do when its reply is lost is
// for the store to decide.
type once struct{ *redis.Cmd }

// NoRetry implements redis.Cmder.
func (once) NoRetry() bool { return true }

func (c call) command(ctx context.Context, verb, text string) once {
	staged := len(c.value) >= largeValue && c.stage != ""
	keys := c.keys
	if staged {
		keys = append(keys[:len(keys):len(keys)], c.stage)
	}
	args := make([]any, 0, 4+len(keys)+len(c.args))
	args = append(args, verb, text, len(keys))
	for _, k := range keys {
		args = append(args, k)
	}
	args = append(args, c.args...)
	if c.value != nil && !staged {
		args = append(args, c.value)
	}
	return once{redis.NewCmd(ctx, args...)}
}

// send executes the script in one round trip, or two when the server does not know it yet.
func (c call) send(ctx context.Context, client redis.UniversalClient) ([]any, error) {
	staged := len(c.value) >= largeValue && c.stage != ""
	cmd := c.command(ctx, "evalsha", c.script.sha)
	if !staged {
		_ = client.Process(ctx, cmd)
	} else {
		set := once{redis.NewCmd(ctx, "set", c.stage, c.value, "px", stagedLife.Milliseconds())}
		pipe := client.Pipeline()
		_ = pipe.Process(ctx, set)
		_ = pipe.Process(ctx, cmd)
		_, _ = pipe.Exec(ctx)
		if set.Err() != nil && cmd.Err() == nil {
			return nil, set.Err() // the script found nothing staged
		}
	}
	if isNoScript(cmd.Err()) {
		cmd = c.command(ctx, "eval", c.script.text)
		_ = client.Process(ctx, cmd)
	}
	return cmd.Slice()
}

func isNoScript(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") }

// answer is a script's reply: a code and what belongs to it.
type answer struct {
	code string
	rest []any
}

// str returns the n-th value after the code as a string, or "".
func (a answer) str(n int) string {
	if n < len(a.rest) {
		if s, ok := a.rest[n].(string); ok {
			return s
		}
	}
	return ""
}

// num returns the n-th value after the code as a number, or 0.
func (a answer) num(n int) int64 {
	if n < len(a.rest) {
		if i, ok := a.rest[n].(int64); ok {
			return i
		}
	}
	return 0
}

// Longest returns how long an operation with a value of that many bytes may take, retries
// included, under Options.Try and Options.Patience.
func Longest(try, patience time.Duration, bytes int) time.Duration {
	return patience + try*time.Duration(bytes/bytesPerTry)
}

// execute repeats the call until it is answered, its outcome is certain, or the time is over. unsure
// reports whether it may have been executed although there is no answer. again, when not nil, changes
// the call for attempts after one of unknown outcome.
func (s *Store) execute(ctx context.Context, c call, again func(*call)) (a answer, unsure bool, err error) {
	perTry := s.try * time.Duration(1+len(c.value)/bytesPerTry)
	ctx, cancel := context.WithTimeout(ctx, Longest(s.try, s.patience, len(c.value)))
	defer cancel()
	err = errUnanswered
	for pause := firstPause; !isDone(ctx); pause = min(2*pause, lastPause) {
		try, cancel := context.WithTimeout(ctx, perTry)
		reply, sendErr := c.send(try, s.client)
		cancel()
		if a, err = read(reply, sendErr); err == nil && a.code != "UNSTAGED" {
			return a, unsure, nil
		}
		if err != nil {
			switch classify(err) {
			case refused, broken:
				return answer{}, unsure, failure(err, unsure)
			case unknown:
				unsure = true
				if again != nil {
					again(&c)
				}
			}
		}
		wait(ctx, pause/2+rand.N(pause/2+1))
	}
	if err == nil {
		err = errUnanswered
	}
	return answer{}, unsure, failure(err, unsure)
}

// read returns a reply as an answer.
func read(reply []any, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	if len(reply) > 0 {
		if code, ok := reply[0].(string); ok {
			return answer{code, reply[1:]}, nil
		}
	}
	return answer{}, errReply
}

// wait returns after d, or when ctx is done.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// faultOf returns the fault for a script's code that is not OK.
func faultOf(a answer) error {
	switch code := fault.Code(a.code); code {
	case fault.DuplicateToolCall:
		return fault.Because(code, a.str(0), "")
	case fault.RunNotFound, fault.RunExists, fault.RunInactive, fault.RunDeadlineExceeded,
		fault.ToolBudgetExhausted, fault.RunBudgetExhausted, fault.RunBytesExhausted,
		fault.InvocationNotFound, fault.ExecutionLost, fault.RefusalLimitReached:
		return fault.New(code)
	}
	return fault.Wrap(fault.Internal, fmt.Errorf("the script answered %q", a.code))
}

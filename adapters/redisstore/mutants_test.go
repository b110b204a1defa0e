package redisstore_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/contract/storetest"
	"github.com/toolboundary/toolboundary/test/servers"
)

// mutation is a hook that changes a script on its way to the server.
type mutation struct {
	from, to string
	applied  *atomic.Bool
}

func (mutation) DialHook(next redis.DialHook) redis.DialHook { return next }

func (m mutation) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if args := cmd.Args(); args[0] == "eval" {
			m.change(args)
		}
		return next(ctx, cmd)
	}
}

func (m mutation) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			if args := cmd.Args(); args[0] == "eval" {
				m.change(args)
			}
		}
		return next(ctx, cmds)
	}
}

func (m mutation) change(args []any) {
	text := args[1].(string)
	if changed := strings.ReplaceAll(text, m.from, m.to); changed != text {
		m.applied.Store(true)
		args[1] = changed
	}
}

// overtaking is a hook that makes a race certain: the script that settles a lost record arrives only
// after a settlement by the record's owner, if one is on its way.
type overtaking struct {
	mu      sync.Mutex
	settled map[string]chan struct{} // by the record's key; closed once it is settled
}

func (*overtaking) DialHook(next redis.DialHook) redis.DialHook { return next }

func (o *overtaking) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		args := cmd.Args()
		if args[0] != "eval" {
			return next(ctx, cmd)
		}
		text := args[1].(string)
		if strings.Contains(text, "if stamp(now) < lease then") {
			select {
			case <-o.of(args[4].(string)):
			case <-time.After(overtakingLimit):
			}
		}
		err := next(ctx, cmd)
		if strings.Contains(text, "if asked == 'READY' then") {
			close(o.of(args[4].(string)))
		}
		return err
	}
}

func (*overtaking) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// overtakingLimit is for records that nobody settles.
const overtakingLimit = 2 * time.Second

// of returns the channel of a record. A settlement closes it and the next one gets another.
func (o *overtaking) of(key string) chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.settled[key] == nil {
		o.settled[key] = make(chan struct{})
	}
	return o.settled[key]
}

// lostMeanwhile is what the script for lost records must look at again: whether the record is still
// as it was read. Only a race shows that it does not.
const lostMeanwhile = "if not e or string.sub(e, 1, 1 + OWNER_LENGTH) ~= 'P' .. owner or " +
	"not projecting(head, owner) then"

// TestTheContractCatchesMutatedScripts breaks the scripts in one place each and requires that
// a case of the suite notices.
func TestTheContractCatchesMutatedScripts(t *testing.T) {
	for _, m := range []struct{ from, to string }{
		// Begin.
		{"if f[1] ~= ARGV[1] then\n  return answer('RUN_NOT_FOUND')", "if not f[1] then\n  return answer('RUN_NOT_FOUND')"},
		{"if f[2] ~= 'ACTIVE' then", "if false then"},
		{"if now >= deadline then", "if false then"},
		{"if status then\n  return answer('DUPL", "if false then\n  return answer('DUPL"},
		{"STATUS[status]", "'PROJECTING'"},
		{"if first == owner and status == 'P' and", "if false and"},
		{"if first == owner and status == 'P' and projecting(head, owner) then", "if first == owner then"},
		{"tonumber(f[10] or 0) >= tonumber(f[11])", "tonumber(f[10] or 0) > tonumber(f[11])"},
		{"calls >= tonumber(f[7])", "calls > tonumber(f[7])"},
		{"bytes + ARGV[5] > tonumber(f[8])", "bytes + ARGV[5] >= tonumber(f[8])"},
		{"bytes + ARGV[5] > tonumber(f[8])", "bytes > tonumber(f[8])"},
		{"'PXAT', int(now + ttl)", "'PXAT', int(now + ttl + 1)"},
		{"redis.call('PEXPIREAT', staged, int(now + ttl))", ""},
		{"redis.call('SETRANGE', KEYS[2], LEASE_UNTIL, lease)", ""},
		{"stamp(now + ARGV[6])", "stamp(now + ARGV[6] + 1)"},
		{"'b', int(bytes + ARGV[5])", "'b', int(bytes)"},
		{"int((f[10] or 0) + 1)", "0"},
		{"'P' .. owner .. int(calls + 1)", "'P' .. owner .. '1'"},
		// Settle.
		{"and settled == digest", ""},
		{"current == owner and settled == digest", "settled == digest"},
		{"if status ~= 'P' and current == owner and", "if false and"},
		{"if status == 'P' and not projecting(head, current) then", "if false then"},
		{"if status ~= 'P' or current ~= owner then", "if status ~= 'P' then"},
		{"if f[1] ~= 'ACTIVE' then\n    need", "if false then\n    need"},
		{"elseif now >= tonumber(f[2]) then\n    need", "elseif false then\n    need"},
		{"if asked == 'READY' then", "if true then"},
		{"need, bytes = 'EXECUTION_CANCELLED', tonumber(ARGV[5])", "need = 'EXECUTION_CANCELLED'"},
		{"need, bytes = 'RUN_BYTES_EXHAUSTED', 0", "need = 'RUN_BYTES_EXHAUSTED'"},
		{"f[3] + bytes > tonumber(f[4])", "f[3] + bytes >= tonumber(f[4])"},
		{"f[3] + bytes > tonumber(f[4])", "false"},
		{"redis.call('HSET', KEYS[1], 'b', int(f[3] + bytes))", ""},
		{"or redis.call('EXISTS', KEYS[2]) == 0 then", "then"},
		// What Settle and the settling of lost records share.
		{"'XX', 'KEEPTTL'", "'XX'"},
		{"'XX', 'KEEPTTL')", "'XX', 'PXAT', redis.call('PEXPIRETIME', KEYS[2]) + 1)"},
		{"redis.call('PEXPIREAT', staged, expiry)", "redis.call('PEXPIREAT', staged, expiry + 1)"},
		{"string.sub(head, STARTED_AT + 1, COMPLETED_AT) .. stamp(now)",
			"stamp(now) .. string.sub(head, STARTED_AT + TIME_LENGTH + 1, COMPLETED_AT) .. stamp(now)"},
		{"redis.call('SETRANGE', KEYS[2], STARTED_AT, block)", ""},
		{"status .. owner .. place .. ':' .. digest", "'P' .. owner .. place .. ':' .. digest"},
		{"status .. owner .. place .. ':' .. digest", "status .. owner .. '1:' .. digest"},
		// Lost records.
		{"if stamp(now) < lease then", "if true then"},
		{lostMeanwhile, "if not e then"},
		// Runs.
		{"if known ~= ARGV[1] then", "if false then"},
		{"if known then", "if false then"},
		{"int(deadline + ARGV[4])", "int(deadline + ARGV[3])"},
		{"local deadline = now + ARGV[2]", "local deadline = now + ARGV[2] + 1"},
		{"return {'RUN_INACTIVE'}\n  end\n  redis.call('HSET'", "end\n  redis.call('HSET'"},
		{"redis.call('PUBLISH', ARGV[2], ARGV[3])", ""},
		{"if clock() >= tonumber(f[2]) then", "if false then"},
		// Refusals.
		{"if f[2] ~= 'ACTIVE' then\n  return {'RUN_INACTIVE'}", "if false then\n  return {'RUN_INACTIVE'}"},
		{"if now >= tonumber(f[3]) then\n  return {'RUN_DEADLINE", "if false then\n  return {'RUN_DEADLINE"},
		{"if refusals >= tonumber(f[5]) then", "if refusals > tonumber(f[5]) then"},
		{"if ARGV[2] == '1' then", "if true then"},
		{"int(logged % ARGV[4])", "int(logged)"},
		{"int(logged) .. ':' .. int(now)", "int(-logged) .. ':' .. int(now)"},
	} {
		t.Run(m.from+" → "+m.to, func(t *testing.T) {
			t.Parallel()
			var applied atomic.Bool
			sound := func(c redis.UniversalClient) {
				if m.from == lostMeanwhile {
					c.AddHook(&overtaking{settled: map[string]chan struct{}{}})
				}
			}
			mutant := func(c redis.UniversalClient) {
				sound(c)
				c.AddHook(mutation{m.from, m.to, &applied})
			}
			caught := catches(t, mutantSubject(t, mutant), mutantSubject(t, sound), &applied)
			require.True(t, applied.Load(), "the mutation did not apply")
			require.NotEmpty(t, caught)
			t.Logf("caught by %s", caught)
		})
	}
}

// mutantSubject returns a store on a server of its own: a server knows its scripts by name.
func mutantSubject(t *testing.T, instrument func(redis.UniversalClient)) storetest.Subject {
	t.Helper()
	r := servers.Redis(t, "--appendonly", "no")
	opt := redisstore.Options{
		Addrs: []string{r.Addr}, Patience: 5 * time.Second, Try: 4 * time.Second, Instrument: instrument,
	}
	return subject(opt, 150*time.Millisecond)
}

// catches returns the first case that the mutant breaks and the store itself does not. On a busy
// machine a case that measures time may fail on either; then the next one, or the next round, tells.
func catches(t *testing.T, mutant, sound storetest.Subject, applied *atomic.Bool) string {
	t.Helper()
	for range 5 {
		for _, c := range storetest.Suite().Cases {
			one := kit.Suite[storetest.Subject]{Cases: []kit.Case[storetest.Subject]{c}}
			breaks := func(s storetest.Subject) bool { return len(one.Violations(t.Context(), s)) > 0 }
			if mutant.Exceptions[c.Name] == "" && breaks(mutant) && applied.Load() && !breaks(sound) {
				return c.Name
			}
		}
	}
	return ""
}

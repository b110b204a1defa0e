package fault

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/ports"
)

// rewriting is a hook that changes a script on its way to the server, which never meets the
// right one.
type rewriting struct{ from, to string }

func (rewriting) DialHook(next redis.DialHook) redis.DialHook { return next }

func (r rewriting) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if args := cmd.Args(); args[0] == "eval" {
			args[1] = strings.ReplaceAll(args[1].(string), r.from, r.to)
		}
		return next(ctx, cmd)
	}
}

func (rewriting) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// racing settles in two steps: it looks, and then writes whatever it saw before.
type racing struct{ store }

func (r racing) Settle(ctx context.Context, next invocation.Record) (invocation.Record, error) {
	found, err := r.Load(ctx, next.RunID, ports.Head, next.ToolCallID)
	if err != nil {
		return invocation.Record{}, err
	}
	f := found[next.ToolCallID]
	if f.Record.Status != invocation.Projecting && f.Record.Digest != next.Digest && f.Record.Status != "" {
		return invocation.Record{}, fault.New(fault.ExecutionLost)
	}
	return r.store.Settle(ctx, next)
}

// forgetful begins again under another owner when it was not answered.
type forgetful struct{ store }

func (f forgetful) Begin(
	ctx context.Context, rec invocation.Record, incarnation string, lease time.Duration,
) (ports.Begun, error) {
	begun, err := f.store.Begin(ctx, rec, incarnation, lease)
	if fault.CodeOf(err) == fault.StoreUnavailable {
		rec.Owner = "x" + rec.Owner[1:]
		begun, err = f.store.Begin(ctx, rec, incarnation, lease)
	}
	return begun, err
}

// optimistic is a hook that takes an unanswered command for one that was never sent.
type optimistic struct{}

func (optimistic) DialHook(next redis.DialHook) redis.DialHook { return next }

func (optimistic) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		var reply redis.Error
		if err != nil && !errors.As(err, &reply) {
			err = &net.OpError{Op: "dial", Err: err}
			cmd.SetErr(err)
		}
		return err
	}
}

func (optimistic) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// mutant is a store that is broken in one place: by a hook of its client, or by what is wrapped
// around it. The nemesis brings about what it takes to notice.
type mutant struct {
	nemesis string
	hook    redis.Hook
	wrap    func(store) store
}

// finality is where a settlement is refused when the record is terminal or has another owner.
const finality = "if status == 'P' and not projecting(head, current) then\n  return answer('CORRUPT')\nend\n" +
	"if status ~= 'P' or current ~= owner then"

var mutants = map[string]mutant{
	"terminal records settle again": {nemesis: "no fault",
		hook: rewriting{finality, "if current ~= owner then"}},
	"settles in two steps": {nemesis: "no fault",
		hook: rewriting{finality, "if current ~= owner then"},
		wrap: func(s store) store { return racing{s} }},
	"anyone settles": {nemesis: "no fault",
		hook: rewriting{"current ~= owner", "false"}},
	"one call too many": {nemesis: "no fault",
		hook: rewriting{"calls >= tonumber(f[7])", "calls > tonumber(f[7])"}},
	"begins in ended runs": {nemesis: "no fault",
		hook: rewriting{"if f[2] ~= 'ACTIVE' then", "if false then"}},
	"READY in ended runs": {nemesis: "no fault",
		hook: rewriting{"if f[1] ~= 'ACTIVE' then\n    need", "if false then\n    need"}},
	"ends twice": {nemesis: "no fault",
		hook: rewriting{"return {'RUN_INACTIVE'}", "redis.call('HSET', KEYS[1], 's', ARGV[1])"}},
	"duplicates begin": {nemesis: "no fault",
		hook: rewriting{"if status then\n  return answer('DUPLICATE_TOOL_CALL', STATUS[status])\nend", ""}},
	"its own Begin is a duplicate": {nemesis: "replies dropped",
		hook: rewriting{"if first == owner and status == 'P'", "if false"}},
	"its own settlement is lost": {nemesis: "replies dropped",
		hook: rewriting{"if status ~= 'P' and current == owner and settled == digest then", "if false then"}},
	"unanswered Begins stay": {nemesis: "replies dropped for long",
		hook: rewriting{"if f[1] ~= ARGV[1] then\n  return {'OK'}\nend\nif not f[2] then",
			"if true then return {'OK'} end\nif not f[2] then"}},
	"settlements are charged twice": {nemesis: "no fault",
		hook: rewriting{"return answer('REPEATED', owner)",
			"redis.call('HSET', KEYS[1], 'b', int(f[3] + ARGV[5] + ARGV[6])) return answer('REPEATED', owner)"}},
	"refused settlements are charged": {nemesis: "no fault",
		hook: rewriting{"return answer('EXECUTION_LOST')",
			"redis.call('HSET', KEYS[1], 'b', int(f[3] + 1)) return answer('EXECUTION_LOST')"}},
	"begins under another owner": {nemesis: "replies dropped for long",
		wrap: func(s store) store { return forgetful{s} }},
	"unanswered is not executed": {nemesis: "replies dropped for long",
		hook: optimistic{}},
}

// TestMutantsAreCaught requires that the clients under faults notice each mutant.
func TestMutantsAreCaught(t *testing.T) {
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := slices.IndexFunc(nemeses, func(n nemesis) bool { return n.name == m.nemesis })
			instrument := func(c redis.UniversalClient) {
				if m.hook != nil {
					c.AddHook(m.hook)
				}
			}
			var r result
			operations := 0
			for seed := uint64(7); len(r.violations) == 0 && seed < 7+mostPlays; seed++ {
				r = play(t, nemeses[i], seed, 2*slice, instrument, m.wrap)
				operations += r.operations
			}
			require.NotEmpty(t, r.violations, "%d operations", operations)
			first, _, _ := strings.Cut(r.violations[0], "\n")
			t.Logf("caught after %d operations: %s", operations, first)
		})
	}
}

// mostPlays is how often a mutant is played before it counts as unnoticed. What a play shows depends
// on when the faults strike: one misses a mutant in a hundred at most.
const mostPlays = 10

// TestAHookAloneBreaksNothing is the mutants' control.
func TestAHookAloneBreaksNothing(t *testing.T) {
	r := play(t, nemeses[0], 7, slice, func(c redis.UniversalClient) { c.AddHook(rewriting{"not in any script", ""}) },
		func(s store) store { return forgetful{s} })
	require.Empty(t, r.violations)
}

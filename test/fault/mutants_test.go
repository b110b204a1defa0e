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

func (f forgetful) Begin(ctx context.Context, rec invocation.Record, incarnation string, lease time.Duration) (ports.Begun, error) {
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

// TestMutantsAreCaught breaks the store in one place each and requires that the clients under
// faults notice.
func TestMutantsAreCaught(t *testing.T) {
	const corrupt = "if status == 'P' and not projecting(head, current) then\n  return answer('CORRUPT')\nend\n"
	const finality = "if status ~= 'P' or current ~= owner then"
	for name, m := range map[string]struct {
		nemesis string
		hook    redis.Hook
		wrap    func(store) store
	}{
		"terminal records settle again": {"no fault", rewriting{
			corrupt + finality, "if current ~= owner then"}, nil},
		"settles in two steps": {"no fault", rewriting{
			corrupt + finality, "if current ~= owner then"},
			func(s store) store { return racing{s} }},
		"anyone settles":                  {"no fault", rewriting{"current ~= owner", "false"}, nil},
		"one call too many":               {"no fault", rewriting{"calls >= tonumber(f[7])", "calls > tonumber(f[7])"}, nil},
		"begins in ended runs":            {"no fault", rewriting{"if f[2] ~= 'ACTIVE' then", "if false then"}, nil},
		"READY in ended runs":             {"no fault", rewriting{"if f[1] ~= 'ACTIVE' then\n    need", "if false then\n    need"}, nil},
		"ends twice":                      {"no fault", rewriting{"return {'RUN_INACTIVE'}", "redis.call('HSET', KEYS[1], 's', ARGV[1])"}, nil},
		"duplicates begin":                {"no fault", rewriting{"if status then\n  return answer('DUPLICATE_TOOL_CALL', STATUS[status])\nend", ""}, nil},
		"its own Begin is a duplicate":    {"replies dropped", rewriting{"if first == owner and status == 'P'", "if false"}, nil},
		"its own settlement is lost":      {"replies dropped", rewriting{"if status ~= 'P' and current == owner and settled == digest then", "if false then"}, nil},
		"unanswered Begins stay":          {"replies dropped for long", rewriting{"if f[1] ~= ARGV[1] then\n  return {'OK'}\nend\nif not f[2] then", "if true then return {'OK'} end\nif not f[2] then"}, nil},
		"settlements are charged twice":   {"no fault", rewriting{"return answer('REPEATED', owner)", "redis.call('HSET', KEYS[1], 'b', int(f[3] + ARGV[5] + ARGV[6])) return answer('REPEATED', owner)"}, nil},
		"refused settlements are charged": {"no fault", rewriting{"return answer('EXECUTION_LOST')", "redis.call('HSET', KEYS[1], 'b', int(f[3] + 1)) return answer('EXECUTION_LOST')"}, nil},
		"begins under another owner":      {"replies dropped", nil, func(s store) store { return forgetful{s} }},
		"unanswered is not executed":      {"replies dropped for long", optimistic{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := slices.IndexFunc(nemeses, func(n nemesis) bool { return n.name == m.nemesis })
			r := play(t, nemeses[i], 7, 2*slice, func(c redis.UniversalClient) {
				if m.hook != nil {
					c.AddHook(m.hook)
				}
			}, m.wrap)
			require.NotEmpty(t, r.violations)
			first, _, _ := strings.Cut(r.violations[0], "\n")
			t.Logf("caught after %d operations: %s", r.operations, first)
		})
	}
}

// TestAHookAloneBreaksNothing is the mutants' control.
func TestAHookAloneBreaksNothing(t *testing.T) {
	r := play(t, nemeses[0], 7, slice, func(c redis.UniversalClient) { c.AddHook(rewriting{"not in any script", ""}) },
		func(s store) store { return forgetful{s} })
	require.Empty(t, r.violations)
}

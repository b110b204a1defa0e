package executortest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/executortest"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// source is what the plain tool reads.
type source struct {
	calls, running, stops atomic.Int64
	down                  atomic.Bool
}

// plain is the smallest tool that keeps every promise. Its request is {"source":…,"do":…}.
type plain struct {
	source *source
	// prepare and execute, when set, replace the methods: that is how it is broken.
	prepare func(plain, json.RawMessage, tool.Scope) (tool.Plan, error)
	execute func(plain, context.Context, tool.Plan, limits.RawBytes) (json.RawMessage, error)
	// describe, when set, changes the description.
	describe func(*tool.Description)
}

func (p plain) Describe() tool.Description {
	object := json.RawMessage(`{"type":"object"}`)
	d := tool.Description{
		Name: "plain", Text: "plain", ReadOnly: true, InputSchema: object, OutputSchema: object,
		DataSources: []string{"s"},
	}
	if p.describe != nil {
		p.describe(&d)
	}
	return d
}

func (p plain) Prepare(raw json.RawMessage, scope tool.Scope) (tool.Plan, error) {
	if p.prepare != nil {
		return p.prepare(p, raw, scope)
	}
	return prepare(raw, scope)
}

func prepare(raw json.RawMessage, scope tool.Scope) (tool.Plan, error) {
	invalid := fault.New(fault.RequestInvalid)
	var members map[string]string
	if json.Unmarshal(raw, &members) != nil || len(members) != 2 || members["do"] == "" {
		return tool.Plan{}, invalid
	}
	id, known := members["source"]
	if !known {
		return tool.Plan{}, invalid
	}
	if id != "s" || scope.Check(id) != nil {
		return tool.Plan{}, fault.New(fault.DataSourceUnknown)
	}
	if members["do"] == "refuse" {
		return tool.Plan{}, fault.Because(fault.QueryRejected, "NO", "no")
	}
	return tool.Plan{DataSource: id, Body: strings.Clone(members["do"])}, nil
}

func (p plain) Execute(ctx context.Context, plan tool.Plan, limit limits.RawBytes) (json.RawMessage, error) {
	if p.execute != nil {
		return p.execute(p, ctx, plan, limit)
	}
	return p.run(ctx, plan, limit)
}

func (p plain) run(ctx context.Context, plan tool.Plan, limit limits.RawBytes) (json.RawMessage, error) {
	do, ok := plan.Body.(string)
	if !ok || plan.DataSource != "s" {
		return nil, fault.New(fault.Internal)
	}
	if err := ctx.Err(); err != nil {
		return nil, fault.Of(err)
	}
	if p.source.down.Load() {
		return nil, fault.New(fault.DataSourceUnavailable)
	}
	p.source.calls.Add(1)
	p.source.running.Add(1)
	defer p.source.running.Add(-1)
	switch do {
	case "fail":
		return nil, fault.New(fault.ExecutionFailed)
	case "slow":
		<-ctx.Done()
		return nil, fault.Of(ctx.Err())
	}
	b := limits.Buffer{Limit: limit}
	text := []byte(`"` + do + `"`)
	if do == "large" {
		text = bytes.Repeat([]byte("x"), 1<<16)
	}
	for range map[bool]int{true: 2000, false: 1}[do == "large"] {
		if _, err := b.Write(text); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

func request(do string) json.RawMessage { return json.RawMessage(`{"source":"s","do":"` + do + `"}`) }

func subject(p plain) executortest.Subject {
	s := &source{}
	p.source = s
	return executortest.Subject{
		New:   func(kit.T) ports.Executor { return p },
		Scope: tool.Scope{DataSources: []string{"s"}},
		Echo:  request, Large: request("large"), Slow: request("slow"),
		Failing: request("fail"), FailsWith: fault.ExecutionFailed,
		Refused: []executortest.Refused{{Why: "it says so", Request: request("refuse"), Code: fault.QueryRejected}},
		Running: func(kit.T) int { return int(s.running.Load()) },
		Calls:   func(kit.T) int { return int(s.calls.Load()) },
		Secrets: []string{"hunter2"}, Patience: 2 * time.Second,
		Break: func(kit.T) func() {
			s.down.Store(true)
			return func() { s.down.Store(false) }
		},
	}
}

func TestPlainToolPasses(t *testing.T) { executortest.Test(t, subject(plain{})) }

type breakage struct {
	tool   plain
	breaks []string
}

func TestBrokenToolsAreCaught(t *testing.T) {
	for name, c := range brokenTools() {
		t.Run(name, func(t *testing.T) { // one by one: a case measures the process's memory
			broken := violationsOf(t, subject(c.tool))
			require.Equal(t, c.breaks, kit.Names(broken), "%v", broken)
			for name, failures := range broken {
				require.NotContains(t, strings.Join(failures, ""), "nil pointer", name)
			}
		})
	}
}

// violationsOf runs the suite in a bubble, whose time passes only when everybody waits: however busy
// the machine is, a broken tool fails the same cases.
func violationsOf(t *testing.T, subject executortest.Subject) (broken map[string][]string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { broken = executortest.Violations(t.Context(), subject) })
	return broken
}

func TestAToolWithoutBreakIsAnException(t *testing.T) {
	bare := subject(plain{})
	bare.Break = nil
	broken := violationsOf(t, bare)
	require.Equal(t, []string{"Execute/SourceIsUnreachable"}, kit.Names(broken))
	require.Contains(t, strings.Join(broken["Execute/SourceIsUnreachable"], ""), "give the reason")
}

// answer is what an execution returned.
type answer struct {
	raw json.RawMessage
	err error
}

// after returns a plain tool whose Execute is followed by f, which may change the answer.
func after(f func(p plain, ctx context.Context, plan tool.Plan, a *answer)) plain {
	return instead(func(p plain, ctx context.Context, plan tool.Plan, limit limits.RawBytes) (json.RawMessage, error) {
		var a answer
		a.raw, a.err = p.run(ctx, plan, limit)
		f(p, ctx, plan, &a)
		return a.raw, a.err
	})
}

// instead returns a plain tool with another Execute.
func instead(f func(plain, context.Context, tool.Plan, limits.RawBytes) (json.RawMessage, error)) plain {
	return plain{execute: f}
}

func brokenTools() map[string]breakage {
	var mu sync.Mutex
	var kept json.RawMessage
	return map[string]breakage{
		"writes": {plain{describe: func(d *tool.Description) { d.ReadOnly = false }}, []string{"Describe/IsConstant"}},
		"calls the source in Prepare": {
			plain{prepare: func(p plain, raw json.RawMessage, s tool.Scope) (tool.Plan, error) {
				p.source.calls.Add(1)
				return prepare(raw, s)
			}}, []string{"Prepare/TouchesNoSource"}},
		"ignores the scope": {plain{prepare: func(p plain, raw json.RawMessage, s tool.Scope) (tool.Plan, error) {
			return prepare(raw, tool.Scope{DataSources: []string{"s"}})
		}}, []string{"Prepare/RefusesSourcesOutsideTheScope"}},
		"tells granted from existing": {
			plain{prepare: func(p plain, raw json.RawMessage, s tool.Scope) (tool.Plan, error) {
				plan, err := prepare(raw, s)
				if fault.CodeOf(err) == fault.DataSourceUnknown && !bytes.Contains(raw, []byte("no_such")) {
					err = fault.Because(fault.DataSourceUnknown, "NOT_GRANTED", "")
				}
				return plan, err
			}}, []string{"Prepare/RefusesSourcesOutsideTheScope"}},
		"folds letter case": {plain{prepare: func(p plain, raw json.RawMessage, s tool.Scope) (tool.Plan, error) {
			lower := strings.NewReplacer(`"DO"`, `"do"`, `"Do"`, `"do"`).Replace(string(raw))
			return prepare(json.RawMessage(lower), s)
		}}, []string{"Prepare/RefusesUnknownMembers"}},
		"panics on null": {plain{prepare: func(p plain, raw json.RawMessage, s tool.Scope) (tool.Plan, error) {
			if bytes.Contains(raw, []byte("null")) {
				panic("null")
			}
			return prepare(raw, s)
		}}, []string{"Prepare/NeverPanics"}},
		"changes the request": {plain{prepare: func(p plain, raw json.RawMessage, s tool.Scope) (tool.Plan, error) {
			plan, err := prepare(raw, s)
			if i := bytes.Index(raw, []byte("text")); i > 0 {
				raw[i] = 'T'
			}
			return plan, err
		}}, []string{"Prepare/AcceptsAndLeavesTheRequest"}},
		"keeps the request": {plain{prepare: func(p plain, raw json.RawMessage, s tool.Scope) (tool.Plan, error) {
			plan, err := prepare(raw, s)
			if err == nil && bytes.Contains(raw, []byte("text")) {
				plan.Body = raw
			}
			return plan, err
		}, execute: func(
			p plain, ctx context.Context, plan tool.Plan, limit limits.RawBytes,
		) (json.RawMessage, error) {
			if raw, ok := plan.Body.(json.RawMessage); ok {
				return raw, nil
			}
			return p.run(ctx, plan, limit)
		}}, []string{"Prepare/AcceptsAndLeavesTheRequest"}},
		"accepts what it must refuse": {
			plain{prepare: func(p plain, raw json.RawMessage, s tool.Scope) (tool.Plan, error) {
				return prepare(bytes.ReplaceAll(raw, []byte("refuse"), []byte("x")), s)
			}}, []string{"Prepare/RefusesWithItsCode", "Prepare/TouchesNoSource"}},
		"lets work run on": {after(func(p plain, _ context.Context, plan tool.Plan, _ *answer) {
			if plan.Body == "slow" {
				p.source.running.Add(1)
				time.AfterFunc(time.Minute, func() { p.source.running.Add(-1) })
			}
		}), []string{"Execute/StopsAtTheDeadline", "Execute/StopsWhenCancelled", "Execute/WorksAfterStops"}},
		"calls a cancel a timeout": {after(func(_ plain, ctx context.Context, _ tool.Plan, a *answer) {
			if ctx.Err() != nil {
				*a = answer{err: fault.New(fault.ExecutionTimeout)}
			}
		}), []string{"Execute/DoesNotStartWhenEnded", "Execute/StopsWhenCancelled", "Execute/WorksAfterStops"}},
		"returns the context's error": {after(func(_ plain, ctx context.Context, _ tool.Plan, a *answer) {
			if ctx.Err() != nil {
				*a = answer{err: ctx.Err()}
			}
		}), []string{
			"Execute/DoesNotStartWhenEnded", "Execute/StopsAtTheDeadline", "Execute/StopsWhenCancelled",
			"Execute/WorksAfterStops",
		}},
		"ends before it is stopped": {instead(func(
			p plain, ctx context.Context, plan tool.Plan, limit limits.RawBytes,
		) (json.RawMessage, error) {
			if plan.Body == "slow" && ctx.Err() == nil {
				return json.RawMessage(`"slow"`), nil
			}
			return p.run(ctx, plan, limit)
		}), []string{"Execute/StopsAtTheDeadline", "Execute/StopsWhenCancelled", "Execute/WorksAfterStops"}},
		"returns errors that are no faults": {after(func(_ plain, _ context.Context, plan tool.Plan, a *answer) {
			if plan.Body == "fail" {
				*a = answer{err: errors.New("connect hunter2@db")}
			}
		}), []string{"Execute/FailsSafely"}},
		"returns faults that are nil": {after(func(_ plain, _ context.Context, plan tool.Plan, a *answer) {
			if plan.Body == "fail" {
				var none *fault.Error
				*a = answer{err: none}
			}
		}), []string{"Execute/FailsSafely"}},
		"panics beside the others": {after(func(_ plain, _ context.Context, plan tool.Plan, _ *answer) {
			if plan.Body == "caller7x" {
				panic("a map is written twice")
			}
		}), []string{"Execute/DoesNotMixCalls"}},
		"leaks in its detail": {after(func(_ plain, _ context.Context, plan tool.Plan, a *answer) {
			if plan.Body == "fail" {
				*a = answer{err: fault.Because(fault.ExecutionFailed, "X", "Access denied for hunter2")}
			}
		}), []string{"Execute/FailsSafely"}},
		"leaks in its cause": {after(func(_ plain, _ context.Context, plan tool.Plan, a *answer) {
			if plan.Body == "fail" {
				*a = answer{err: fault.Wrap(fault.ExecutionFailed, errors.New("Access denied for hunter2"))}
			}
		}), []string{"Execute/FailsSafely"}},
		"takes a silent source for an empty one": {after(func(p plain, _ context.Context, _ tool.Plan, a *answer) {
			if p.source.down.Load() {
				*a = answer{raw: json.RawMessage(`""`)}
			}
		}), []string{"Execute/SourceIsUnreachable"}},
		"does not come back": {after(func(p plain, _ context.Context, plan tool.Plan, a *answer) {
			if p.source.down.Load() {
				p.source.stops.Add(1000)
			}
			if p.source.stops.Load() >= 1000 && plan.Body == "down" {
				*a = answer{err: fault.New(fault.DataSourceUnavailable)}
			}
		}), []string{"Execute/SourceIsUnreachable"}},
		"shares its answer": {after(func(_ plain, _ context.Context, plan tool.Plan, a *answer) {
			if plan.Body != "once" {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if kept == nil {
				kept = a.raw
			}
			a.raw = kept
		}), []string{"Execute/AnswersInJSON"}},
		"cuts what is too large": {after(func(_ plain, _ context.Context, _ tool.Plan, a *answer) {
			if fault.CodeOf(a.err) == fault.ResultTooLarge {
				*a = answer{raw: json.RawMessage(`"cut"`)}
			}
		}), []string{"Execute/BoundsItsMemory", "Execute/StopsPastTheLimit"}},
		"reads everything first": {instead(readsEverything), []string{"Execute/BoundsItsMemory"}},
		"starts when it should not": {after(func(p plain, ctx context.Context, _ tool.Plan, _ *answer) {
			if ctx.Err() != nil {
				p.source.calls.Add(1)
			}
		}), []string{"Execute/DoesNotStartWhenEnded"}},
		"breaks after many stops": {after(func(p plain, ctx context.Context, _ tool.Plan, a *answer) {
			if ctx.Err() != nil {
				p.source.stops.Add(1)
			} else if p.source.stops.Load() > 10 {
				*a = answer{err: fault.New(fault.DataSourceUnavailable)}
			}
		}), []string{
			"Execute/DoesNotStartWhenEnded", "Execute/FailsSafely", "Execute/SourceIsUnreachable",
			"Execute/WorksAfterStops",
		}},
		"panics on foreign plans": {after(func(_ plain, _ context.Context, plan tool.Plan, _ *answer) {
			_ = plan.Body.(string)
		}), []string{"Execute/RefusesForeignPlans"}},
		"answers the previous caller": {answersThePrevious(), []string{"Execute/DoesNotMixCalls"}},
	}
}

// readsEverything holds what it has read for a while, so that the heap is certainly looked at.
func readsEverything(p plain, ctx context.Context, plan tool.Plan, limit limits.RawBytes) (json.RawMessage, error) {
	raw, err := p.run(ctx, plan, 1<<30)
	if err == nil && len(raw) > int(limit) {
		time.Sleep(time.Second)
		runtime.KeepAlive(raw)
		return nil, fault.New(fault.ResultTooLarge)
	}
	return raw, err
}

func answersThePrevious() plain {
	var mu sync.Mutex
	var last json.RawMessage
	return after(func(_ plain, _ context.Context, plan tool.Plan, a *answer) {
		if do, ok := plan.Body.(string); !ok || !strings.HasPrefix(do, "caller") || a.err != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		own := slices.Clone(a.raw)
		if last != nil {
			a.raw = last
		}
		last = own
	})
}

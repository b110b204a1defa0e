package storetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/record"
)

// Machine runs random histories of operations against a store and against the model, and
// requires equal answers. Every few steps the clock moves by a part of the Unit, over
// deadlines, leases and lives.
//
// A store with its own clock is read before and after each operation: whatever the model
// answers at some time in between, the operation's own timestamp first, is right.
func Machine(t *testing.T, subject Subject) {
	t.Helper()
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{stage: stage{rt, subject.New(rt)}, model: newModel(), prefix: fresh()}
		rt.Repeat(map[string]func(*rapid.T){
			"Open": m.open, "End": m.end, "Begin": m.begin, "BeginAgain": m.beginAgain, "Settle": m.settle,
			"Load":   m.load,
			"Refuse": m.refuse, "Ended": m.ended, "Advance": m.advance, "": m.check,
		})
	})
}

type machine struct {
	stage
	model  *model
	prefix string
	runs   []run.Run           // every incarnation that was ever opened or tried
	begun  []invocation.Record // every record that was tried
	nexts  []invocation.Record // every settlement that was tried
}

// compare runs op on the store and requires that the model gives the same answer at a time
// between before and after. stamp reads the operation's own time from an answer, if it has one.
func compare[A any](m *machine, op func() (A, error), stamp func(A) time.Time, at func(*model, time.Time) (A, error)) {
	m.Helper()
	before := m.Now(m).Truncate(time.Millisecond)
	got, err := op()
	after := m.Now(m).Truncate(time.Millisecond)
	times := []time.Time{before.Add(-time.Millisecond)}
	if own := stamp(got); err == nil && !own.Before(before) && !own.After(after) {
		times[0] = own
	}
	// Several things may come due while an operation is under way.
	for now := before; !now.After(after) && len(times) < mostTimes; now = now.Add(time.Millisecond) {
		times = append(times, now)
	}
	seen := map[string]bool{}
	for _, now := range append(times, after) {
		for _, lag := range []time.Duration{0, time.Millisecond} {
			next := m.model.clone()
			next.lag = lag
			want, wantErr := at(next, now.UTC())
			w := shown(want, wantErr)
			if w == shown(got, err) {
				m.model = next
				return
			}
			seen[w] = true
		}
	}
	require.Fail(m, "the store and the model disagree", "store: %s\nmodel: %v", shown(got, err),
		slices.Sorted(maps.Keys(seen)))
}

// mostTimes bounds how many times the model is asked.
const mostTimes = 500

// shown prints an answer and a fault so that equal ones print alike.
func shown(answer any, err error) string {
	if err != nil {
		f := fault.Of(err)
		return fmt.Sprintf("%s %s", f.Code, f.Reason)
	}
	switch a := answer.(type) {
	case run.Run:
		answer = tidy(a)
	case ports.Begun:
		return encoded(a.Record)
	case invocation.Record:
		return encoded(a)
	}
	b, err := json.Marshal(answer)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func never[A any](A) time.Time { return time.Time{} }

func (m *machine) store(t *rapid.T) ports.Store {
	return []ports.Store{m.Store, m.Other}[rapid.IntRange(0, 1).Draw(t, "process")]
}

// span draws a time of up to four fifths of the Unit, or one that never passes.
func (m *machine) span(t *rapid.T, label string) time.Duration {
	if n := rapid.IntRange(1, 8).Draw(t, label); n <= 4 {
		return (time.Duration(n) * m.Unit / 5).Truncate(time.Millisecond)
	}
	return long
}

func (m *machine) aRun(t *rapid.T) run.Run {
	if len(m.runs) == 0 || rapid.IntRange(0, 19).Draw(t, "ghost") == 0 {
		return plain("ghost")
	}
	return rapid.SampledFrom(m.runs).Draw(t, "run")
}

func (m *machine) open(t *rapid.T) {
	var r run.Run
	if len(m.runs) > 0 && rapid.Bool().Draw(t, "again") {
		r = rapid.SampledFrom(m.runs).Draw(t, "run")
	} else {
		r = plain(run.ID(fmt.Sprintf("%s.%d", m.prefix, rapid.IntRange(0, 3).Draw(t, "id"))))
		r.TTL, r.RecordTTL = m.span(t, "ttl"), m.span(t, "record ttl")
		r.Budget = run.Budget{
			MaxCalls: rapid.Int64Range(0, 6).Draw(t, "calls"), MaxBytes: rapid.Int64Range(0, 400).Draw(t, "bytes"),
			MaxRefusals: rapid.Int64Range(0, 2).Draw(t, "refusals"),
		}
		if rapid.Bool().Draw(t, "per tool") {
			r.Budget.MaxCallsPerTool = map[string]int64{toolName: rapid.Int64Range(0, 3).Draw(t, "tool calls")}
		}
		m.runs = append(m.runs, r)
	}
	store := m.store(t)
	compare(m, func() (run.Run, error) { return store.Open(m.Context(), r) },
		func(got run.Run) time.Time { return got.CreatedAt },
		func(model *model, now time.Time) (run.Run, error) { return model.open(now, r) })
}

func (m *machine) end(t *rapid.T) {
	r, store := m.aRun(t), m.store(t)
	to := rapid.SampledFrom([]run.State{run.Cancelled, run.Completed}).Draw(t, "to")
	compare(m, func() (run.Run, error) { return store.End(m.Context(), r.ID, to) }, never[run.Run],
		func(model *model, _ time.Time) (run.Run, error) { return model.end(r.ID, to) })
}

func (m *machine) begin(t *rapid.T) {
	r := m.aRun(t)
	id, size := rapid.IntRange(0, 4).Draw(t, "call"), rapid.IntRange(10, 60).Draw(t, "request")
	rec := sized(r, fmt.Sprintf("call_%d", id), size)
	rec.ToolName = rapid.SampledFrom([]string{toolName, "other"}).Draw(t, "tool")
	m.begun = append(m.begun, rec)
	m.tryBegin(t, rec, r.Incarnation)
}

func (m *machine) beginAgain(t *rapid.T) {
	if len(m.begun) == 0 {
		return
	}
	rec := rapid.SampledFrom(m.begun).Draw(t, "record")
	m.tryBegin(t, rec, m.model.runs[rec.RunID].Incarnation)
}

func (m *machine) tryBegin(t *rapid.T, rec invocation.Record, incarnation string) {
	lease, store := m.span(t, "lease"), m.store(t)
	compare(m, func() (ports.Begun, error) { return store.Begin(m.Context(), rec, incarnation, lease) },
		func(b ports.Begun) time.Time { return b.Record.StartedAt },
		func(model *model, now time.Time) (ports.Begun, error) {
			return model.begin(now, rec, incarnation, lease)
		})
}

func (m *machine) settle(t *rapid.T) {
	if len(m.begun) == 0 {
		return
	}
	var next invocation.Record
	if len(m.nexts) > 0 && rapid.IntRange(0, 3).Draw(t, "again") == 0 {
		next = rapid.SampledFrom(m.nexts).Draw(t, "settlement")
	} else {
		rec := rapid.SampledFrom(m.begun).Draw(t, "record")
		size := rapid.SampledFrom([]int{2, 40, 90, 20 << 10}).Draw(t, "raw")
		if rapid.Bool().Draw(t, "ready") {
			next = ready(t, rec, text(size), text(rapid.IntRange(2, 60).Draw(t, "agent")), evidence.None)
		} else {
			next = rec.FailedWithRaw(json.RawMessage(text(size)), fault.New(fault.ExecutionFailed), huge,
				record.EncodedLen)
		}
		m.nexts = append(m.nexts, next)
	}
	store := m.store(t)
	compare(m, func() (invocation.Record, error) { return store.Settle(m.Context(), next) },
		func(rec invocation.Record) time.Time { return rec.CompletedAt },
		func(model *model, now time.Time) (invocation.Record, error) { return model.settle(now, next) })
}

func (m *machine) load(t *rapid.T) {
	r, store := m.aRun(t), m.store(t)
	view := rapid.SampledFrom([]ports.View{ports.Whole, ports.Head, ports.Answer}).Draw(t, "view")
	for i := range 5 { // one by one: each may become lost at another time
		id := fmt.Sprintf("call_%d", i)
		compare(m, func() (map[string]ports.Found, error) { return store.Load(m.Context(), r.ID, view, id) },
			func(found map[string]ports.Found) time.Time { return found[id].Record.CompletedAt },
			func(model *model, now time.Time) (map[string]ports.Found, error) {
				return model.load(now, r.ID, view, id), nil
			})
	}
}

func (m *machine) refuse(t *rapid.T) {
	r, e, counts, store := m.aRun(t), entry(len(m.begun)), rapid.Bool().Draw(t, "counts"), m.store(t)
	var at time.Time
	compare(m, func() (string, error) {
		err := store.Refuse(m.Context(), r.ID, r.Incarnation, e, counts)
		if got, findErr := store.Find(m.Context(), r.ID); err == nil && findErr == nil {
			at = got.Refusals[len(got.Refusals)-1].At
		}
		return "", err
	}, func(string) time.Time { return at },
		func(model *model, now time.Time) (string, error) {
			return "", model.refuse(now, r.ID, r.Incarnation, e, counts)
		})
}

func (m *machine) ended(t *rapid.T) {
	ids := []run.ID{"ghost"}
	for i := range 4 {
		ids = append(ids, run.ID(fmt.Sprintf("%s.%d", m.prefix, i)))
	}
	store := m.store(t)
	for _, id := range ids {
		compare(m, func() (map[run.ID]fault.Code, error) { return store.Ended(m.Context(), id) },
			never[map[run.ID]fault.Code],
			func(model *model, now time.Time) (map[run.ID]fault.Code, error) { return model.ended(now, id), nil })
	}
}

func (m *machine) advance(t *rapid.T) {
	m.Advance(m, (time.Duration(rapid.IntRange(1, 3).Draw(t, "time")) * m.Unit / 5).Truncate(time.Millisecond))
}

// check compares every run after every step.
func (m *machine) check(*rapid.T) {
	for id, want := range m.model.runs {
		got, err := m.Other.Find(m.Context(), id)
		require.NoError(m, err)
		require.Equal(m, shown(want, nil), shown(got, nil))
	}
}

package storetest

import (
	"context"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// breakCases are about a process that is cut off from what it keeps. They are exceptions of a
// store that cannot be.
var breakCases = []storeCase{
	{Name: "Unreachable/IsStoreUnavailable", Scenarios: []string{"S23", "S24"},
		Rule:     "A store that is cut off answers every operation with STORE_UNAVAILABLE, and works again afterwards.",
		Promises: []string{"Store#1"},
		Body:     unreachable},
	{Name: "Begin/UnknownOutcomeIsClosedOff", Scenarios: []string{"S24"},
		Rule: "A Begin whose answer is lost is STORE_UNAVAILABLE, and soon its owner has no execution: the record is an " +
			"error, or there is none.",
		Promises: []string{"Invocations.Begin#6"},
		Body:     unknownBegin},
	{Name: "Settle/RepeatedAfterALostAnswer", Scenarios: []string{"S14", "S24"},
		Rule:     "A settlement whose answer was lost can be repeated; it is then answered, and charged once.",
		Promises: []string{"Invocations.Settle#5"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			next := s.answered(s.begin(s.open("r1"), "call_1"))
			heal := s.cut()
			_, err := s.Store.Settle(s.brief(), next)
			refused(t, err, fault.StoreUnavailable)
			heal()
			s.eventually("the settlement is answered", func() bool {
				got, err := s.Store.Settle(t.Context(), next)
				return err == nil && got.Status == invocation.Ready
			})
			require.EqualValues(t, len(request)+len(raw)+len(agent), s.find("r1").Usage.Bytes)
		}},
	{Name: "Watch/InterruptionsAreTold", Scenarios: []string{"S36"},
		Rule:     "A watcher that was cut off is told of the ends that it missed: by a call of subscribed.",
		Promises: []string{"Cancellations.Watch#2"},
		Body: func(t kit.T, subject Subject) {
			s := on(t, subject)
			r := s.open("r1")
			w := s.watch(s.Store, nil)
			s.ready(w)
			heal := s.cut()
			_, err := s.Other.End(t.Context(), r.ID, run.Cancelled)
			require.NoError(t, err)
			heal()
			s.told(w, r.ID)
		}},
	{Name: "Ended/ReturnsWhatItLearned", Scenarios: []string{"S36"},
		Rule: "When only a part of the store answers, Ended returns STORE_UNAVAILABLE together with what that part " +
			"says.",
		Promises: []string{"Cancellations.Ended#2"},
		Body:     partlyEnded},
}

// cut cuts the store off until heal is called, or the case ends.
func (s stage) cut() (heal func()) {
	s.Helper()
	require.NotNil(s, s.Break, "without Break this case is an exception: give the reason")
	heal = sync.OnceFunc(s.Break(s))
	s.Cleanup(heal)
	return heal
}

// brief returns a context for what is not going to be answered.
func (s stage) brief() context.Context {
	ctx, cancel := context.WithTimeout(s.Context(), 6*s.Unit)
	s.Cleanup(cancel)
	return ctx
}

// eventually waits until ok holds.
func (s stage) eventually(what string, ok func() bool) {
	s.Helper()
	for limit := time.Now().Add(s.Patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			require.Fail(s, "it did not happen: "+what)
		}
	}
}

func unreachable(t kit.T, subject Subject) {
	s := on(t, subject)
	r := s.open("r1")
	next, late := s.answered(s.begin(r, "call_1")), call(r, "call_2")
	heal := s.cut()
	ctx := s.brief()
	var all sync.WaitGroup
	errs := map[string]*error{}
	for name, op := range map[string]func() error{
		"Open":   func() error { _, err := s.Store.Open(ctx, plain("r2")); return err },
		"Find":   func() error { _, err := s.Store.Find(ctx, "r1"); return err },
		"End":    func() error { _, err := s.Store.End(ctx, "r1", run.Completed); return err },
		"Begin":  func() error { _, err := s.Store.Begin(ctx, late, r.Incarnation, long); return err },
		"Settle": func() error { _, err := s.Store.Settle(ctx, next); return err },
		"Load":   func() error { _, err := s.Store.Load(ctx, "r1", ports.Whole, "call_1"); return err },
		"Refuse": func() error { return s.Store.Refuse(ctx, "r1", r.Incarnation, entry(1), true) },
		"Ended":  func() error { _, err := s.Store.Ended(ctx, "r1"); return err },
	} {
		err := new(error)
		errs[name] = err
		all.Go(func() { *err = kit.Catch(op) })
	}
	all.Wait()
	for name, err := range errs {
		require.Equal(t, fault.StoreUnavailable, codeOf(*err), "%s: %v", name, *err)
		refused(t, *err, fault.StoreUnavailable)
	}
	heal()
	s.eventually("the store works again", func() bool { _, err := s.Store.Find(t.Context(), "r1"); return err == nil })
}

func unknownBegin(t kit.T, subject Subject) {
	s := on(t, subject)
	r := s.open("r1")
	s.begin(r, "before")
	lost := make([]invocation.Record, 4)
	for i := range lost {
		lost[i] = call(r, fresh())
	}
	heal := s.cut()
	ctx := s.brief()
	outcomes := s.atOnce(len(lost), func(i int) error {
		_, err := s.Store.Begin(ctx, lost[i], r.Incarnation, long)
		return err
	})
	require.Equal(t, map[fault.Code]int{fault.StoreUnavailable: len(lost)}, outcomes)
	heal()
	recorded := int64(1)
	for _, rec := range lost {
		var found ports.Found
		var known bool
		s.eventually("the execution is closed off", func() bool {
			found, known = s.load("r1", rec.ToolCallID)
			require.Nil(t, found.Fault)
			return !known || found.Record.Owner == rec.Owner && found.Record.Status == invocation.Error
		})
		_, err := s.Other.Settle(t.Context(), s.answered(rec))
		if !known {
			refused(t, err, fault.InvocationNotFound)
			continue
		}
		recorded++
		require.Equal(t, fault.StoreUnavailable, found.Record.ErrorCode)
		refused(t, err, fault.ExecutionLost)
		refused(t, s.tryBegin(r, call(r, rec.ToolCallID)), fault.DuplicateToolCall)
		require.Error(t, s.tryBegin(r, rec), "its owner cannot begin it again")
	}
	require.Equal(t, recorded, s.find("r1").Usage.Calls, "what is spent is what is recorded")
}

func partlyEnded(t kit.T, subject Subject) {
	s := on(t, subject)
	require.NotNil(t, s.BreakRun, "without BreakRun this case is an exception: give the reason")
	var ids []run.ID
	for range 12 {
		r := s.open(run.ID(fresh()))
		_, err := s.Other.End(t.Context(), r.ID, run.Cancelled)
		require.NoError(t, err)
		ids = append(ids, r.ID)
	}
	heal := sync.OnceFunc(s.BreakRun(t, ids[0]))
	t.Cleanup(heal)
	over, err := s.Store.Ended(s.brief(), ids...)
	refused(t, err, fault.StoreUnavailable)
	require.NotContains(t, over, ids[0])
	require.NotEmpty(t, over, "the runs that are kept elsewhere")
	for id, code := range over {
		require.Equal(t, fault.ExecutionCancelled, code, "%s", id)
	}
	heal()
	s.eventually("every run is known again", func() bool {
		over, err := s.Store.Ended(t.Context(), ids...)
		return err == nil && len(over) == len(ids)
	})
}

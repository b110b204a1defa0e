// Package fault tests that the store on Redis is linearizable while Redis and the network fail:
// random clients, real faults, and porcupine over what the clients were told. Stores that are
// broken on purpose show that it would be noticed.
//
// A normal run is a slice of 600 operations for each kind of fault, with fixed seeds;
// TOOLBOUNDARY_FAULT=full makes it 50,000.
package fault

import (
	"fmt"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
)

const (
	idsPerRun = 4
	budget    = 3 // fewer calls than ids, so that the budget is met
)

// kind is what an operation does.
type kind int

const (
	begin kind = iota
	settle
	end
	load
	fence // what the store does by itself after a Begin of unknown outcome
)

// input is one operation on one run. Owners are numbered within their run.
type input struct {
	kind  kind
	id    int
	owner int
	// digest tells settlements apart, and whether it is one to READY.
	digest int
	ready  bool
	to     run.State
}

// output is what the client was told: a code (none for success) and what was stored.
type output struct {
	code   fault.Code
	reason string
	record seen
	state  run.State
}

// seen is a record as far as the model knows one.
type seen struct {
	status invocation.Status
	owner  int
	code   fault.Code
}

// call is what the model knows of a tool call.
type call struct {
	seen
	digest int
}

// state is one run. Arrays make it comparable.
type state struct {
	state run.State
	calls int
	call  [idsPerRun]call
	fence uint64 // owners that may never begin
}

// step says whether the output is what a store in this state answers, and the state after.
// Whatever is told as STORE_UNAVAILABLE may have happened: such an operation has no end in the
// history, so the checker may also put it after everything that was seen.
func step(s state, in input, out output) (bool, state) {
	unknown := out.code == fault.StoreUnavailable
	next, want := apply(s, in)
	switch {
	case unknown || in.kind == fence:
		return true, next
	default:
		return want == out, next
	}
}

func apply(s state, in input) (state, output) {
	c := &s.call[in.id]
	switch in.kind {
	case begin:
		return applyBegin(s, in)
	case settle:
		return applySettle(s, in)
	case end:
		if s.state == run.Active {
			s.state = in.to
		}
		if s.state != in.to {
			return s, output{code: fault.RunInactive}
		}
		return s, output{state: in.to}
	case fence:
		switch {
		case c.status == "":
			s.fence |= 1 << in.owner
		case c.status == invocation.Projecting && c.owner == in.owner:
			*c = call{seen{invocation.Error, in.owner, fault.StoreUnavailable}, 0}
		}
		return s, output{}
	default:
		return s, output{record: c.seen}
	}
}

func applyBegin(s state, in input) (state, output) {
	c := &s.call[in.id]
	switch {
	case c.status == invocation.Projecting && c.owner == in.owner:
		return s, output{record: c.seen}
	case s.fence&(1<<in.owner) != 0:
		return s, output{code: fault.StoreUnavailable}
	case s.state != run.Active:
		return s, output{code: fault.RunInactive}
	case c.status != "":
		return s, output{code: fault.DuplicateToolCall, reason: string(c.status)}
	case s.calls >= budget:
		return s, output{code: fault.RunBudgetExhausted}
	}
	s.calls++
	*c = call{seen{invocation.Projecting, in.owner, ""}, 0}
	return s, output{record: c.seen}
}

func applySettle(s state, in input) (state, output) {
	c := &s.call[in.id]
	switch {
	case c.status == "":
		return s, output{code: fault.InvocationNotFound}
	case c.status != invocation.Projecting && c.owner == in.owner && c.digest == in.digest:
		return s, output{record: c.seen}
	case c.status != invocation.Projecting || c.owner != in.owner:
		return s, output{code: fault.ExecutionLost}
	}
	c.digest = in.digest
	switch {
	case !in.ready:
		c.seen = seen{invocation.Error, in.owner, fault.ExecutionFailed}
	case s.state != run.Active:
		c.seen = seen{invocation.Error, in.owner, fault.ExecutionCancelled}
	default:
		c.seen = seen{invocation.Ready, in.owner, ""}
	}
	return s, output{record: c.seen}
}

func describe(in input, out output) string {
	names := [...]string{"Begin", "Settle", "End", "Load", "fence"}
	return fmt.Sprintf("%s %+v -> %+v", names[in.kind], in, out)
}

// Package ports holds the promises that adapters keep: store, executor, projector, clock.
// Each promise below has a case of the same meaning in test/contract.
package ports

import (
	"context"
	"time"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
)

// Store is everything that a store adapter keeps. Each part has its own promises; a use case asks
// for the parts that it needs.
type Store interface {
	Runs
	Invocations
	Refusals
	Cancellations
}

// Runs keeps runs. Every error is a fault; a store that cannot answer is STORE_UNAVAILABLE.
type Runs interface {
	// Open creates the run, sets CreatedAt and Deadline by the store's clock and returns it.
	//  - MUST return RUN_EXISTS, and change nothing, when a run of that id exists under another
	//    incarnation, ended or not;
	//  - MUST answer a repeated Open of the same incarnation with the run as it stands.
	Open(ctx context.Context, r run.Run) (run.Run, error)
	// Find returns the run with usage, tool_call_ids and refusals, or RUN_NOT_FOUND. It MUST NOT
	// change the run's life. A run outlives every one of its records, and by 15 minutes at least,
	// so that its agent tokens never meet another run of the same id.
	Find(ctx context.Context, id run.ID) (run.Run, error)
	// End moves an active run to Cancelled or Completed, atomically, tells every watcher
	// (Cancellations), and returns the run. Repeating it is idempotent; an end of another kind
	// is RUN_INACTIVE and changes nothing. A run past its deadline can still be ended.
	End(ctx context.Context, id run.ID, to run.State) (run.Run, error)
}

// Begun is what a store says of a call that may run.
type Begun struct {
	// Record is the record as stored, with the store's times.
	Record invocation.Record
	// Remaining is the time from now to the run's deadline, by the store's clock.
	Remaining time.Duration
}

// Invocations keeps canonical records. Every error is a fault.
type Invocations interface {
	// Begin creates the PROJECTING record, with StartedAt now and LeaseUntil now + lease, and
	// spends the run's budget, in one atomic step.
	//  - MUST refuse with the first that holds of RUN_NOT_FOUND (also: another incarnation),
	//    RUN_INACTIVE, RUN_DEADLINE_EXCEEDED, DUPLICATE_TOOL_CALL (Reason: the first call's
	//    status), and the faults of run.Run.Spend; a refusal changes nothing (S06–S09);
	//  - MUST recognise a repeated Begin of the same owner as its own and answer it as before;
	//  - MUST set the record's expiry once, to now + the run's RecordTTL (S18);
	//  - MUST return STORE_UNAVAILABLE when it does not know whether the record was created,
	//    and then see to it that it can never be executed under this owner.
	// A duplicate stays one also after the record expired, for as long as the run is known.
	Begin(ctx context.Context, rec invocation.Record, incarnation string, lease time.Duration) (Begun, error)
	// Settle replaces the PROJECTING record by next, READY or ERROR, with CompletedAt now and the
	// exact expiry kept, charges its bytes, and returns the record as stored; one atomic step.
	//  - next READY and the run over by the store's clock: next.Interrupted(code) is stored (S14);
	//  - bytes that do not fit the run's budget: next.Exhausted() is stored;
	//  - MUST return INVOCATION_NOT_FOUND and write nothing when the record is gone (S19);
	//  - MUST return the stored record without a fault when the same settlement (owner, digest)
	//    is repeated, and EXECUTION_LOST, writing nothing, when the record is terminal otherwise
	//    or has another owner.
	Settle(ctx context.Context, next invocation.Record) (invocation.Record, error)
	// Load returns what is known of each id; ids without a record are absent from the map. With
	// view Head the bodies are left out, with view Answer all but the agent result.
	//  - MUST NOT issue any expiry command (S18);
	//  - MUST settle a PROJECTING record whose lease has passed to Lost(), atomically, first (S16);
	//  - MUST report a value that is no record, or not this key's record, as a fault of that id
	//    alone (INTERNAL), and never overwrite it (S23);
	//  - MUST hand out bytes that the caller may change.
	Load(ctx context.Context, id run.ID, view View, toolCallIDs ...string) (map[string]Found, error)
}

// View says how much of a record is loaded.
type View int

// The views of Invocations.Load: the whole record, its head without bodies, or its answer: the
// head and the agent result, without request and raw response, for what agents read again.
const (
	Whole View = iota
	Head
	Answer
)

// Found is what Load knows of one tool call: a record, or why it cannot be read.
type Found struct {
	Record invocation.Record
	Fault  *fault.Error
}

// Refusals keeps a run's refusal log.
type Refusals interface {
	// Refuse counts the refusal (when counts is set) and logs it in the run, in one atomic step.
	// It returns nil when the refusal's own code stands, else the fault that overrides it, the
	// first that holds of RUN_NOT_FOUND (also: another incarnation), RUN_INACTIVE,
	// RUN_DEADLINE_EXCEEDED, REFUSAL_LIMIT_REACHED.
	Refuse(ctx context.Context, id run.ID, incarnation string, entry run.Refusal, counts bool) error
}

// Cancellations tells a process that runs have ended, wherever they were ended.
type Cancellations interface {
	// Watch calls ended for every run that ends, until ctx is done. Delivery is at most once and
	// may be interrupted: subscribed is called at the start and after every interruption, and
	// whoever has calls in flight then asks Ended.
	Watch(ctx context.Context, ended func(run.ID), subscribed func()) error
	// Ended returns those of the runs that are over, with the code that their calls in flight
	// end with: EXECUTION_CANCELLED or RUN_DEADLINE_EXCEEDED; a run that is not known is
	// EXECUTION_CANCELLED. One round trip. With an error it returns what it could learn all the
	// same.
	Ended(ctx context.Context, ids ...run.ID) (map[run.ID]fault.Code, error)
}

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

// Store is everything that a store adapter keeps. A use case asks for the parts that it needs.
// All parts have these promises:
//   - every error MUST be a fault without a word of the store's own, and STORE_UNAVAILABLE when the
//     store cannot answer (S23, S24);
//   - a store MUST keep copies of what it is given, and hand out copies that the caller may change;
//   - operations at the same time, of any number of processes, MUST have the effect of some order of
//     them, one after the other.
type Store interface {
	Runs
	Invocations
	Refusals
	Cancellations
}

// Runs keeps runs.
type Runs interface {
	// Open creates the run and returns it.
	//  - MUST set the state, an empty usage, CreatedAt and, TTL later, Deadline by the store's clock,
	//    and keep the rest as it is given;
	//  - MUST return RUN_EXISTS, and change nothing, when a run of that id exists under another
	//    incarnation, ended or not;
	//  - MUST answer a repeated Open of the same incarnation with the run as it is, and change nothing.
	Open(ctx context.Context, r run.Run) (run.Run, error)
	// Find returns the run.
	//  - MUST return it with its usage, its tool_call_ids in the order in which they began and its
	//    refusals, or RUN_NOT_FOUND;
	//  - MUST NOT change the run's life;
	//  - MUST know a run until run.Run.Forgotten, so that its agent tokens never meet another run of the
	//    same id (S18).
	Find(ctx context.Context, id run.ID) (run.Run, error)
	// End ends the run and returns it, or RUN_NOT_FOUND.
	//  - MUST move an active run to Cancelled or Completed, also past its deadline, in one atomic step;
	//  - MUST answer the same end repeated with the run as it is, and one of the other kind with
	//    RUN_INACTIVE, and then change nothing;
	//  - MUST tell every watcher (Cancellations).
	End(ctx context.Context, id run.ID, to run.State) (run.Run, error)
}

// Begun is what a store says of a call that may run.
type Begun struct {
	// Record is the record as stored, with the store's times.
	Record invocation.Record
	// Remaining is the time from now to the run's deadline, by the store's clock.
	Remaining time.Duration
}

// Invocations keeps canonical records.
type Invocations interface {
	// Begin begins the execution of a tool call, which rec.Owner then owns.
	//  - MUST create the PROJECTING record, with StartedAt now and LeaseUntil now + lease, and spend
	//    the run's budget, in one atomic step (S08, S09, S10);
	//  - MUST refuse with the first that holds of RUN_NOT_FOUND (also: another incarnation),
	//    RUN_INACTIVE, RUN_DEADLINE_EXCEEDED, DUPLICATE_TOOL_CALL (Reason: the first call's
	//    status), and the faults of run.Run.Spend; a refusal changes nothing (S06–S09);
	//  - MUST refuse a duplicate also after the record expired, for as long as the run is known;
	//  - MUST recognise a repeated Begin of the owner of a PROJECTING record as its own and answer it
	//    as before;
	//  - MUST set the record's expiry once, to now + the run's RecordTTL (S18);
	//  - MUST return STORE_UNAVAILABLE when it does not know whether the record was created,
	//    and then see to it that it can never be executed under this owner (S24).
	Begin(ctx context.Context, rec invocation.Record, incarnation string, lease time.Duration) (Begun, error)
	// Settle replaces the PROJECTING record by next, READY or ERROR, and returns it as stored.
	//  - MUST set CompletedAt to now, keep StartedAt, LeaseUntil and the exact expiry, and charge the
	//    record's bytes, in one atomic step (S14, S18);
	//  - MUST store next.Interrupted(code) when next is READY and the run over by the store's clock (S14);
	//  - MUST store next.Exhausted() when its bytes do not fit the run's budget (S09);
	//  - MUST return INVOCATION_NOT_FOUND and write nothing when the record is gone (S19);
	//  - MUST return the stored record without a fault when the same settlement (owner, digest)
	//    is repeated, and EXECUTION_LOST, writing nothing, when the record is terminal otherwise
	//    or has another owner (S14);
	//  - MUST return INTERNAL and write nothing when next is PROJECTING, or when what is stored is not
	//    a record of this key (S23).
	Settle(ctx context.Context, next invocation.Record) (invocation.Record, error)
	// Load returns what is known of each id.
	//  - MUST leave ids without a record out of the map;
	//  - MUST leave bodies out with view Head, and all but the agent result with view Answer;
	//  - MUST NOT issue any expiry command (S18);
	//  - MUST settle a PROJECTING record whose lease has passed to Lost(), atomically, first (S16);
	//  - MUST report a value that is not a record, or not this key's, as a fault of that id
	//    alone (INTERNAL), and never overwrite it (S23);
	//  - MUST read, and settle, a record with head members that it does not know: another version of
	//    the service wrote it (package ports/record).
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
	// Refuse notes a refusal in its run.
	//  - MUST count it, when counts is set, and log it with the store's time, in one atomic step; the
	//    log keeps the latest run.MaxRefusalLog;
	//  - MUST return nil when the refusal's own code holds, else the fault that overrides it, the
	//    first of RUN_NOT_FOUND (also: another incarnation), RUN_INACTIVE, RUN_DEADLINE_EXCEEDED,
	//    REFUSAL_LIMIT_REACHED, and then log nothing.
	Refuse(ctx context.Context, id run.ID, incarnation string, entry run.Refusal, counts bool) error
}

// Cancellations tells a process that runs have ended, wherever they were ended.
type Cancellations interface {
	// Watch runs until ctx is done. Delivery is at most once and may be interrupted; whoever has
	// calls in flight asks Ended each time that subscribed is called.
	//  - MUST call ended for every run that ends, wherever that is, and for nothing else (S36);
	//  - MUST call subscribed at the start and after every interruption;
	//  - MUST return nil when ctx is done.
	Watch(ctx context.Context, ended func(run.ID), subscribed func()) error
	// Ended returns those of the runs that are over, in one round trip to each server.
	//  - MUST return the code that their calls in flight end with: EXECUTION_CANCELLED, also for a
	//    run that is not known, or RUN_DEADLINE_EXCEEDED;
	//  - MUST return, together with an error, what it could learn all the same.
	Ended(ctx context.Context, ids ...run.ID) (map[run.ID]fault.Code, error)
}

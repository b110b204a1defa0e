package fault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/record"
)

// store is what the clients use.
type store interface {
	ports.Runs
	ports.Invocations
}

const (
	clients     = 12
	opsPerRun   = 36
	runsAtOnce  = 6
	largeAnswer = 40 << 10 // staged beside its script
	maxOwners   = 63
	// maxOpen is how many operations without an end a run may have: each may lie anywhere in
	// the rest of the history, and the check tries that out.
	maxOpen      = 6
	endOneIn     = 40
	leaseOfCalls = time.Hour // longer than any test: leases have tests of their own
)

// tried is an execution that a client has begun, or tried to.
type tried struct {
	rec   invocation.Record
	owner int
	id    int
}

// subject is one run under test and what is known of it.
type subject struct {
	run   run.Run
	since time.Time

	mu      sync.Mutex
	history []porcupine.Operation
	owners  map[string]int
	begun   []tried
	unknown []tried      // Begins of unknown outcome
	running map[int]bool // owners that were told to go ahead
	open    int          // operations without an end
	skipped int          // unanswered operations that changed nothing
	left    int          // operations still to do
}

// newSubject opens a run; opening is not under test, so it is repeated until it is answered.
func newSubject(ctx context.Context, s store, id run.ID) (*subject, error) {
	r := run.Run{
		ID: id, Incarnation: string(id), TTL: time.Hour, RecordTTL: time.Hour,
		Budget: run.Budget{MaxCalls: budget, MaxBytes: 1 << 40},
	}
	for {
		opened, err := s.Open(ctx, r)
		if fault.CodeOf(err) != fault.StoreUnavailable || ctx.Err() != nil {
			return &subject{
				run: opened, since: time.Now(), owners: map[string]int{}, running: map[int]bool{}, left: opsPerRun,
			}, err
		}
	}
}

// do performs one random operation as this client and records it.
func (s *subject) do(ctx context.Context, st store, client int, rng *rand.Rand) {
	s.mu.Lock()
	s.left--
	var own tried
	if len(s.begun) > 0 {
		own = s.begun[rng.IntN(len(s.begun))]
	}
	s.mu.Unlock()
	n := rng.IntN(endOneIn)
	switch {
	case n == 0:
		s.end(ctx, st, client, []run.State{run.Cancelled, run.Completed}[rng.IntN(2)])
	case n < endOneIn/4:
		s.load(ctx, st, client, rng.IntN(idsPerRun))
	case n < endOneIn/2 || own.rec.Owner == "":
		s.begin(ctx, st, client, s.fresh(rng.IntN(idsPerRun)))
	case n < endOneIn/2+endOneIn/10:
		s.begin(ctx, st, client, own)
	default:
		s.settle(ctx, st, client, own, 1+rng.IntN(4))
	}
}

// fresh returns a new execution of an id.
func (s *subject) fresh(id int) tried {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.owners) + 1
	owner := fmt.Sprintf("%0*d", invocation.OwnerLength, n)
	s.owners[owner] = n
	key := invocation.Key{RunID: s.run.ID, ToolCallID: callID(id)}
	rec := invocation.Begin(key, owner, "scripted", json.RawMessage(`{"q":1}`))
	return tried{rec: rec, owner: n, id: id}
}

func callID(id int) string { return fmt.Sprintf("call_%d", id) }

func (s *subject) begin(ctx context.Context, st store, client int, t tried) {
	s.record(client, input{kind: begin, id: t.id, owner: t.owner}, func() (output, error) {
		begun, err := st.Begin(ctx, t.rec, s.run.Incarnation, leaseOfCalls)
		got := s.see(begun.Record, err)
		s.mu.Lock()
		defer s.mu.Unlock()
		// From here on it may be settled or begun again. Before, nobody could: its owner is
		// still waiting.
		s.begun = append(s.begun, t)
		switch fault.CodeOf(err) {
		case "":
			s.running[t.owner] = true
		case fault.StoreUnavailable:
			if !errors.Is(err, redisstore.ErrNotExecuted) {
				s.unknown = append(s.unknown, t)
			}
		}
		return output{record: got}, err
	})
}

func (s *subject) settle(ctx context.Context, st store, client int, t tried, digest int) {
	next, ready := settlement(t.rec, digest)
	s.record(client, input{kind: settle, id: t.id, owner: t.owner, digest: digest, ready: ready},
		func() (output, error) {
			stored, err := st.Settle(ctx, next)
			return output{record: s.see(stored, err)}, err
		})
}

var huge = limits.Limits{Request: 1 << 30, Raw: 1 << 30, Record: 1 << 30, AgentResult: 1 << 30}

// settlement returns one of four next states: READY or ERROR, small or large.
func settlement(rec invocation.Record, digest int) (next invocation.Record, ready bool) {
	size := 20
	if digest > 2 {
		size = largeAnswer
	}
	raw := json.RawMessage(`"` + strings.Repeat("r", size) + `"`)
	if digest%2 == 0 {
		return rec.FailedWithRaw(raw, fault.New(fault.ExecutionFailed), huge, record.EncodedLen), false
	}
	next, err := rec.Ready(raw, evidence.Projection{AgentResult: json.RawMessage(`{}`), Status: evidence.Found}, huge,
		record.EncodedLen)
	if err != nil {
		panic(err) // the record is PROJECTING and the answer valid
	}
	return next, true
}

func (s *subject) end(ctx context.Context, st store, client int, to run.State) {
	s.record(client, input{kind: end, to: to}, func() (output, error) {
		ended, err := st.End(ctx, s.run.ID, to)
		if err != nil {
			return output{}, err
		}
		return output{state: ended.State}, nil
	})
}

func (s *subject) load(ctx context.Context, st store, client, id int) {
	s.record(client, input{kind: load, id: id}, func() (output, error) {
		found, err := st.Load(ctx, s.run.ID, ports.Whole, callID(id))
		f, ok := found[callID(id)]
		switch {
		case err != nil:
			return output{}, err
		case !ok:
			return output{}, nil
		case f.Fault != nil:
			return output{}, f.Fault
		default:
			return output{record: s.see(f.Record, nil)}, nil
		}
	})
}

// see reduces a record to what the model knows of one.
func (s *subject) see(rec invocation.Record, err error) seen {
	if err != nil {
		return seen{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return seen{rec.Status, s.owners[rec.Owner], rec.ErrorCode}
}

// record notes what was done, when, and what was told. An unanswered read says nothing, and a
// write that was certainly not executed is left out: the checker would find out if it was. Any
// other unanswered write has no end.
func (s *subject) record(client int, in input, op func() (output, error)) {
	called := time.Since(s.since).Nanoseconds()
	out, err := op()
	returned := time.Since(s.since).Nanoseconds()
	if err != nil {
		f := fault.Of(err)
		out = output{code: f.Code, reason: f.Reason}
	}
	unanswered := out.code == fault.StoreUnavailable
	if unanswered && (in.kind == load || errors.Is(err, redisstore.ErrNotExecuted)) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.skipped++
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if unanswered {
		returned = math.MaxInt64
		if s.open++; s.open >= maxOpen {
			s.left = 0
		}
	}
	done := porcupine.Operation{ClientId: client, Input: in, Call: called, Output: out, Return: returned}
	s.history = append(s.history, done)
	if unanswered && in.kind == begin {
		in.kind = fence
		done.Input, done.Output = in, output{}
		s.history = append(s.history, done)
	}
}

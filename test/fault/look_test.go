package fault

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
)

// lastLook reads the run after all trouble and checks it: no Begin of unknown outcome is still
// an execution, every record reads as the clients were told, and the budget is what the
// records say.
func (s *subject) lastLook(t *testing.T, st store, limit time.Time) []string {
	t.Helper()
	wrong := s.stillPending(t, st, limit)
	for id := range idsPerRun {
		s.load(t.Context(), st, 0, id)
	}
	got, err := st.Find(t.Context(), s.run.ID)
	require.NoError(t, err)
	var calls, bytes int64
	var last [idsPerRun]ending
	for id := range last {
		found, err := st.Load(t.Context(), s.run.ID, ports.Whole, callID(id))
		require.NoError(t, err)
		if f, ok := found[callID(id)]; ok {
			calls++
			bytes += int64(len(f.Record.Request)) + f.Record.Bytes()
			last[id] = s.ending(f.Record)
		}
	}
	if got.Usage.Calls != calls || got.Usage.Bytes != bytes || calls > budget {
		wrong = append(wrong, fmt.Sprintf("run %s: %d calls and %d bytes are charged, its records have %d and %d",
			s.run.ID, got.Usage.Calls, got.Usage.Bytes, calls, bytes))
	}
	s.settleTheUnknown(last, got.State)
	return append(wrong, s.violations()...)
}

// stillPending waits until the store has closed off every Begin that was not answered, and
// names those that it has not.
func (s *subject) stillPending(t *testing.T, st store, limit time.Time) (wrong []string) {
	t.Helper()
	for ; ; time.Sleep(5 * time.Millisecond) {
		wrong = nil
		for _, b := range s.unknown {
			if s.running[b.owner] {
				continue // another Begin of the same owner was answered
			}
			found, err := st.Load(t.Context(), s.run.ID, ports.Head, callID(b.id))
			if rec := found[callID(b.id)].Record; err != nil || rec.Owner == b.rec.Owner &&
				rec.Status == invocation.Projecting {
				wrong = append(wrong, fmt.Sprintf(
					"run %s: the Begin of %s by owner %d was unanswered and is still an execution",
					s.run.ID, callID(b.id), b.owner))
			}
		}
		if len(wrong) == 0 || time.Now().After(limit) {
			return wrong
		}
	}
}

// ending is how a record ended: by whom, and with which settlement.
type ending struct {
	owner, digest int
	code          fault.Code
}

func (s *subject) ending(rec invocation.Record) ending {
	e := ending{owner: s.owners[rec.Owner], code: rec.ErrorCode}
	begun := invocation.Begin(rec.Key(), rec.Owner, rec.ToolName, rec.Request)
	for digest := 1; digest <= 4; digest++ {
		next, ready := settlement(begun, digest)
		if rec.Digest == next.Digest || ready && rec.Digest == next.Interrupted(fault.ExecutionCancelled).Digest {
			e.digest = digest
		}
	}
	return e
}

// settleTheUnknown takes those unanswered operations out of the history that had no effect, as
// the end shows: records are never removed, so a Begin that happened is the record's owner, a
// settlement that happened is the record's, and the run is in the state of the End that
// happened. What is left may have happened at any time, and the checker tries out which.
func (s *subject) settleTheUnknown(last [idsPerRun]ending, state run.State) {
	s.history = slices.DeleteFunc(s.history, func(op porcupine.Operation) bool {
		in, out := op.Input.(input), op.Output.(output)
		e := last[in.id]
		switch {
		case in.kind == fence:
			return e.owner != in.owner || e.code != fault.StoreUnavailable
		case out.code != fault.StoreUnavailable:
			return false
		case in.kind == begin:
			return e.owner != in.owner
		case in.kind == settle:
			return e.owner != in.owner || e.digest != in.digest
		default:
			return state != in.to
		}
	})
}

package storetest

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// subjectOf is a subject of the reference, wrapped.
func subjectOf(wrap func(*reference) ports.Store) Subject {
	return Subject{New: func(kit.T) Instance {
		r := newReference()
		return r.instance(wrap(r))
	}}
}

// violationsOf returns what the wrapped reference breaks. Time is that of a bubble: it passes when
// everybody waits, so that no busy machine makes a case fail, and what never comes is not waited
// for.
func violationsOf(t *testing.T, wrap func(*reference) ports.Store) (broken map[string][]string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { broken = Violations(t.Context(), subjectOf(wrap)) })
	return broken
}

func TestTheReferenceKeepsTheContract(t *testing.T) {
	Test(t, subjectOf(func(r *reference) ports.Store { return r }))
}

func TestTheReferenceAgreesWithTheModel(t *testing.T) {
	Machine(t, subjectOf(func(r *reference) ports.Store { return r }))
}

// odd is legal: it gives empty lists for none, watches in short turns without ever naming a
// run, answers with local times and has a Remaining that lags.
type odd struct{ *reference }

func (o odd) Find(ctx context.Context, id run.ID) (run.Run, error) {
	r, err := o.reference.Find(ctx, id)
	r.ToolCallIDs, r.Refusals = append([]string{}, r.ToolCallIDs...), append([]run.Refusal{}, r.Refusals...)
	r.CreatedAt, r.Deadline = r.CreatedAt.Local(), r.Deadline.Local()
	return r, err
}

func (o odd) Watch(ctx context.Context, _ func(run.ID), subscribed func()) error {
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		subscribed()
		select {
		case <-tick.C:
		case <-ctx.Done():
			tick.Stop()
			return nil
		}
	}
}

func TestAnOddButLegalStorePasses(t *testing.T) {
	require.Empty(t, violationsOf(t, func(r *reference) ports.Store { return odd{r} }))
}

func TestAStoreThatCannotBeCutOffIsAnException(t *testing.T) {
	whole := subjectOf(func(r *reference) ports.Store { return r })
	var broken map[string][]string
	synctest.Test(t, func(t *testing.T) {
		broken = Violations(t.Context(), Subject{New: func(t kit.T) Instance {
			in := whole.New(t)
			in.Break, in.BreakRun = nil, nil
			return in
		}})
	})
	require.Equal(t, []string{
		"Begin/UnknownOutcomeIsClosedOff", "Ended/ReturnsWhatItLearned", "Settle/RepeatedAfterALostAnswer",
		"Unreachable/IsStoreUnavailable", "Watch/InterruptionsAreTold",
	}, kit.Names(broken))
	for name, failures := range broken {
		require.Contains(t, strings.Join(failures, ""), "this case is an exception: give the reason", name)
	}
}

// brokenStores pins each broken store to exactly the cases that it must fail. All of them fail in
// every run: what races does so because the crowd makes it.
var brokenStores = map[string]struct {
	wrap func(*reference) ports.Store
	want string
}{
	"reads renew": {func(r *reference) ports.Store { return readsRenew{r} },
		"Load/DoesNotRenewTTL Load/SettlesLostExecutions"},
	"settle renews": {func(r *reference) ports.Store { return settleRenews{r} },
		"Settle/KeepsTheExactExpiry"},
	"settle revives": {func(r *reference) ports.Store { return settleRevives{r} },
		"Settle/GoneIsNotBroughtBack"},
	"settle races": {func(r *reference) ports.Store { return settleRaces{r} },
		"Budget/AnswerBytesAreExactUnderConcurrency Load/LostOrSettledUnderConcurrency " +
			"Settle/OneWriterWinsUnderConcurrency"},
	"begin races": {func(r *reference) ports.Store { return beginRaces{r} },
		"Begin/OneIDRunsOnceUnderConcurrency Budget/CallsAreExactUnderConcurrency " +
			"Budget/ToolCallsAreExactUnderConcurrency"},
	"duplicates spend": {func(r *reference) ports.Store { return duplicatesSpend{r} },
		"Begin/OneIDRunsOnceUnderConcurrency Begin/RefusesDuplicates Begin/UnknownOutcomeIsClosedOff"},
	"owners duplicate": {func(r *reference) ports.Store { return ownersDuplicate{r} },
		"Begin/RepeatedByItsOwner Begin/SetsTheExpiryOnce"},
	"cancel ignored": {func(r *reference) ports.Store { return cancelIgnored{r} },
		"Settle/ReadyAfterTheEnd"},
	"anyone settles": {func(r *reference) ports.Store { return anyoneSettles{r} },
		"Settle/OnlyItsOwner"},
	"shares bytes": {func(r *reference) ports.Store { return sharesBytes{r} },
		"Load/HandsOutCopies"},
	"refuses in haste": {func(r *reference) ports.Store { return refusesInHaste{r} },
		"Begin/FirstThatHolds"},
	"loses too soon": {func(r *reference) ports.Store { return losesTooSoon{r} },
		"Begin/CreatesTheProjectingRecord Load/AnswerHoldsTheAgentResultOnly Load/LeavesLeasedExecutions " +
			"Load/ManyAtOnce " +
			"Load/ReadsWhatALaterVersionWrote Settle/ReadersSeeWholeRecords"},
	"never lost": {func(r *reference) ports.Store { return neverLost{r} },
		"Load/LostOrSettledUnderConcurrency Load/SettlesLostExecutions Settle/TakesOverWhatALaterVersionBegan"},
	"lost is shown only": {func(r *reference) ports.Store { return lostIsShownOnly{r} },
		"Load/LostOrSettledUnderConcurrency Load/SettlesLostExecutions"},
	"corrupt is absent": {func(r *reference) ports.Store { return corruptIsAbsent{r} },
		"Load/CorruptIsAFaultOfItsIDAlone"},
	"corrupt fails all": {func(r *reference) ports.Store { return corruptFailsAll{r} },
		"Load/CorruptIsAFaultOfItsIDAlone"},
	"overwrites corrupt": {func(r *reference) ports.Store { return overwritesBad{r} },
		"Settle/CorruptIsNotOverwritten"},
	"leaks its errors": {func(r *reference) ports.Store { return leaksItsErrors{r} },
		"Find/UnknownRun Settle/CorruptIsNotOverwritten Settle/OnlyToReadyOrError"},
	"returns nil faults": {func(r *reference) ports.Store { return returnsNilFaults{r} },
		"Find/UnknownRun"},
	"panics": {func(r *reference) ports.Store { return panics{r} },
		"Open/OneWinsUnderConcurrency Open/RefusesAnotherIncarnation"},
	"miscounts by one": {func(r *reference) ports.Store { return miscountsByOne{r} },
		"Refuse/LimitIsExact Refuse/LimitIsExactUnderConcurrency"},
	"keys meet": {func(r *reference) ports.Store { return keysMeet{r} },
		"Begin/KeysNeverMeet"},
	"any incarnation": {func(r *reference) ports.Store { return anyIncarnation{r} },
		"Begin/FirstThatHolds Begin/RefusesUnknownRuns"},
	"ends twice": {func(r *reference) ports.Store { return endsTwice{r} },
		"End/MovesOnce End/OneKindWinsUnderConcurrency Watch/TellsOfNothingElse"},
	"client's time": {func(r *reference) ports.Store { return clientsTime{r} },
		"Settle/KeepsTheStoresTimes"},
	"never tells": {func(r *reference) ports.Store { return neverTells{r} },
		"Watch/SlowWatchersAreTold Watch/TellsEveryWatcher Watch/TellsOfNothingElse"},
	"forgets for the slow": {func(r *reference) ports.Store { return forgetsForTheSlow{r} },
		"Watch/SlowWatchersAreTold"},
	"charges twice": {func(r *reference) ports.Store { return chargesTwice{r} },
		"Settle/ChargesItsBytesOnce Settle/ReadyAfterTheDeadline Settle/ReadyAfterTheEnd " +
			"Settle/RepeatedAfterALostAnswer " +
			"Settle/SameSettlementUnderConcurrency"},
	"keeps too much raw": {func(r *reference) ports.Store { return keepsTooMuchRaw{r} },
		"Budget/AnswerBytesAreExact Budget/RawOfFailuresIsCharged"},
	"reads its own version": {func(r *reference) ports.Store { return readsItsOwn{r} },
		"Load/ReadsWhatALaterVersionWrote"},
	"settles its own version": {func(r *reference) ports.Store { return settlesItsOwn{r} },
		"Settle/TakesOverWhatALaterVersionBegan"},
	"keeps unknown Begins": {func(r *reference) ports.Store { r.line.keepsUnknown = true; return r },
		"Begin/UnknownOutcomeIsClosedOff"},
	"hides interruptions": {func(r *reference) ports.Store { r.line.hidesInterruptions = true; return r },
		"Watch/InterruptionsAreTold"},
	"forgets what it learned": {func(r *reference) ports.Store { r.line.forgetsWhatItLearned = true; return r },
		"Ended/ReturnsWhatItLearned"},
	"takes silence for absence": {func(r *reference) ports.Store { r.line.saysNotFound = true; return r },
		"Begin/UnknownOutcomeIsClosedOff Ended/ReturnsWhatItLearned Settle/RepeatedAfterALostAnswer " +
			"Unreachable/IsStoreUnavailable"},
}

func TestBrokenStoresAreCaught(t *testing.T) {
	for name, c := range brokenStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := violationsOf(t, c.wrap)
			require.Equal(t, c.want, strings.Join(kit.Names(broken), " "), "%v", broken)
			for name, failures := range broken {
				require.NotContains(t, strings.Join(failures, ""), "nil pointer", name)
			}
		})
	}
}

package storetest

import (
	"context"
	"testing"
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
		in := r.instance(wrap(r))
		in.Patience = 200 * time.Millisecond
		return in
	}}
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
	require.Empty(t, Suite().Violations(t.Context(), subjectOf(func(r *reference) ports.Store { return odd{r} })))
}

// TestBrokenStoresAreCaught pins each broken store to exactly the cases that it must fail.
func TestBrokenStoresAreCaught(t *testing.T) {
	for name, c := range map[string]struct {
		wrap func(*reference) ports.Store
		want []string
	}{
		"reads renew":        {func(r *reference) ports.Store { return readsRenew{r} }, []string{"Load/DoesNotRenewTTL", "Load/SettlesLostExecutions"}},
		"settle renews":      {func(r *reference) ports.Store { return settleRenews{r} }, []string{"Settle/KeepsTheExactExpiry"}},
		"settle revives":     {func(r *reference) ports.Store { return settleRevives{r} }, []string{"Settle/GoneIsNotBroughtBack"}},
		"settle races":       {func(r *reference) ports.Store { return settleRaces{r} }, []string{"Budget/AnswerBytesAreExactUnderConcurrency", "Load/LostOrSettledUnderConcurrency", "Settle/OneWriterWinsUnderConcurrency"}},
		"begin races":        {func(r *reference) ports.Store { return beginRaces{r} }, []string{"Begin/OneIDRunsOnceUnderConcurrency", "Budget/CallsAreExactUnderConcurrency", "Budget/ToolCallsAreExactUnderConcurrency"}},
		"duplicates spend":   {func(r *reference) ports.Store { return duplicatesSpend{r} }, []string{"Begin/OneIDRunsOnceUnderConcurrency", "Begin/RefusesDuplicates"}},
		"owners duplicate":   {func(r *reference) ports.Store { return ownersDuplicate{r} }, []string{"Begin/RepeatedByItsOwner", "Begin/SetsTheExpiryOnce"}},
		"cancel ignored":     {func(r *reference) ports.Store { return cancelIgnored{r} }, []string{"Settle/ReadyAfterTheEnd"}},
		"anyone settles":     {func(r *reference) ports.Store { return anyoneSettles{r} }, []string{"Settle/OnlyItsOwner"}},
		"shares bytes":       {func(r *reference) ports.Store { return sharesBytes{r} }, []string{"Load/HandsOutCopies"}},
		"refuses in haste":   {func(r *reference) ports.Store { return refusesInHaste{r} }, []string{"Begin/FirstThatHolds"}},
		"loses too soon":     {func(r *reference) ports.Store { return losesTooSoon{r} }, []string{"Begin/CreatesTheProjectingRecord", "Load/AnswerHoldsTheAgentResultOnly", "Load/LeavesLeasedExecutions", "Load/ManyAtOnce", "Settle/ReadersSeeWholeRecords"}},
		"never lost":         {func(r *reference) ports.Store { return neverLost{r} }, []string{"Load/LostOrSettledUnderConcurrency", "Load/SettlesLostExecutions"}},
		"lost is shown only": {func(r *reference) ports.Store { return lostIsShownOnly{r} }, []string{"Load/LostOrSettledUnderConcurrency", "Load/SettlesLostExecutions"}},
		"corrupt is absent":  {func(r *reference) ports.Store { return corruptIsAbsent{r} }, []string{"Load/CorruptIsAFaultOfItsIDAlone"}},
		"corrupt fails all":  {func(r *reference) ports.Store { return corruptFailsAll{r} }, []string{"Load/CorruptIsAFaultOfItsIDAlone"}},
		"overwrites corrupt": {func(r *reference) ports.Store { return overwritesBad{r} }, []string{"Settle/CorruptIsNotOverwritten"}},
		"leaks its errors":   {func(r *reference) ports.Store { return leaksItsErrors{r} }, []string{"Find/UnknownRun", "Settle/CorruptIsNotOverwritten", "Settle/OnlyToReadyOrError"}},
		"miscounts by one":   {func(r *reference) ports.Store { return miscountsByOne{r} }, []string{"Refuse/LimitIsExact", "Refuse/LimitIsExactUnderConcurrency"}},
		"keys meet":          {func(r *reference) ports.Store { return keysMeet{r} }, []string{"Begin/KeysNeverMeet"}},
		"any incarnation":    {func(r *reference) ports.Store { return anyIncarnation{r} }, []string{"Begin/FirstThatHolds", "Begin/RefusesUnknownRuns"}},
		"ends twice":         {func(r *reference) ports.Store { return endsTwice{r} }, []string{"End/MovesOnce", "End/OneKindWinsUnderConcurrency", "Watch/TellsOfNothingElse"}},
		"client's time":      {func(r *reference) ports.Store { return clientsTime{r} }, []string{"Settle/KeepsTheStoresTimes"}},
		"never tells":        {func(r *reference) ports.Store { return neverTells{r} }, []string{"Watch/TellsEveryWatcher", "Watch/TellsOfNothingElse"}},
		"charges twice":      {func(r *reference) ports.Store { return chargesTwice{r} }, []string{"Settle/ChargesItsBytesOnce", "Settle/ReadyAfterTheDeadline", "Settle/ReadyAfterTheEnd", "Settle/SameSettlementUnderConcurrency"}},
		"keeps too much raw": {func(r *reference) ports.Store { return keepsTooMuchRaw{r} }, []string{"Budget/AnswerBytesAreExact", "Budget/RawOfFailuresIsCharged"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, Violations(t.Context(), subjectOf(c.wrap)))
		})
	}
}

package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// harnessOf is a harness of the reference, wrapped.
func harnessOf(wrap func(*reference) Store) Harness {
	return Harness{New: func(kit.T) Instance {
		r := newReference()
		in := r.instance(wrap(r))
		in.Patience = 200 * time.Millisecond
		return in
	}}
}

func TestTheReferenceKeepsTheContract(t *testing.T) {
	Run(t, harnessOf(func(r *reference) Store { return r }))
}

func TestTheReferenceAgreesWithTheModel(t *testing.T) {
	Machine(t, harnessOf(func(r *reference) Store { return r }))
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
	require.Empty(t, Suite().Violations(t.Context(), harnessOf(func(r *reference) Store { return odd{r} })))
}

// TestBrokenStoresAreCaught pins each broken store to exactly the cases that it must fail.
func TestBrokenStoresAreCaught(t *testing.T) {
	for name, c := range map[string]struct {
		wrap func(*reference) Store
		want []string
	}{
		"reads renew":        {func(r *reference) Store { return readsRenew{r} }, []string{"Load/DoesNotRenewTTL", "Load/SettlesLostExecutions"}},
		"settle renews":      {func(r *reference) Store { return settleRenews{r} }, []string{"Settle/KeepsTheExactExpiry"}},
		"settle revives":     {func(r *reference) Store { return settleRevives{r} }, []string{"Settle/GoneIsNotBroughtBack"}},
		"settle races":       {func(r *reference) Store { return settleRaces{r} }, []string{"Budget/AnswerBytesAreExactUnderConcurrency", "Load/LostOrSettledUnderConcurrency", "Settle/OneWriterWinsUnderConcurrency"}},
		"begin races":        {func(r *reference) Store { return beginRaces{r} }, []string{"Begin/OneIDRunsOnceUnderConcurrency", "Budget/CallsAreExactUnderConcurrency", "Budget/ToolCallsAreExactUnderConcurrency"}},
		"duplicates spend":   {func(r *reference) Store { return duplicatesSpend{r} }, []string{"Begin/OneIDRunsOnceUnderConcurrency", "Begin/RefusesDuplicates"}},
		"owners duplicate":   {func(r *reference) Store { return ownersDuplicate{r} }, []string{"Begin/RepeatedByItsOwner", "Begin/SetsTheExpiryOnce"}},
		"cancel ignored":     {func(r *reference) Store { return cancelIgnored{r} }, []string{"Settle/ReadyAfterTheEnd"}},
		"anyone settles":     {func(r *reference) Store { return anyoneSettles{r} }, []string{"Settle/OnlyItsOwner"}},
		"shares bytes":       {func(r *reference) Store { return sharesBytes{r} }, []string{"Load/HandsOutCopies"}},
		"refuses in haste":   {func(r *reference) Store { return refusesInHaste{r} }, []string{"Begin/FirstThatHolds"}},
		"loses too soon":     {func(r *reference) Store { return losesTooSoon{r} }, []string{"Begin/CreatesTheProjectingRecord", "Load/AnswerHoldsTheAgentResultOnly", "Load/LeavesLeasedExecutions", "Load/ManyAtOnce", "Settle/ReadersSeeWholeRecords"}},
		"never lost":         {func(r *reference) Store { return neverLost{r} }, []string{"Load/LostOrSettledUnderConcurrency", "Load/SettlesLostExecutions"}},
		"lost is shown only": {func(r *reference) Store { return lostIsShownOnly{r} }, []string{"Load/LostOrSettledUnderConcurrency", "Load/SettlesLostExecutions"}},
		"corrupt is absent":  {func(r *reference) Store { return corruptIsAbsent{r} }, []string{"Load/CorruptIsAFaultOfItsIDAlone"}},
		"corrupt fails all":  {func(r *reference) Store { return corruptFailsAll{r} }, []string{"Load/CorruptIsAFaultOfItsIDAlone"}},
		"overwrites corrupt": {func(r *reference) Store { return overwritesBad{r} }, []string{"Settle/CorruptIsNotOverwritten"}},
		"leaks its errors":   {func(r *reference) Store { return leaksItsErrors{r} }, []string{"Find/UnknownRun", "Settle/CorruptIsNotOverwritten", "Settle/OnlyToReadyOrError"}},
		"miscounts by one":   {func(r *reference) Store { return miscountsByOne{r} }, []string{"Refuse/LimitIsExact", "Refuse/LimitIsExactUnderConcurrency"}},
		"keys meet":          {func(r *reference) Store { return keysMeet{r} }, []string{"Begin/KeysNeverMeet"}},
		"any incarnation":    {func(r *reference) Store { return anyIncarnation{r} }, []string{"Begin/FirstThatHolds", "Begin/RefusesUnknownRuns"}},
		"ends twice":         {func(r *reference) Store { return endsTwice{r} }, []string{"End/MovesOnce", "End/OneKindWinsUnderConcurrency", "Watch/TellsOfNothingElse"}},
		"client's time":      {func(r *reference) Store { return clientsTime{r} }, []string{"Settle/KeepsTheStoresTimes"}},
		"never tells":        {func(r *reference) Store { return neverTells{r} }, []string{"Watch/TellsEveryWatcher", "Watch/TellsOfNothingElse"}},
		"charges twice":      {func(r *reference) Store { return chargesTwice{r} }, []string{"Settle/ChargesItsBytesOnce", "Settle/ReadyAfterTheDeadline", "Settle/ReadyAfterTheEnd", "Settle/SameSettlementUnderConcurrency"}},
		"keeps too much raw": {func(r *reference) Store { return keepsTooMuchRaw{r} }, []string{"Budget/AnswerBytesAreExact", "Budget/RawOfFailuresIsCharged"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, Violations(t.Context(), harnessOf(c.wrap)))
		})
	}
}

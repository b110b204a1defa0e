package memory_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/adapters/memory"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/contract/storetest"
)

// inProcess is why some cases cannot hold: they cut a process off from its store.
const inProcess = "the store is part of its process, which nothing cuts off from it"

var subject = storetest.Subject{
	New: func(kit.T) storetest.Instance {
		clock := fake.NewClock(time.Date(2026, 11, 30, 12, 0, 0, 123_456_789, time.UTC))
		s := memory.New(clock)
		return storetest.Instance{
			Store: s, Other: s, Unit: time.Second / 2,
			Advance: func(_ kit.T, d time.Duration) { clock.Advance(d) },
			Now:     func(kit.T) time.Time { return clock.Now() },
			Plant: func(t kit.T, key invocation.Key, value []byte) {
				require.True(t, s.Plant(key, value), "there is no record of %v to replace", key)
			},
			Stored:     func(_ kit.T, key invocation.Key) ([]byte, time.Time) { return s.Stored(key) },
			RunExpires: func(_ kit.T, id run.ID) time.Time { return s.RunExpires(id) },
		}
	},
	Exceptions: map[string]string{
		"Unreachable/IsStoreUnavailable":  inProcess,
		"Begin/UnknownOutcomeIsClosedOff": inProcess,
		"Settle/RepeatedAfterALostAnswer": inProcess,
		"Watch/InterruptionsAreTold":      inProcess,
		"Ended/ReturnsWhatItLearned":      inProcess,
	},
}

func TestStoreContract(t *testing.T) { storetest.Test(t, subject) }

func TestExpiredMemoryIsReleased(t *testing.T) {
	clock := fake.NewClock(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	s := memory.New(clock)
	for range 500 {
		r, err := s.Open(t.Context(), run.Run{
			ID: run.ID(time.Duration(clock.Now().UnixMilli()).String()), TTL: time.Minute, RecordTTL: time.Minute,
			Budget: run.Budget{MaxCalls: 1, MaxBytes: 100},
		})
		require.NoError(t, err)
		key := invocation.Key{RunID: r.ID, ToolCallID: "call_1"}
		rec := invocation.Begin(key, strings.Repeat("o", invocation.OwnerLength), "fake", []byte(`{}`))
		_, err = s.Begin(t.Context(), rec, "", time.Second)
		require.NoError(t, err)
		clock.Advance(30 * time.Second)
	}
	runs, records := s.Size()
	require.LessOrEqual(t, runs, 2*(1+1+15)+2, "runs in memory: two a minute, each for TTL, record TTL and grace")
	require.LessOrEqual(t, records, 4, "records in memory: two a minute, each for the record TTL")
}

func TestStoreMachine(t *testing.T) { storetest.Machine(t, subject) }

package slots_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/ports/slots"
)

func TestTakeWaitsForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slots.New(1, 3*time.Second)
		release, err := s.Take(t.Context())
		require.NoError(t, err)
		require.True(t, s.Full())

		since := time.Now()
		_, err = s.Take(t.Context())
		require.Equal(t, fault.DataSourceBusy, fault.CodeOf(err))
		require.Equal(t, "NO_FREE_SESSION", fault.Of(err).Reason)
		require.Equal(t, 3*time.Second, time.Since(since))

		time.AfterFunc(time.Second, release)
		release, err = s.Take(t.Context())
		require.NoError(t, err, "it was freed in time")
		release()
		require.False(t, s.Full())
	})
}

func TestAnEndedContextTakesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slots.New(1, time.Minute)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.Take(ended)
		require.Equal(t, fault.ExecutionCancelled, fault.CodeOf(err))
		require.False(t, s.Full())

		release, err := s.Take(t.Context())
		require.NoError(t, err)
		defer release()
		late, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		_, err = s.Take(late)
		require.Equal(t, fault.ExecutionTimeout, fault.CodeOf(err))
	})
}

func TestCloseWaitsForThoseThatWorkAndRefusesOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slots.New(1, time.Minute)
		release, err := s.Take(t.Context())
		require.NoError(t, err)
		waiter := make(chan error, 1)
		go func() {
			_, err := s.Take(t.Context())
			waiter <- err
		}()
		synctest.Wait()
		short, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		require.ErrorIs(t, s.Close(short), context.DeadlineExceeded)
		require.Equal(t, "CLOSED", fault.Of(<-waiter).Reason, "who waits is told at once")
		_, err = s.Take(t.Context())
		require.Equal(t, fault.DataSourceUnavailable, fault.CodeOf(err))

		time.AfterFunc(time.Second, release)
		require.NoError(t, s.Close(t.Context()))
		_, err = s.Take(t.Context())
		require.Equal(t, "CLOSED", fault.Of(err).Reason)
		require.NoError(t, s.Close(t.Context()), "repeating it is harmless")
	})
}

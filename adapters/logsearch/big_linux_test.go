package logsearch_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/logsearch"
	"github.com/toolboundary/toolboundary/domain/fault"
)

// sparse makes a file of that many bytes that takes no space, but for its two ends.
func sparse(t testing.TB, path string, size int64, first, last string) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, f.Truncate(size))
	_, err = f.WriteAt([]byte(first), 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte(last), size-int64(len(last)))
	require.NoError(t, err)
}

// peak runs f and returns how far the heap rose above where it stood.
func peak(f func()) int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	done, highest := make(chan struct{}), make(chan uint64)
	go func() {
		top := uint64(0)
		for tick := time.NewTicker(time.Millisecond); ; {
			runtime.ReadMemStats(&m)
			top = max(top, m.HeapAlloc)
			select {
			case <-done:
				highest <- top
				return
			case <-tick.C:
			}
		}
	}()
	f()
	close(done)
	return int64(<-highest) - int64(before)
}

const twoGiB = 2 << 30

func TestS20_S36_TwoGiB(t *testing.T) {
	root := t.TempDir()
	sparse(t, filepath.Join(root, "app.log"), twoGiB, "2026-11-30T11:00:00Z first line\nx", "\n2026-11-30T11:30:00Z ERROR in the last line\n")
	l := newTool(t, root, rfc3339, masked, func(s *logsearch.Source) { s.Timeout = 5 * time.Minute })

	t.Run("a match in the last line", func(t *testing.T) {
		var r raw
		began := time.Now()
		grown := peak(func() { r = search(t, l, map[string]any{"pattern": "ERROR", "start": "now-2h", "context": 1}) })
		t.Logf("searched in %s; the heap grew by %d KiB", time.Since(began).Round(time.Millisecond), grown>>10)
		require.Len(t, r.Lines, 1)
		require.Equal(t, []string{"app.log:3", "2026-11-30T11:30:00Z ERROR in the last line"}, []string{r.Lines[0].At, r.Lines[0].Text})
		require.EqualValues(t, twoGiB, r.Searched.Bytes)
		require.EqualValues(t, 3, r.Searched.Lines)
		require.EqualValues(t, 1, r.Searched.LongLines)
		require.Less(t, grown, int64(4<<20))
	})
	t.Run("a deadline of a millisecond", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		var err error
		began := time.Now()
		grown := peak(func() { _, err = execute(ctx, t, l, map[string]any{"pattern": "ERROR"}) })
		t.Logf("stopped after %s; the heap grew by %d KiB", time.Since(began).Round(time.Microsecond), grown>>10)
		require.Equal(t, fault.ExecutionTimeout, fault.CodeOf(err))
		require.Less(t, grown, int64(4<<20))
	})
	t.Run("a cancel in the middle", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() { _, err := execute(ctx, t, l, map[string]any{"pattern": "ERROR"}); failed <- err }()
		path := filepath.Join(root, "app.log")
		require.Eventually(t, func() bool { return openOf(t, path) == 1 }, 20*time.Second, 100*time.Microsecond)
		began := time.Now()
		cancel()
		require.Equal(t, fault.ExecutionCancelled, fault.CodeOf(<-failed))
		t.Logf("stopped %s after the cancel", time.Since(began).Round(time.Microsecond))
		require.Zero(t, openOf(t, path))
	})
	t.Run("zeros that were zipped", func(t *testing.T) {
		bomb := t.TempDir()
		zipSparse(t, filepath.Join(root, "app.log"), filepath.Join(bomb, "app.log.1.gz"), twoGiB/8)
		var r raw
		z := newTool(t, bomb, rfc3339, masked)
		grown := peak(func() { r = search(t, z, map[string]any{"pattern": "first"}) })
		require.Len(t, r.Lines, 1)
		require.EqualValues(t, twoGiB/8, r.Searched.Bytes)
		require.Less(t, grown, int64(4<<20))
	})
}

package logsearch_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/toolboundary/toolboundary/adapters/logsearch"
)

// TestS33_ExchangedNames exchanges an allowed file with a link to a hidden one, and an allowed
// directory with a link to a hidden one, atomically and as fast as it can, while searches run.
func TestS33_ExchangedNames(t *testing.T) {
	root := outside(t)
	evil := filepath.Join(root, "evil")
	require.NoError(t, os.Symlink("secret.txt", evil))
	evilDir := filepath.Join(root, "evildir")
	require.NoError(t, os.Symlink("private", evilDir))
	l := newTool(t, root, func(s *logsearch.Source) { s.Files = []string{"app.log", "nginx/access.log"} })

	var exchanging sync.WaitGroup
	defer exchanging.Wait()
	done := make(chan struct{})
	defer close(done)
	for name, other := range map[string]string{"app.log": evil, "nginx": evilDir} {
		exchanging.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_ = unix.Renameat2(unix.AT_FDCWD, filepath.Join(root, name), unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
				}
			}
		})
	}
	found := map[string]bool{}
	for range 2500 {
		text, err := execute(t.Context(), t, l, map[string]any{})
		require.NotContains(t, string(text), "SECRET")
		found[detail(err)] = true
	}
	require.True(t, found[""], "sometimes the allowed files were there")
	require.Greater(t, len(found), 1, "sometimes they were not")
}

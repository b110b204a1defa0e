package logsearch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/limits"
)

// A file that is cut after it was opened, as copytruncate does, was not read to its end.
func TestS30_AFileThatIsCutMeanwhileIsUnread(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	require.NoError(t, os.WriteFile(path, []byte("fine\ndisk full\n"), 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	s, err := newSource(Source{ID: "logs", Root: filepath.Dir(path), Files: []string{"*"}})
	require.NoError(t, err)
	sr, err := s.searchOf(request{DataSource: "logs"}, time.Now())
	require.NoError(t, err)
	e := newEngine(sr, limits.Default().Raw)
	require.NoError(t, e.file(t.Context(), file{f, "app.log", info}))

	require.NoError(t, os.Truncate(path, 5))
	_, err = f.Seek(0, 0)
	require.NoError(t, err)
	require.ErrorIs(t, e.file(t.Context(), file{f, "app.log", info}), errShrank)
}

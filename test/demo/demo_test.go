package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/service"
)

// buildDatabase builds the demo's database with the environment that the Makefile builds it with,
// so that the build cache serves both.
func buildDatabase(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "demodb")
	cmd := exec.Command("go", "build", "-o", binary, ".")
	cmd.Dir = "../demodb"
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return binary
}

// TestS26_TheDemoShowsWhatTheDatabaseHolds runs the demo on its own seed and on a changed one.
func TestS26_TheDemoShowsWhatTheDatabaseHolds(t *testing.T) {
	app, db := service.Build(t), buildDatabase(t)
	seed, err := os.ReadFile("../demodb/seed.sql")
	require.NoError(t, err)
	changed := filepath.Join(t.TempDir(), "seed.sql")
	text := bytes.ReplaceAll(seed, []byte("Konrad Zuse"), []byte("Somebody Else"))
	require.NoError(t, os.WriteFile(changed, text, 0o600))

	var first, second strings.Builder
	require.NoError(t, demo(t.Context(), &first, app, db, "embedded", false))
	require.NoError(t, demo(t.Context(), &second, app, db, changed, false))
	for _, want := range []string{
		"EVIDENCE_FOUND", "NO_EVIDENCE", "QUERY_REJECTED", "DUPLICATE_TOOL_CALL", "RUN_BUDGET_EXHAUSTED",
		"record holds READY", "[REDACTED]", "konrad@zuse.example",
	} {
		require.Contains(t, first.String(), want)
	}
	require.Contains(t, first.String(), "Konrad Zuse")
	require.NotContains(t, second.String(), "Konrad Zuse")
	require.Contains(t, second.String(), "Somebody Else")
}

func TestADemoThatCannotStartSaysWhy(t *testing.T) {
	err := demo(t.Context(), io.Discard, "no-such-binary", "no-such-database", "embedded", false)
	require.ErrorContains(t, err, "cannot start no-such-database")
}

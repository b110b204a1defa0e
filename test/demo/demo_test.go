package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// build builds a program of the repository, with the environment that the Makefile builds it
// with, so that the build cache serves both.
func build(t *testing.T, dir, pkg, name string, env ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), name)
	cmd := exec.Command("go", "build", "-o", binary, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return binary
}

// TestS26_TheDemoShowsWhatTheDatabaseHolds runs the demo on its own seed and on a changed one.
func TestS26_TheDemoShowsWhatTheDatabaseHolds(t *testing.T) {
	app, db := build(t, "../..", "./cmd/app", "toolboundary"), build(t, "../demodb", ".", "demodb", "CGO_ENABLED=0")
	seed, err := os.ReadFile("../demodb/seed.sql")
	require.NoError(t, err)
	changed := filepath.Join(t.TempDir(), "seed.sql")
	require.NoError(t, os.WriteFile(changed, bytes.ReplaceAll(seed, []byte("Konrad Zuse"), []byte("Somebody Else")), 0o600))

	var first, second strings.Builder
	require.NoError(t, demo(t.Context(), &first, app, db, "embedded", false))
	require.NoError(t, demo(t.Context(), &second, app, db, changed, false))
	for _, want := range []string{"EVIDENCE_FOUND", "NO_EVIDENCE", "QUERY_REJECTED", "DUPLICATE_TOOL_CALL", "RUN_BUDGET_EXHAUSTED", "record holds READY", "[REDACTED]", "konrad@zuse.example"} {
		require.Contains(t, first.String(), want)
	}
	require.Contains(t, first.String(), "Konrad Zuse")
	require.NotContains(t, second.String(), "Konrad Zuse")
	require.Contains(t, second.String(), "Somebody Else")
}

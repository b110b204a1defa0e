package cli

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write docs/commands.md anew")

// docs/commands.md is what the commands say of themselves.
func TestManualIsUpToDate(t *testing.T) {
	const file = "../../docs/commands.md"
	text, err := Manual()
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	have, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(have), text, "run: go test ./adapters/cli -update")
}

// Every command explains itself with an example, and every flag and argument says what it is.
func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	parser, err := newParser()
	require.NoError(t, err)
	leaves := parser.Model.Leaves(false)
	require.Greater(t, len(leaves), 14)
	for _, leaf := range leaves {
		require.NotEmpty(t, leaf.Help, leaf.FullPath())
		require.Contains(t, leaf.Detail, "Example: ", leaf.FullPath())
		_, example, _ := strings.Cut(leaf.Detail, "Example: ")
		require.Contains(t, example, leaf.FullPath(), "the example shows the command")
		for _, f := range flags(leaf) {
			require.NotEmpty(t, f.Help, "%s --%s", leaf.FullPath(), f.Name)
			require.NotContains(t, []string{"password", "key", "secret", "token"}, f.Name, "%s takes a secret on its command line", leaf.FullPath())
		}
		for _, a := range leaf.Positional {
			require.NotEmpty(t, a.Help, "%s %s", leaf.FullPath(), a.Name)
		}
	}
}

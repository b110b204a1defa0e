package cli

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write docs/commands.md anew")

// docs/commands.md is what the commands say of themselves.
func TestManualIsUpToDate(t *testing.T) {
	const file = "../../docs/commands.md"
	text, err := manual()
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
			require.NotContains(t, []string{"password", "key", "secret", "token"}, f.Name,
				"%s takes a secret on its command line", leaf.FullPath())
		}
		for _, a := range leaf.Positional {
			require.NotEmpty(t, a.Help, "%s %s", leaf.FullPath(), a.Name)
		}
	}
}

// manual returns docs/commands.md: every command with its flags, made from the grammar itself.
func manual() (string, error) {
	parser, err := newParser()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# Commands\n\nMade from the commands themselves; a test keeps the two equal. " +
		"`toolboundary COMMAND --help` says the same.\n\n" +
		"Exit codes: 0 ok, 1 failed, 2 usage or configuration. " +
		"Secrets come from environment variables or files, never from the command line, and are never printed.\n")
	for _, leaf := range parser.Model.Leaves(true) {
		section(&b, leaf)
	}
	return b.String(), nil
}

func section(b *strings.Builder, n *kong.Node) {
	fmt.Fprintf(b, "\n## %s\n\n```\n%s\n```\n\n%s\n", n.FullPath(), n.Summary(), n.Help)
	detail, example, _ := strings.Cut(n.Detail, "Example: ")
	if detail = strings.TrimSpace(detail); detail != "" {
		fmt.Fprintf(b, "\n%s\n", detail)
	}
	if len(n.Positional) > 0 || len(flags(n)) > 0 {
		b.WriteString("\n| | |\n|---|---|\n")
		for _, arg := range n.Positional {
			fmt.Fprintf(b, "| `%s` | %s |\n", arg.Summary(), cell(arg.Help))
		}
		for _, f := range flags(n) {
			name := "--" + f.Name
			if f.Short != 0 {
				name = "-" + string(f.Short) + ", " + name
			}
			if !f.IsBool() {
				name += " " + strings.Trim(f.FormatPlaceHolder(), `"`)
			}
			help := f.Help
			if f.Required {
				help += " Required."
			}
			fmt.Fprintf(b, "| `%s` | %s |\n", name, cell(help))
		}
	}
	if example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", example)
	}
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// flags returns the command's own flags, without --help.
func flags(n *kong.Node) []*kong.Flag {
	var own []*kong.Flag
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			if f.Name != "help" {
				own = append(own, f)
			}
		}
	}
	return own
}

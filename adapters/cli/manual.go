package cli

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Manual returns docs/commands.md: every command with its flags, made from the grammar itself.
func Manual() (string, error) {
	parser, err := newParser()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# Commands\n\nMade from the commands themselves; a test keeps the two equal. `toolboundary COMMAND --help` says the same.\n\n" +
		"Exit codes: 0 ok, 1 failed, 2 usage or configuration. Secrets come from environment variables or files, never from the command line, and are never printed.\n")
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

package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completeWord asks for the candidates of the last of the words that follow it.
const completeWord = "__complete"

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (c *completionCmd) Help() string {
	return "The script asks the binary itself, so it is never out of date.\n\nExample: source <(toolboundary " +
		"completion bash)"
}

func (c *completionCmd) Run(e *env) error {
	script := map[string]string{
		"bash": `_toolboundary() {
  local IFS=$'\n'
  COMPREPLY=($(toolboundary __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _toolboundary toolboundary
`,
		"zsh": `#compdef toolboundary
_toolboundary() {
  local -a candidates
  candidates=("${(@f)$(toolboundary __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "${candidates[1]}" ]]; then compadd -a candidates; else _files; fi
}
compdef _toolboundary toolboundary
`,
		"fish": `complete -c toolboundary -a '(toolboundary __complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
	}[c.Shell]
	_, err := io.WriteString(e.Out, script)
	return err
}

// complete prints the candidates for the last word, one on each line. When there are none, the
// shell offers files.
func complete(w io.Writer, node *kong.Node, words []string) {
	if len(words) == 0 {
		words = []string{""}
	}
	last, before := words[len(words)-1], words[:len(words)-1]
	var pending *kong.Flag // a flag that waits for its value
	for _, word := range before {
		switch flag := flagOf(node, word); {
		case pending != nil:
			pending = nil
		case flag != nil && !flag.IsBool() && !strings.Contains(word, "="):
			pending = flag
		default:
			if child := childOf(node, word); child != nil {
				node = child
			}
		}
	}
	for _, c := range candidates(node, pending, last) {
		if strings.HasPrefix(c, last) {
			fmt.Fprintln(w, c)
		}
	}
}

func candidates(node *kong.Node, pending *kong.Flag, last string) []string {
	var out []string
	switch {
	case pending != nil:
		return values(pending.Value)
	case strings.HasPrefix(last, "-"):
		for _, group := range node.AllFlags(true) {
			for _, f := range group {
				out = append(out, "--"+f.Name)
			}
		}
	default:
		for _, child := range node.Children {
			if child.Type == kong.CommandNode && !child.Hidden {
				out = append(out, child.Name)
			}
		}
		for _, arg := range node.Positional {
			out = append(out, values(arg)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func values(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return v.EnumSlice()
}

func childOf(node *kong.Node, word string) *kong.Node {
	for _, child := range node.Children {
		if child.Type == kong.CommandNode && child.Name == word {
			return child
		}
	}
	return nil
}

func flagOf(node *kong.Node, word string) *kong.Flag {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	for _, group := range node.AllFlags(false) {
		for _, f := range group {
			long := strings.HasPrefix(word, "--") && f.Name == name
			short := strings.HasPrefix(word, "-") && len(name) == 1 && string(f.Short) == name
			if long || short {
				return f
			}
		}
	}
	return nil
}

package bootstrap_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/cmd/app/bootstrap"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports/toolset"
)

// Archive is the configuration of a data source of the kind archive.
type Archive struct {
	Path string `yaml:"path" required:"true" doc:"Path of the archive."`
}

// Validate reports a path that is not absolute.
func (a *Archive) Validate(at config.Place) {
	if !filepath.IsAbs(a.Path) {
		at.Key("path").Problem("The path is not absolute.", "Write it such as /var/archive.")
	}
}

var archives = config.Kind{Name: "archive", Doc: "An archive.", New: func() config.Source { return &Archive{} }}

// build makes the tool archive_list over the configured archives.
func build(sources map[string]*Archive, _ toolset.Deps) (toolset.Set, error) {
	about := tool.Description{Name: "archive_list", ReadOnly: true}
	about.InputSchema, about.OutputSchema = json.RawMessage(`{"type":"object"}`), json.RawMessage(`{"type":"object"}`)
	for id := range sources {
		about.DataSources = append(about.DataSources, id)
	}
	return toolset.Set{Entries: []toolset.Entry{
		{Executor: fake.NewExecutor(about, tool.Plan{}), Projector: fake.Projector{}},
	}}, nil
}

// A main with one more kind of data source is one line; here it checks a configuration.
func Example() {
	// func main() { os.Exit(bootstrap.Main("1.0", bootstrap.WithKind(archives, build))) }

	dir, err := os.MkdirTemp("", "bootstrap")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	const text = `auth:
  harness_keys: [{name: h, key_env: HARNESS_KEY}]
  token_keys: [{id: k, key_env: TOKEN_KEY}]
data_sources:
  old: {kind: archive, path: archive/2019}
`
	for name, text := range map[string]string{
		"wrong.yaml": text, "right.yaml": strings.Replace(text, "archive/", "/archive/", 1),
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			panic(err)
		}
		var out bytes.Buffer
		code := bootstrap.Execute(context.Background(), "1.0", []string{"config", "check", path},
			cli.Streams{Out: &out, Err: &out}, bootstrap.WithKind(archives, build))
		fmt.Println("exit code", code)
		fmt.Print(strings.ReplaceAll(out.String(), dir+string(filepath.Separator), ""))
	}
	// Unordered output:
	// exit code 0
	// right.yaml: 0 fault(s), 0 warning(s)
	// exit code 2
	// fault:   wrong.yaml:5: data_sources.old.path: The path is not absolute.
	//     fix: Write it such as /var/archive.
	// wrong.yaml: 1 fault(s), 0 warning(s)
	// toolboundary: wrong.yaml cannot be used
}

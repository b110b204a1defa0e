// Package commands holds what the operator's commands do once their arguments are parsed; serve
// and mcp, which start the service, are in bootstrap. A command reads the configuration, uses
// adapters directly, and returns what adapters/cli prints.
package commands

import (
	"fmt"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/ports/toolset"
)

// silent is the logger of commands, which say what is wrong themselves.
var silent = zap.NewNop()

// Loader reads configurations.
type Loader struct {
	// Kinds are the kinds of data sources that are known besides those of this repository.
	Kinds []config.Kind
	// Env returns an environment variable; see [os.LookupEnv].
	Env func(name string) (string, bool)
}

// Load reads a configuration. What is wrong with it is a usage error that names every fault.
func (l Loader) Load(path string, options ...config.Option) (config.Config, error) {
	c, err := config.Load(path, l.Env, append(options, config.WithKinds(l.Kinds...))...)
	if err != nil {
		return config.Config{}, cli.UsageError{Err: err}
	}
	return c, nil
}

// mysql returns one MySQL data source of a configuration.
func (l Loader) mysql(path, id string, options ...config.Option) (*config.MySQL, error) {
	c, err := l.Load(path, options...)
	if err != nil {
		return nil, err
	}
	m, ok := config.SourcesOf[*config.MySQL](c.DataSources)[id]
	if !ok {
		return nil, cli.UsageError{Err: fmt.Errorf("there is no MySQL data source %q in %s; its data sources are %v",
			id, path, c.DataSources.IDs())}
	}
	return m, nil
}

// ToolBuilder builds all tools of a configuration, as the service would. The set is closed by
// its Close.
type ToolBuilder func(c config.Config) (toolset.Set, error)

// MySQL holds the commands about MySQL data sources.
type MySQL struct{ Loader Loader }

// Package bootstrap composes the service and its commands from the adapters, with fx: one module
// for each adapter, each in a file of its name.
//
// There are two graphs of the same modules. The command line's (commandLine) makes the functions
// that adapters/cli calls; it knows no configuration. The service's (service) is made by the
// commands serve and mcp, and by those that only need its tools, from one configuration.
//
// The package is importable, so that a tool outside this repository needs a main of five lines:
//
//	func main() { os.Exit(bootstrap.Main("1.0", bootstrap.WithKind(mytool.Kind(), mytool.Build))) }
//
// Only that main imports it: what a tool needs is in ports/toolset and config.
package bootstrap

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"go.uber.org/fx"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/cmd/app/commands"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/toolset"
)

// Option adds to what the binary is made of.
type Option func(*parts)

// WithKind adds a kind of data source to the configuration, and the tools that read it. S is the
// type that kind.New returns; build is called when a configuration has such data sources.
func WithKind[S config.Source](kind config.Kind, build toolset.Build[S]) Option {
	return func(p *parts) {
		p.kinds = append(p.kinds, kind)
		if _, ok := kind.New().(S); !ok {
			p.outside = append(p.outside, fx.Error(fmt.Errorf("the kind %s is not what its builder takes", kind.Name)))
		}
		p.outside = append(p.outside, fx.Module(kind.Name, tools(build)))
	}
}

// WithTools adds tools that read no configured data source.
func WithTools(build func(toolset.Deps) (toolset.Set, error)) Option {
	return func(p *parts) { p.outside = append(p.outside, sourceless(build)) }
}

// parts are what the binary is made of, besides the modules of this repository.
type parts struct {
	version string
	kinds   []config.Kind
	outside []fx.Option
}

// loader reads configurations with every kind of data source that the binary knows.
func (p *parts) loader() commands.Loader { return commands.Loader{Kinds: p.kinds, Env: os.LookupEnv} }

// Main executes the command line and returns the process's exit code.
func Main(version string, options ...Option) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return Execute(ctx, version, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, options...)
}

// Execute is Main with arguments and streams given, until ctx ends: for tests.
func Execute(ctx context.Context, version string, args []string, s cli.Streams, options ...Option) int {
	quietRedis()
	p := &parts{version: version}
	for _, o := range options {
		o(p)
	}
	var do cli.Functions
	var clock ports.Clock
	if err := fx.New(p.commandLine(s), fx.Populate(&do, &clock)).Err(); err != nil {
		fmt.Fprintln(s.Err, "toolboundary:", plain(err))
		return cli.Failed
	}
	return cli.Execute(ctx, args, s, clock, do)
}

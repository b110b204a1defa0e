// Package bootstrap composes the service from its adapters, with fx, and the commands around
// it. It is importable, so that an out-of-tree author writes a main of five lines with one more
// tool:
//
//	func main() { os.Exit(bootstrap.Main("1.0", bootstrap.WithTools(mytool.Build))) }
package bootstrap

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/config"
)

// ToolSet is what a builder makes of the configuration: tools with their projectors, and what
// the service must know to watch and to close them.
type ToolSet struct {
	Entries []application.Entry
	// Unready, when set, returns how many of the set's data sources cannot be reached.
	Unready func(ctx context.Context) int
	// Close, when set, is called after the last tool call ended.
	Close func(ctx context.Context) error
}

// Builder builds tools from the configuration. It opens no connection: a data source that
// cannot be reached must not keep the service from starting.
type Builder func(c config.Config, log *zap.Logger) (ToolSet, error)

// Option adds to what the binary is made of.
type Option func(*parts)

// WithTools adds the tools of a builder to the service.
func WithTools(b Builder) Option { return func(p *parts) { p.builders = append(p.builders, b) } }

// WithKind adds a kind of data source to the configuration.
func WithKind(k config.Kind) Option { return func(p *parts) { p.kinds = append(p.kinds, k) } }

// parts are what the binary is made of.
type parts struct {
	version  string
	builders []Builder
	kinds    []config.Kind
}

// Main runs the command line and returns the process's exit code.
func Main(version string, options ...Option) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return Run(ctx, version, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, options...)
}

// Run is Main with its surroundings given: for tests.
func Run(ctx context.Context, version string, args []string, s cli.Streams, options ...Option) int {
	p := &parts{version: version, builders: builders()}
	for _, o := range options {
		o(p)
	}
	return cli.Run(ctx, args, s, p.functions(s))
}

package bootstrap

import (
	"context"
	"errors"

	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/mcpserver"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/cmd/app/commands"
	"github.com/toolboundary/toolboundary/cmd/app/settings"
	"github.com/toolboundary/toolboundary/config"
)

// mcpModule is the MCP server: /mcp of the HTTP service, and the command mcp over stdio.
func mcpModule() fx.Option {
	return fx.Module("mcp",
		fx.Provide(newMCP),
		member(groupCommands, mcpCommand),
	)
}

func newMCP(p *parts, c config.Config, svc *application.Service, log *zap.Logger) (*mcpserver.Server, error) {
	return mcpserver.New(svc, log, settings.MCP(c, p.version))
}

func mcpCommand(p *parts) command { return func(f *cli.Functions) { f.MCP = p.serveStdio } }

// serveStdio serves one client over standard input and output: one process, one run, opened at
// the start and ended at exit. The log goes to standard error.
func (p *parts) serveStdio(ctx context.Context, path string, s cli.Streams) error {
	c, err := p.loader().Load(path)
	if err != nil {
		return err
	}
	c = settings.Stdio(c)
	log := newLogger(s.Err, c)
	served := commands.Stdio{Run: c.MCP.Run, Log: log}
	app := fx.New(p.service(c, log), fx.Invoke(watch), fx.Populate(&served.Service, &served.Catalogue, &served.Server))
	if err := app.Err(); err != nil {
		return cli.UsageError{Err: plain(err)}
	}
	if err := app.Start(ctx); err != nil {
		return plain(err)
	}
	if c.Store.Kind == config.StoreMemory {
		log.Warn("the evidence of this run dies with this process: use the redis store to keep it")
	}
	err = served.Serve(ctx, s)
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTimeout)
	defer cancel()
	served.Service.Stop(stopping)
	return errors.Join(err, plain(app.Stop(stopping)))
}

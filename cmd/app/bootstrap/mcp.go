package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/mcpserver"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
)

// endTimeout bounds the end of a stdio process's run.
const endTimeout = 5 * time.Second

// mcp serves one client over standard input and output: one process, one run, opened at the
// start and ended at exit. The log goes to standard error.
func (p *parts) mcp(ctx context.Context, path string, s cli.Streams) error {
	c, err := p.load(path)
	if err != nil {
		return err
	}
	// The stdio run is its own ceiling, and its token never leaves the process.
	c.Runs.MaxTTL, c.Runs.Budget = c.MCP.Run.TTL, c.MCP.Run.Budget
	if len(c.Auth.TokenKeys) == 0 {
		c.Auth.TokenKeys = []config.TokenKey{{ID: "process", Key: config.NewSecret(application.NewToken()+application.NewToken(), "this process")}}
	}
	log := newLogger(s.Err, c)
	var svc *application.Service
	var catalogue *application.Catalogue
	app := fx.New(p.core(c, log), fx.Invoke(watch), fx.Populate(&svc, &catalogue))
	if err := app.Err(); err != nil {
		return cli.UsageError{Err: plain(err)}
	}
	if err := app.Start(ctx); err != nil {
		return plain(err)
	}
	served := p.serveClient(ctx, svc, catalogue.All(), c, s, log)
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTimeout)
	defer cancel()
	svc.Stop(stopping)
	return errors.Join(served, plain(app.Stop(stopping)))
}

// serveClient opens the run, serves it until the client goes away or ctx ends, and ends it.
func (p *parts) serveClient(
	ctx context.Context, svc *application.Service, grants run.Grants, c config.Config, s cli.Streams, log *zap.Logger,
) error {
	server, err := mcpserver.New(svc, log, p.mcpOptions(c))
	if err != nil {
		return cli.UsageError{Err: err}
	}
	if len(c.MCP.Run.Tools) > 0 {
		grants.Tools = c.MCP.Run.Tools
	}
	if len(c.MCP.Run.DataSources) > 0 {
		grants.DataSources = c.MCP.Run.DataSources
	}
	id := run.ID(c.MCP.Run.IDPrefix + "-" + application.NewToken())
	harness := application.Caller{Harness: "stdio"} // the process opens its client's run itself
	r, _, err := svc.Open(ctx, harness, application.OpenRequest{RunID: id, Grants: grants})
	if err != nil {
		f := fault.Of(err)
		err = fmt.Errorf("mcp.run: the run cannot be opened: %s %s", f.Error(), f.Detail)
		if f.Code.Again() { // the store's fault, not the configuration's
			return err
		}
		return cli.UsageError{Err: err}
	}
	log.Info("run opened", zap.String("run_id", string(r.ID)), zap.Time("deadline", r.Deadline))
	if c.Store.Kind == config.StoreMemory {
		log.Warn("the evidence of this run dies with this process: use the redis store to keep it")
	}
	served := server.ServeStdio(ctx, s.In, s.Out, application.ContextOf(r))
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if _, err := svc.End(ending, harness, r.ID, run.Completed); err != nil {
		log.Warn("the run could not be ended", zap.String("code", string(fault.CodeOf(err))))
	}
	return served
}

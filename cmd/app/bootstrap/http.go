package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/httpapi"
	"github.com/toolboundary/toolboundary/adapters/mcpserver"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/config"
)

// httpModule is the HTTP service: the API with /mcp, the operator's endpoints, and the command
// serve.
func httpModule() fx.Option {
	return fx.Module("http",
		fx.Provide(httpapi.NewMetrics, newHandlers, taking(2, groupHealth, newReadiness)),
		member(groupCollectors, goCollector, processCollector),
		member(groupCommands, serveCommand),
	)
}

func goCollector() prometheus.Collector { return collectors.NewGoCollector() }

func processCollector() prometheus.Collector {
	return collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})
}

// handlers are what the service answers with: the API with MCP, and the operator's endpoints.
type handlers struct {
	API, Admin http.Handler
}

// faces are what the handlers are made of.
type faces struct {
	fx.In

	Parts      *parts
	Config     config.Config
	Service    *application.Service
	MCP        *mcpserver.Server
	Metrics    *httpapi.Metrics
	Collectors []prometheus.Collector `group:"collectors"`
	Ready      readiness
	Log        *zap.Logger
}

func newHandlers(in faces) (handlers, error) {
	if err := in.Metrics.Register(in.Collectors...); err != nil {
		return handlers{}, err
	}
	opt := httpapi.Options{
		RequestLimit: in.Config.Limits.Domain().Request, Metrics: in.Metrics,
		SeparateAdmin: in.Config.Server.AdminListen != "", Version: in.Parts.version, Ready: in.Ready,
	}
	api, err := httpapi.New(in.Service, in.Log, opt)
	if err != nil {
		return handlers{}, err
	}
	admin, err := httpapi.Admin(in.Log, opt)
	if err != nil {
		return handlers{}, err
	}
	// No ServeMux: it would redirect unclean paths before the API answers them in its own form.
	agents := in.MCP.Handler()
	face := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			agents.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
	return handlers{API: face, Admin: admin}, nil
}

func serveCommand(p *parts) command {
	return func(f *cli.Functions) { f.Serve = p.serve }
}

// serve runs the service until ctx ends. The log goes to standard error.
func (p *parts) serve(ctx context.Context, path string, s cli.Streams) error {
	c, err := p.loader().Load(path, config.ForServe())
	if err != nil {
		return err
	}
	log := newLogger(s.Err, c)
	for _, w := range c.Warnings() {
		log.Warn("configuration", zap.String("path", w.Path), zap.String("warning", w.Message),
			zap.String("fix", w.Fix))
	}
	return untilEnd(ctx, fx.New(p.service(c, log), fx.Invoke(watch, listen)), log)
}

// untilEnd starts the application, waits for ctx and stops it.
func untilEnd(ctx context.Context, app *fx.App, log *zap.Logger) error {
	if err := app.Err(); err != nil {
		return cli.UsageError{Err: plain(err)}
	}
	starting, cancel := context.WithTimeout(ctx, app.StartTimeout())
	defer cancel()
	if err := app.Start(starting); err != nil {
		return plain(err)
	}
	var failed error
	select {
	case <-ctx.Done():
	case end := <-app.Wait():
		if end.ExitCode != 0 { // fx listens for the process's signals, too, and gives those no code
			failed = fmt.Errorf("the service stopped by itself with code %d", end.ExitCode)
		}
	}
	log.Info("stopping")
	stopping, cancelStop := context.WithTimeout(context.WithoutCancel(ctx), app.StopTimeout())
	defer cancelStop()
	err := app.Stop(stopping)
	log.Info("stopped")
	return errors.Join(failed, plain(err))
}

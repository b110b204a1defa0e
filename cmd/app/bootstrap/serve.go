package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"go.uber.org/dig"
	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/httpapi"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/config"
)

// maxAnswerTime is above the longest query_timeout that a configuration may set.
const maxAnswerTime = 65 * time.Minute

// startTimeout bounds what happens before the service listens; connections to data sources
// are made later, by the first calls.
const startTimeout = 30 * time.Second

// serve runs the service until ctx ends.
func (p *parts) serve(ctx context.Context, path string, s cli.Streams) error {
	c, err := p.load(path, config.ForServe())
	if err != nil {
		return err
	}
	log := newLogger(s.Err, c)
	for _, w := range c.Warnings() {
		log.Warn("configuration", zap.String("path", w.Path), zap.String("warning", w.Message), zap.String("fix", w.Fix))
	}
	app := fx.New(p.core(c, log), fx.Invoke(watch, listen))
	return runApp(ctx, app, c, log)
}

// runApp starts the application, waits for ctx and stops it within the configured grace.
func runApp(ctx context.Context, app *fx.App, c config.Config, log *zap.Logger) error {
	if err := app.Err(); err != nil {
		return cli.UsageError{Err: plain(err)}
	}
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := app.Start(starting); err != nil {
		return plain(err)
	}
	var failed error
	select {
	case <-ctx.Done():
	case end := <-app.Wait():
		if end.ExitCode != 0 { // fx listens for the process's signals too, and gives those no code
			failed = fmt.Errorf("the service stopped by itself with code %d", end.ExitCode)
		}
	}
	log.Info("stopping")
	// In-flight calls get the grace, then their cancellation, then the time to settle.
	stopping, cancelStop := context.WithTimeout(context.WithoutCancel(ctx), c.Server.ShutdownGrace+startTimeout)
	defer cancelStop()
	err := app.Stop(stopping)
	log.Info("stopped")
	return errors.Join(failed, plain(err))
}

// plain takes the container's own words off an error: what remains is ours.
func plain(err error) error { return dig.RootCause(err) }

// watch stops calls in flight of ended runs while the service runs.
func watch(lc fx.Lifecycle, svc *application.Service) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	lc.Append(fx.Hook{
		OnStart: func(context.Context) error {
			go func() { defer close(done); svc.Watch(ctx) }()
			return nil
		},
		OnStop: func(context.Context) error {
			cancel()
			<-done
			return nil
		},
	})
}

// listen serves the API, and the operator's endpoints on a listener of their own when one is
// configured. On stop it first refuses new calls and lets those in flight end.
func listen(lc fx.Lifecycle, shutdown fx.Shutdowner, c config.Config, h handlers, svc *application.Service, log *zap.Logger) {
	servers := []*listener{newServer("listening", c.Server.Listen, h.API, c.Server.TLS, log)}
	if c.Server.AdminListen != "" {
		servers = append(servers, newServer("listening for operators", c.Server.AdminListen, h.Admin, config.ServerTLS{}, log))
	}
	lc.Append(fx.Hook{
		OnStart: func(ctx context.Context) error {
			for i, s := range servers {
				if err := s.start(ctx, shutdown, log); err != nil {
					for _, started := range servers[:i] {
						_ = started.http.Close()
					}
					return err
				}
			}
			return nil
		},
		OnStop: func(ctx context.Context) error {
			grace, cancel := context.WithTimeout(ctx, c.Server.ShutdownGrace)
			defer cancel()
			if n := svc.Stop(grace); n > 0 {
				log.Warn("calls were cancelled by the stop", zap.Int("runs", n))
			}
			var errs []error
			for _, s := range servers {
				errs = append(errs, s.stop(ctx))
			}
			return errors.Join(errs...)
		},
	})
}

// server is one listener.
type listener struct {
	name string
	http *http.Server
	tls  config.ServerTLS
	done chan struct{}
}

func newServer(name, address string, h http.Handler, tls config.ServerTLS, log *zap.Logger) *listener {
	s := httpapi.NewServer(h, log)
	s.Addr = address
	// No call runs longer than this; a client that does not read its answer is let go then.
	s.WriteTimeout = maxAnswerTime
	return &listener{name: name, tls: tls, done: make(chan struct{}), http: s}
}

func (s *listener) start(ctx context.Context, shutdown fx.Shutdowner, log *zap.Logger) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", s.http.Addr)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: is something else listening there?", s.http.Addr)
	}
	log.Info(s.name, zap.String("address", l.Addr().String()), zap.Bool("tls", s.tls.Enabled()))
	go func() {
		defer close(s.done)
		var err error
		if s.tls.Enabled() {
			err = s.http.ServeTLS(l, string(s.tls.CertFile), string(s.tls.KeyFile))
		} else {
			err = s.http.Serve(l)
		}
		if !errors.Is(err, http.ErrServerClosed) {
			log.Error("the listener failed", zap.String("listener", s.name))
			log.Debug("the listener failed", zap.Error(err))
			_ = shutdown.Shutdown(fx.ExitCode(1))
		}
	}()
	return nil
}

func (s *listener) stop(ctx context.Context) error {
	quick, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if s.http.Shutdown(quick) != nil {
		_ = s.http.Close() // a client that keeps its connection busy does not keep us up
	}
	<-s.done
	return nil
}

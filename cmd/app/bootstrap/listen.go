package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/httpapi"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/config"
)

const (
	// maxAnswerTime is above the longest query_timeout that a configuration may set.
	maxAnswerTime = 65 * time.Minute
	// shutTime is how long connections may take to become idle after the last call.
	shutTime = 5 * time.Second
)

// listen serves the API, and the operator's endpoints on a separate listener when one is
// configured. On stop it first refuses new calls: those in flight get the grace, then their
// cancellation, then the time to settle.
func listen(
	lc fx.Lifecycle, shutdown fx.Shutdowner, c config.Config, h handlers, svc *application.Service, log *zap.Logger,
) {
	servers := []*listener{newListener("listening", c.Server.Listen, h.API, c.Server.TLS, log)}
	if c.Server.AdminListen != "" {
		admin := newListener("listening for operators", c.Server.AdminListen, h.Admin, config.ServerTLS{}, log)
		servers = append(servers, admin)
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

// listener is one address with its server.
type listener struct {
	name string
	http *http.Server
	tls  config.ServerTLS
	done chan struct{}
}

func newListener(name, address string, h http.Handler, tls config.ServerTLS, log *zap.Logger) *listener {
	s := httpapi.NewServer(h, log)
	s.Addr = address
	s.WriteTimeout = maxAnswerTime // by then the client has its answer, or does not read it
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
	quick, cancel := context.WithTimeout(ctx, shutTime)
	defer cancel()
	if s.http.Shutdown(quick) != nil {
		_ = s.http.Close() // a client that keeps its connection busy does not keep us up
	}
	<-s.done
	return nil
}

package bootstrap

import (
	"context"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/httpapi"
	"github.com/toolboundary/toolboundary/adapters/mcpserver"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
)

// metrics counts what the service does.
type metrics = httpapi.Metrics

func newMetrics() *metrics { return httpapi.NewMetrics() }

// handlers are the service's two faces: API with MCP, and the operator's.
type handlers struct {
	API, Admin http.Handler
}

// readyTimeout bounds what /readyz waits for; it answers before a probe gives up.
const readyTimeout = 2 * time.Second

func (p *parts) newHandlers(c config.Config, svc *application.Service, s ports.Store, tools ToolSet, m *metrics, log *zap.Logger) (handlers, error) {
	opt := httpapi.Options{
		RequestLimit: c.Limits.Domain().Request, Metrics: m,
		SeparateAdmin: c.Server.AdminListen != "", Version: p.version, Ready: readiness(svc, s, tools),
	}
	api, err := httpapi.New(svc, log, opt)
	if err != nil {
		return handlers{}, err
	}
	admin, err := httpapi.Admin(log, opt)
	if err != nil {
		return handlers{}, err
	}
	mcp, err := mcpserver.New(svc, log, p.mcpOptions(c))
	if err != nil {
		return handlers{}, err
	}
	// No ServeMux: it would redirect unclean paths before the API answers them in its own shape.
	agents := mcp.Handler()
	face := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			agents.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
	return handlers{API: face, Admin: admin}, nil
}

func (p *parts) mcpOptions(c config.Config) mcpserver.Options {
	return mcpserver.Options{
		Version: p.version, MetaKeys: c.MCP.ToolCallIDKeys, Argument: c.MCP.ToolCallIDArgument,
		AllowedHosts: c.MCP.AllowedHosts, AllowedOrigins: c.MCP.AllowedOrigins,
		NoRequestID: !c.MCP.StdioRequestID,
		// A message holds the request and its JSON-RPC wrapping; text grows when it is escaped.
		MaxMessage: 2*int(c.Limits.Request) + 64<<10,
	}
}

// readyAge is how long an answer of /readyz holds: it asks for no credentials, and must not be
// a way to keep the store and the data sources busy.
const readyAge = time.Second

// readiness asks the store and the tools, both within readyTimeout, at most once per readyAge.
func readiness(svc *application.Service, s ports.Store, tools ToolSet) func(context.Context) httpapi.Readiness {
	var mu sync.Mutex
	var at time.Time
	var last httpapi.Readiness
	return func(ctx context.Context) httpapi.Readiness {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(at) > readyAge {
			last = probe(context.WithoutCancel(ctx), s, tools)
			at = time.Now()
		}
		now := last
		now.Stopping = svc.Stopping()
		return now
	}
}

func probe(ctx context.Context, s ports.Store, tools ToolSet) httpapi.Readiness {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	down := make(chan int, 1)
	go func() { down <- tools.Unready(ctx) }()
	_, err := s.Ended(ctx, run.ID("readyz")) // any question that takes one round trip
	return httpapi.Readiness{StoreDown: err != nil, DataSourcesDown: <-down}
}

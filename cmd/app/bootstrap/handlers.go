package bootstrap

import (
	"context"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/httpapi"
	"github.com/toolboundary/toolboundary/adapters/mcpserver"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/domain/run"
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

func (p *parts) newHandlers(c config.Config, svc *application.Service, s store, tools ToolSet, m *metrics, log *zap.Logger) (handlers, error) {
	opt := httpapi.Options{
		RequestLimit: c.Limits.Ceilings().Request, MaxConcurrent: c.Server.MaxConcurrent, Metrics: m,
		SeparateAdmin: c.Server.AdminListen != "", Version: p.version, Ready: readiness(s, tools),
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
	mux := http.NewServeMux()
	mux.Handle("/", api)
	mux.Handle("/mcp", mcp.Handler())
	return handlers{API: mux, Admin: admin}, nil
}

func (p *parts) mcpOptions(c config.Config) mcpserver.Options {
	return mcpserver.Options{
		Version: p.version, MetaKeys: c.MCP.ToolCallIDKeys, Argument: c.MCP.ToolCallIDArgument,
		AllowedHosts: c.MCP.AllowedHosts, AllowedOrigins: c.MCP.AllowedOrigins,
		NoRequestID: !c.MCP.StdioRequestID, MaxConcurrent: c.Server.MaxConcurrent,
		// A message holds the request and its JSON-RPC wrapping; text grows when it is escaped.
		MaxMessage: 2*int(c.Limits.Request) + 64<<10,
	}
}

// readiness asks the store and the tools, both within readyTimeout.
func readiness(s store, tools ToolSet) func(context.Context) httpapi.Readiness {
	return func(ctx context.Context) httpapi.Readiness {
		ctx, cancel := context.WithTimeout(ctx, readyTimeout)
		defer cancel()
		down := make(chan int, 1)
		go func() { down <- tools.Unready(ctx) }()
		_, err := s.Ended(ctx, run.ID("readyz")) // any question that takes one round trip
		return httpapi.Readiness{StoreDown: err != nil, DataSourcesDown: <-down}
	}
}

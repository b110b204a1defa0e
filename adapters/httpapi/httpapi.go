package httpapi

import (
	"context"
	"errors"
	"net/http"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/limits"
)

// Readiness is what /readyz tells. It names no data source.
type Readiness struct {
	// StoreDown says that the record store cannot be reached: no call can be served.
	StoreDown bool
	// Stopping says that the service takes no new calls.
	Stopping bool
	// DataSourcesDown is how many data sources cannot be reached; the others are served.
	DataSourcesDown int
}

// Options shape the handler. The zero value is good.
type Options struct {
	// RequestLimit is the most bytes of a tool's request, as the boundary judges it: it decides
	// how much of a body is read at all. The default is that of limits.Default.
	RequestLimit limits.RequestBytes
	// Ready is asked by /readyz and must answer promptly; nil means always ready.
	Ready func(context.Context) Readiness
	// Metrics are told of every answer and served at /metrics; nil means none.
	Metrics *Metrics
	// SeparateAdmin leaves /readyz and /metrics to the handler of Admin, on a separate listener.
	SeparateAdmin bool
	// Version is the service's version in the OpenAPI document.
	Version string
}

func (o Options) withDefaults() (Options, error) {
	if o.RequestLimit < 0 {
		return o, errors.New("httpapi: RequestLimit must not be negative")
	}
	if o.RequestLimit == 0 {
		o.RequestLimit = limits.Default().Request
	}
	if o.Ready == nil {
		o.Ready = func(context.Context) Readiness { return Readiness{} }
	}
	if o.Version == "" {
		o.Version = "0"
	}
	return o, nil
}

// api holds what the handlers of all routes share.
type api struct {
	svc *application.Service
	log *zap.Logger
	opt Options
	doc []byte
}

// New returns the handler of the API. It fails only for options that make no sense.
func New(svc *application.Service, log *zap.Logger, opt Options) (http.Handler, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	a := &api{svc: svc, log: log.Named("http"), opt: opt}
	routes := append(a.runRoutes(), a.callRoutes()...)
	routes = append(routes, a.openRoutes()...)
	if !opt.SeparateAdmin {
		routes = append(routes, a.adminRoutes()...)
	}
	if a.doc, err = document(opt.Version, routes); err != nil {
		return nil, err
	}
	return a.handler(routes), nil
}

// Admin returns the handler of the operator's separate listener: /healthz, /readyz and
// /metrics. It asks for no credentials.
func Admin(log *zap.Logger, opt Options) (http.Handler, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	a := &api{log: log.Named("admin"), opt: opt}
	return a.handler(append(a.adminRoutes(), a.health())), nil
}

package httpapi

import (
	"net/http"
)

// health is served on every listener: it says that the process answers.
func (a *api) health() route {
	return route{method: http.MethodGet, path: "/healthz", docs: healthDocs, do: func(*exchange) (answer, error) {
		return respond(http.StatusOK, healthView{"ok"})
	}}
}

func (a *api) openRoutes() []route {
	return []route{
		a.health(),
		{method: http.MethodGet, path: "/openapi.json", docs: openapiDocs, do: func(*exchange) (answer, error) {
			return answer{status: http.StatusOK, body: a.doc}, nil
		}},
	}
}

func (a *api) adminRoutes() []route {
	routes := []route{{method: http.MethodGet, path: "/readyz", do: a.ready, docs: readyDocs}}
	if a.opt.Metrics != nil {
		routes = append(routes, route{method: http.MethodGet, path: "/metrics", do: a.opt.Metrics.page,
			docs: metricsDocs})
	}
	return routes
}

type healthView struct {
	Status string `json:"status" enum:"ok"`
}

type readyView struct {
	Status          string `json:"status" enum:"ready,degraded,stopping,not_ready" doc:"degraded: some data source cannot be reached, the others are served."`
	DataSourcesDown int    `json:"data_sources_down" doc:"How many data sources cannot be reached."`
}

// ready answers 503 when no call can be served at all. A data source that is down is the
// operator's to see and no reason to take the others away.
func (a *api) ready(x *exchange) (answer, error) {
	r := a.opt.Ready(x.r.Context())
	switch {
	case r.Stopping:
		return respond(http.StatusServiceUnavailable, readyView{"stopping", r.DataSourcesDown})
	case r.StoreDown:
		return respond(http.StatusServiceUnavailable, readyView{"not_ready", r.DataSourcesDown})
	case r.DataSourcesDown > 0:
		return respond(http.StatusOK, readyView{"degraded", r.DataSourcesDown})
	default:
		return respond(http.StatusOK, readyView{"ready", 0})
	}
}

package httpapi

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/toolboundary/toolboundary/application"
)

// Metrics count what the service does. Their labels are closed sets: tools of the catalogue,
// codes, statuses and routes; never a run, a tool_call_id, a caller or a data source.
//
// All methods may be called on nil, which counts nothing.
type Metrics struct {
	registry    *prometheus.Registry
	invocations *prometheus.CounterVec
	seconds     *prometheus.HistogramVec
	bytes       *prometheus.CounterVec
	requests    *prometheus.CounterVec
}

// NewMetrics returns metrics in a new registry.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		invocations: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "toolboundary_invocations_total",
			Help: "Tool calls by outcome. recorded is false for refusals."},
			[]string{"tool_name", "status", "evidence_status", "code", "recorded"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "toolboundary_invocation_seconds",
			Help:    "Time from preflight to the settled record, of calls that were recorded.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}}, []string{"tool_name"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "toolboundary_invocation_bytes_total",
			Help: "Bytes of recorded calls: request, raw_response, agent_result."}, []string{"tool_name", "body"}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "toolboundary_http_requests_total",
			Help: "HTTP answers by route pattern; route is empty for paths that no route takes."},
			[]string{"method", "route", "status"}),
	}
	m.registry.MustRegister(m.invocations, m.seconds, m.bytes, m.requests)
	return m
}

// Observe counts one outcome: it is what application.Options.Observe is for.
func (m *Metrics) Observe(o application.Outcome) {
	if m == nil {
		return
	}
	m.invocations.WithLabelValues(o.ToolName, string(o.Status), string(o.EvidenceStatus), string(o.Code),
		strconv.FormatBool(o.Recorded)).Inc()
	if !o.Recorded {
		return
	}
	m.seconds.WithLabelValues(o.ToolName).Observe(o.Elapsed.Seconds())
	m.bytes.WithLabelValues(o.ToolName, "request").Add(float64(o.Sizes.Request))
	m.bytes.WithLabelValues(o.ToolName, "raw_response").Add(float64(o.Sizes.RawResponse))
	m.bytes.WithLabelValues(o.ToolName, "agent_result").Add(float64(o.Sizes.AgentResult))
}

// Register adds collectors of other parts of the process to the page.
func (m *Metrics) Register(list ...prometheus.Collector) error {
	for _, c := range list {
		if err := m.registry.Register(c); err != nil {
			return err
		}
	}
	return nil
}

func (m *Metrics) answered(method, route string, status int) {
	if m == nil {
		return
	}
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
	default:
		method = "other" // a method is any word that a client likes
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
}

// page serves the metrics in the format that the scraper asks for.
func (m *Metrics) page(x *exchange) (answer, error) {
	rec := &page{header: http.Header{}}
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{DisableCompression: true}).ServeHTTP(rec, x.r)
	return answer{status: max(rec.status, http.StatusOK), content: rec.header.Get("Content-Type"), body: rec.body}, nil
}

// page is a ResponseWriter that keeps what is written.
type page struct {
	header http.Header
	status int
	body   []byte
}

func (p *page) Header() http.Header    { return p.header }
func (p *page) WriteHeader(status int) { p.status = status }
func (p *page) Write(b []byte) (int, error) {
	p.body = append(p.body, b...)
	return len(b), nil
}

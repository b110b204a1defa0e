package config

import (
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

// Prometheus is a data source on a server of the Prometheus HTTP API, which VictoriaMetrics,
// Thanos and Mimir serve too.
type Prometheus struct {
	// URL is the server's; /api/v1 is below it.
	URL         string `yaml:"url" required:"true" doc:"http:// or https:// URL of the server; /api/v1 is below it."`
	BearerToken Secret `yaml:"bearer_token" doc:"Token that is sent with each query"`
	User        Secret `yaml:"user" doc:"User name for basic authentication"`
	Password    Secret `yaml:"password" doc:"Password for basic authentication"`
	CAFile      File   `yaml:"ca_file"`
	// Version decides which names and functions may be used: those of version 2 work on all.
	Version int `yaml:"version" min:"2" max:"3"`

	QueryTimeout  time.Duration `yaml:"query_timeout" min:"10ms" max:"1h"`
	MaxRange      time.Duration `yaml:"max_range" min:"1m" max:"87600h"`
	MaxLookback   time.Duration `yaml:"max_lookback" min:"1m" max:"87600h"`
	MinStep       time.Duration `yaml:"min_step" min:"1ms" max:"24h"`
	MaxPoints     int           `yaml:"max_points" min:"1" max:"11000" doc:"Most steps of a range query."`
	MaxSeries     int           `yaml:"max_series" min:"1" max:"10000"`
	MaxConcurrent int           `yaml:"max_concurrent" min:"1" max:"1000" doc:"Most queries at once."`

	// Metrics are names, or prefixes such as http_*; Matchers are put on every selector.
	Metrics  []string `yaml:"metrics" required:"true"`
	Matchers []string `yaml:"matchers"`
}

// Tags implements strictyaml.Tagger.
func (Prometheus) Tags() strictyaml.Tags {
	return strictyaml.Tags{
		"ca_file":       caFileDoc,
		"version":       `doc:"3 allows names in UTF-8 and the functions that only Prometheus 3 knows."`,
		"query_timeout": `doc:"Longest time of a query, here and on the server."`,
		"max_range":     `doc:"Longest time from start to end of a range query."`,
		"max_lookback":  `doc:"Furthest that ranges, offsets and subqueries of one selector look back together."`,
		"min_step":      `doc:"Finest step of range queries and subqueries."`,
		"max_series":    `doc:"Most series that are read of an answer; one with more is cut and marked."`,
		"metrics": `doc:"Metrics that may be read: names, or prefixes such as http_*. ` +
			`Everything else is refused."`,
		"matchers": `doc:"Label matchers that are put on every selector, such as tenant=\"a\"."`,
	}
}

func newPrometheus() *Prometheus {
	return &Prometheus{
		Version: 2, QueryTimeout: 10 * time.Second, MaxRange: 24 * time.Hour, MaxLookback: 192 * time.Hour,
		MinStep: time.Second, MaxPoints: 1000, MaxSeries: 100, MaxConcurrent: 4,
	}
}

var (
	metricForm  = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*\*?$`)
	matcherForm = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*|"(?:[^"\\]|\\.)+")(=|!=|=~|!~)"(?:[^"\\]|\\.)*"$`)
)

// Validate checks the URL, the credentials, and the forms of metrics and matchers.
func (p *Prometheus) Validate(at Place) {
	p.validateURL(at)
	switch {
	case p.BearerToken.given() && (p.User.given() || p.Password.given()):
		at.Secret("bearer_token").Problem("A bearer token and a user name exclude each other.",
			"Remove one of the two.")
	case p.User.given() != p.Password.given():
		at.Key("user_env").Problem("A user name and a password belong together.", "Add the other one, or remove both.")
	}
	p.validateNames(at)
	if p.MinStep > p.MaxRange {
		at.Key("min_step").Problem("The step is longer than max_range.", "Lower min_step, or raise max_range.")
	}
}

// validateNames checks the metrics and the matchers.
func (p *Prometheus) validateNames(at Place) {
	metrics, matchers := at.Key("metrics"), at.Key("matchers")
	if len(p.Metrics) == 0 && metrics.Given() {
		metrics.Problem("No metric may be read: every query is refused.", "List names, or prefixes such as http_*.")
	}
	for i, m := range p.Metrics {
		plain := metricForm.MatchString(m) && m != "*"
		if !plain && (p.Version < 3 || m == "" || m == "*" || strings.Contains(strings.TrimSuffix(m, "*"), "*")) {
			metrics.Index(i).Problem("This is neither the name of a metric nor a prefix.",
				"Write a name, or a prefix such as http_*; names in UTF-8 need version: 3.")
		}
	}
	for i, m := range p.Matchers {
		if !matcherForm.MatchString(m) || strings.HasPrefix(m, "__") {
			matchers.Index(i).Problem("This is not a label matcher.", `Write it as PromQL does, such as 'tenant="a"'.`)
		}
	}
}

// validateURL does not show the URL: one with a password in it is a likely mistake.
func (p *Prometheus) validateURL(at Place) {
	place := at.Key("url")
	u, err := url.Parse(p.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || !hostName(u.Hostname()) ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		place.Problem("The URL is not http:// or https:// with a host and perhaps a path.",
			"Write it without credentials or a query, such as http://prometheus.example.com:9090; "+
				"credentials have keys of their own.")
		return
	}
	if p.CAFile != "" && u.Scheme != "https" {
		at.Key("ca_file").Problem("ca_file has no effect without https.", "Write an https:// URL, or remove ca_file.")
	}
	if u.Scheme == "http" && !loopback(u.Hostname()+":1") {
		place.Warn("Credentials and data cross the network in the clear.", "Write an https:// URL.")
	}
}

package config

import (
	"net/url"
	"regexp"
	"strings"
	"time"
)

// KindPrometheus is the kind of servers of the Prometheus HTTP API.
const KindPrometheus = "prometheus"

// Prometheus is a data source on a server of the Prometheus HTTP API, which VictoriaMetrics,
// Thanos and Mimir serve too.
type Prometheus struct {
	// URL is where /api/v1 hangs.
	URL         string `yaml:"url" required:"true" doc:"http:// or https:// URL below which /api/v1 hangs."`
	BearerToken Secret `yaml:"bearer_token" doc:"Token that is sent with each query"`
	User        Secret `yaml:"user" doc:"User name for basic authentication"`
	Password    Secret `yaml:"password" doc:"Password for basic authentication"`
	CAFile      File   `yaml:"ca_file" doc:"PEM file with the authorities that are trusted instead of the system's."`
	// Version decides which names and functions may be used: those of version 2 work on all.
	Version int `yaml:"version" min:"2" max:"3" doc:"3 allows names in UTF-8 and the functions that only Prometheus 3 knows."`

	QueryTimeout  time.Duration `yaml:"query_timeout" min:"10ms" max:"1h" doc:"Longest run of a query, here and on the server."`
	MaxRange      time.Duration `yaml:"max_range" min:"1m" max:"87600h" doc:"Longest time from start to end of a range query."`
	MaxLookback   time.Duration `yaml:"max_lookback" min:"1m" max:"87600h" doc:"Furthest that ranges, offsets and subqueries of one selector look back together."`
	MinStep       time.Duration `yaml:"min_step" min:"1ms" max:"24h" doc:"Finest step of range queries and subqueries."`
	MaxPoints     int           `yaml:"max_points" min:"1" max:"11000" doc:"Most steps of a range query."`
	MaxSeries     int           `yaml:"max_series" min:"1" max:"10000" doc:"Most series that are read of an answer; one with more is cut and marked."`
	MaxConcurrent int           `yaml:"max_concurrent" min:"1" max:"1000" doc:"Most queries at once."`

	Metrics  []string `yaml:"metrics" required:"true" doc:"Metrics that may be read: names, or prefixes such as http_*. Everything else is refused."`
	Matchers []string `yaml:"matchers" doc:"Label matchers that are put on every selector, such as tenant=\"a\"."`
}

func newPrometheus() *Prometheus {
	return &Prometheus{
		Version: 2, QueryTimeout: 10 * time.Second, MaxRange: 24 * time.Hour, MaxLookback: 192 * time.Hour, MinStep: time.Second,
		MaxPoints: 1000, MaxSeries: 100, MaxConcurrent: 4,
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
		at.secretKey("bearer_token").Problem("A bearer token and a user name exclude each other.", "Remove one of the two.")
	case p.User.given() != p.Password.given():
		at.Key("user_env").Problem("A user name and a password belong together.", "Add the other one, or remove both.")
	}
	if len(p.Metrics) == 0 && at.Key("metrics").given() {
		at.Key("metrics").Problem("No metric may be read: every query is refused.", "List names, or prefixes such as http_*.")
	}
	for i, m := range p.Metrics {
		plain := metricForm.MatchString(m) && m != "*"
		if !plain && (p.Version < 3 || m == "" || m == "*" || strings.Contains(strings.TrimSuffix(m, "*"), "*")) {
			at.Key("metrics").Index(i).Problem("This is neither the name of a metric nor a prefix.", "Write a name, or a prefix such as http_*; names in UTF-8 need version: 3.")
		}
	}
	for i, m := range p.Matchers {
		if !matcherForm.MatchString(m) || strings.HasPrefix(m, "__") {
			at.Key("matchers").Index(i).Problem("This is not a label matcher.", `Write it as PromQL does, such as 'tenant="a"'.`)
		}
	}
	if p.MinStep > p.MaxRange {
		at.Key("min_step").Problem("The step is longer than max_range.", "Lower min_step, or raise max_range.")
	}
}

// validateURL does not show the URL: one with a password in it is a likely mistake.
func (p *Prometheus) validateURL(at Place) {
	place := at.Key("url")
	u, err := url.Parse(p.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || !hostName(u.Hostname()) || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		place.Problem("The URL is not http:// or https:// with a host and perhaps a path.", "Write it without credentials or a query, such as http://prometheus.example.com:9090; credentials have keys of their own.")
		return
	}
	if p.CAFile != "" && u.Scheme != "https" {
		at.Key("ca_file").Problem("ca_file has no effect without https.", "Write an https:// URL, or remove ca_file.")
	}
	if u.Scheme == "http" && !loopback(u.Hostname()+":1") {
		place.Warn("Credentials and data cross the network in the clear.", "Write an https:// URL.")
	}
}

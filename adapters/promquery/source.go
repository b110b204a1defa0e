package promquery

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolboundary/toolboundary/adapters/promquery/promguard"
	"github.com/toolboundary/toolboundary/ports/slots"
)

// Source is one server and what may be asked of it. Zero bounds take the default.
type Source struct {
	// ID is the data source's id.
	ID string
	// URL is where the API's /api/v1 hangs: http://host:9090, or with a path in front.
	URL string
	// BearerToken, or Username and Password, authenticate the service; secrets.
	BearerToken, Username, Password string
	// RootCAs are the authorities trusted instead of the system's, when set.
	RootCAs *x509.CertPool
	// Policy is what may be read.
	Policy promguard.Policy
	// Timeout bounds a query, here and on the server. Default 10 s.
	Timeout time.Duration
	// MaxRange is the longest time from start to end. Default 24 h.
	MaxRange time.Duration
	// MinStep is the finest step of range queries and subqueries. Default 1 s.
	MinStep time.Duration
	// MaxPoints is the most steps of a range query. Default 1000.
	MaxPoints int
	// MaxEvaluations bounds the steps of a query times the inner evaluations of its subqueries.
	// Default 100 000.
	MaxEvaluations int
	// MaxSeries is the most series that are read; an answer with more is cut and says so.
	// Default 100.
	MaxSeries int
	// MaxConcurrent is the most queries at once; one more waits a moment and then gets
	// DATA_SOURCE_BUSY. Default 4.
	MaxConcurrent int
}

type source struct {
	Source
	guard  *promguard.Guard
	base   string
	client *http.Client
	slots  *slots.Slots
}

func newSource(s Source) (*source, error) {
	s = s.WithDefaults()
	u, err := url.Parse(s.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return nil, fmt.Errorf("data source %s: the URL must be http:// or https://, a host and perhaps a path, "+
			"without credentials or a query", s.ID)
	}
	if s.BearerToken != "" && s.Username != "" {
		return nil, fmt.Errorf("data source %s: a bearer token and a user name exclude each other", s.ID)
	}
	g, err := promguard.New(s.Policy)
	if err != nil {
		return nil, fmt.Errorf("data source %s: %w", s.ID, err)
	}
	transport := &http.Transport{
		MaxConnsPerHost: s.MaxConcurrent, MaxIdleConnsPerHost: s.MaxConcurrent, IdleConnTimeout: 90 * time.Second,
		TLSClientConfig: &tls.Config{RootCAs: s.RootCAs, MinVersion: tls.VersionTLS12},
	}
	client := &http.Client{
		Transport: transport,
		// Following a redirect would send the credentials where nobody configured them.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &source{Source: s, guard: g, base: strings.TrimSuffix(u.String(), "/"), client: client,
		slots: slots.New(s.MaxConcurrent, 0)}, nil
}

// WithDefaults returns the source with the default in place of every bound that is zero, as New
// uses it. The configuration has the same defaults: test/defaults compares them.
func (s Source) WithDefaults() Source {
	for _, d := range []struct {
		at      *time.Duration
		initial time.Duration
	}{{&s.Timeout, 10 * time.Second}, {&s.MaxRange, 24 * time.Hour}, {&s.MinStep, time.Second}} {
		if *d.at == 0 {
			*d.at = d.initial
		}
	}
	for _, d := range []struct {
		at      *int
		initial int
	}{{&s.MaxPoints, 1000}, {&s.MaxEvaluations, 100_000}, {&s.MaxSeries, DefaultSeries}, {&s.MaxConcurrent, 4}} {
		if *d.at == 0 {
			*d.at = d.initial
		}
	}
	if s.Policy.MinStep == 0 {
		s.Policy.MinStep = s.MinStep
	}
	return s
}

// newSources returns the sources by id, or every reason why not.
func newSources(list []Source) (map[string]*source, error) {
	byID := map[string]*source{}
	var problems []error
	for _, s := range list {
		made, err := newSource(s)
		if _, twice := byID[s.ID]; twice {
			err = fmt.Errorf("data source %s is listed twice", s.ID)
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		byID[s.ID] = made
	}
	return byID, errors.Join(problems...)
}

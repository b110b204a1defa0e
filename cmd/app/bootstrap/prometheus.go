package bootstrap

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/promquery"
	"github.com/toolboundary/toolboundary/adapters/promquery/promguard"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/config"
)

// prometheusTools builds prometheus_query over the metrics servers.
func prometheusTools(c config.Config, _ *zap.Logger) (ToolSet, error) {
	configured := config.SourcesOf[*config.Prometheus](c.DataSources)
	if len(configured) == 0 {
		return ToolSet{}, nil
	}
	var sources []promquery.Source
	var problems []error
	for _, id := range c.DataSources.IDs() {
		p, ok := configured[id]
		if !ok {
			continue
		}
		roots, err := authorities(string(p.CAFile))
		if err != nil {
			problems = append(problems, fmt.Errorf("data_sources.%s: %w", id, err))
		}
		sources = append(sources, promquery.Source{
			ID: id, URL: p.URL, BearerToken: p.BearerToken.Reveal(), Username: p.User.Reveal(), Password: p.Password.Reveal(), RootCAs: roots,
			Policy:  promguard.Policy{Metrics: p.Metrics, Matchers: p.Matchers, Version3: p.Version == 3, MaxLookback: p.MaxLookback},
			Timeout: p.QueryTimeout, MaxRange: p.MaxRange, MinStep: p.MinStep, MaxPoints: p.MaxPoints, MaxSeries: p.MaxSeries, MaxConcurrent: p.MaxConcurrent,
		})
	}
	query, err := promquery.New(sources, clock{})
	if err := errors.Join(append(problems, err)...); err != nil {
		return ToolSet{}, err
	}
	return ToolSet{
		Entries: []application.Entry{{Executor: query, Projector: promquery.Projector{}}},
		Unready: query.Unready,
		Close:   func(context.Context) error { query.Close(); return nil },
	}, nil
}

// authorities reads the certificates of a file; nil means the system's.
func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, errors.New("ca_file cannot be read")
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("ca_file holds no certificate in PEM")
	}
	return roots, nil
}

package settings

import (
	"github.com/toolboundary/toolboundary/adapters/promquery"
	"github.com/toolboundary/toolboundary/adapters/promquery/promguard"
	"github.com/toolboundary/toolboundary/config"
)

// Prometheus returns a data source of prometheus_query.
func Prometheus(id string, p *config.Prometheus) (promquery.Source, error) {
	roots, err := CertPool("ca_file", string(p.CAFile))
	return promquery.Source{
		ID: id, URL: p.URL, BearerToken: p.BearerToken.Reveal(), Username: p.User.Reveal(),
		Password: p.Password.Reveal(),
		RootCAs:  roots,
		Policy: promguard.Policy{
			Metrics: p.Metrics, Matchers: p.Matchers, Version3: p.Version == 3, MaxLookback: p.MaxLookback,
		},
		Timeout: p.QueryTimeout, MaxRange: p.MaxRange, MinStep: p.MinStep, MaxPoints: p.MaxPoints,
		MaxSeries:     p.MaxSeries,
		MaxConcurrent: p.MaxConcurrent,
	}, err
}

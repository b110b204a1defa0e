package bootstrap

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/mysql"
	"github.com/toolboundary/toolboundary/adapters/mysql/schematool"
	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/adapters/projectors/mysqlrows"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/config"
)

// mysqlTools builds mysql_query and mysql_schema over the MySQL data sources.
func mysqlTools(c config.Config, log *zap.Logger) (ToolSet, error) {
	configured := config.SourcesOf[*config.MySQL](c.DataSources)
	if len(configured) == 0 {
		return ToolSet{}, nil
	}
	guards := map[string]*sqlguard.Guard{}
	var sources []mysql.Source
	var problems []error
	for _, id := range c.DataSources.IDs() {
		m, ok := configured[id]
		if !ok {
			continue
		}
		source, err := mysqlSource(id, m)
		if err != nil {
			problems = append(problems, fmt.Errorf("data_sources.%s: %w", id, err))
			continue
		}
		sources = append(sources, source)
		if source.Guard != nil {
			guards[id] = source.Guard
		}
	}
	if len(problems) > 0 {
		return ToolSet{}, errors.Join(problems...)
	}
	query, err := mysql.New(sources, mysql.Options{}, log)
	if err != nil {
		return ToolSet{}, err
	}
	return ToolSet{
		Entries: []application.Entry{
			{Executor: query, Projector: mysqlrows.Projector{}},
			{Executor: schematool.New(guards), Projector: mysqlrows.Projector{}},
		},
		Unready: func(ctx context.Context) int { return len(query.Ready(ctx)) },
		Close:   query.Close,
	}, nil
}

// mysqlSource translates the configuration of one data source.
func mysqlSource(id string, m *config.MySQL) (mysql.Source, error) {
	source := mysql.Source{Source: server.Source{
		ID: id, Address: m.Address, MaxConnections: m.MaxConnections, QueryTimeout: m.QueryTimeout,
		SQLModeExtra: m.SQLModeExtra, RequireReadOnlyAccount: m.RequireReadOnlyAccount,
		Account: func() (string, string, error) { return m.User.Reveal(), m.Password.Reveal(), nil },
	}, MaxCell: int(m.MaxCell)}
	var err error
	if len(m.Allow) > 0 { // without an allowlist every query is refused
		if source.Guard, err = sqlguard.New(policyOf(m)); err != nil {
			return source, err
		}
	}
	source.TLS, err = clientTLS(m.TLS, m.Address, string(m.CAFile))
	return source, err
}

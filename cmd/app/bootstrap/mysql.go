package bootstrap

import (
	"context"
	"maps"
	"slices"

	"go.uber.org/fx"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/mysql"
	"github.com/toolboundary/toolboundary/adapters/mysql/schematool"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/adapters/projectors/rows"
	"github.com/toolboundary/toolboundary/cmd/app/commands"
	"github.com/toolboundary/toolboundary/cmd/app/settings"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/ports/toolset"
)

// mysqlModule is mysql_query, mysql_schema, and the operator's commands about their data sources.
func mysqlModule() fx.Option {
	return fx.Module("mysql",
		tools(newMySQL),
		member(groupCommands, mysqlCommands),
		member(groupExaminers, commands.MySQLExaminer),
	)
}

func newMySQL(configured map[string]*config.MySQL, deps toolset.Deps) (toolset.Set, error) {
	sources, err := settings.All(configured, settings.MySQL)
	if err != nil {
		return toolset.Set{}, err
	}
	guards := map[string]*sqlguard.Guard{}
	for _, s := range sources {
		if s.Guard != nil {
			guards[s.ID] = s.Guard
		}
	}
	query, err := mysql.New(sources, mysql.Options{}, deps.Log)
	if err != nil {
		return toolset.Set{}, err
	}
	return toolset.Set{
		Entries: []toolset.Entry{
			{Executor: query, Projector: rows.Projector{}},
			{Executor: schematool.New(guards), Projector: rows.Projector{}},
		},
		Unready: func(ctx context.Context) []string { return slices.Collect(maps.Keys(query.Ready(ctx))) },
		Close:   query.Close,
	}, nil
}

func mysqlCommands(p *parts) command {
	c := commands.MySQL{Loader: p.loader()}
	return func(f *cli.Functions) {
		f.Query, f.Guard = c.Query, c.Guard
		f.AllowlistInit, f.AllowlistCheck, f.AllowlistGrants = c.AllowlistInit, c.AllowlistCheck, c.AllowlistGrants
	}
}

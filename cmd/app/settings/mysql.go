package settings

import (
	"github.com/toolboundary/toolboundary/adapters/mysql"
	"github.com/toolboundary/toolboundary/adapters/mysql/allowlist"
	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/config"
)

// MySQL returns a data source of mysql_query. Without an allowlist it has no guard, so that
// every query is rejected.
func MySQL(id string, m *config.MySQL) (mysql.Source, error) {
	source := mysql.Source{
		Source: server.Source{
			ID: id, Address: m.Address, MaxConnections: m.MaxConnections, QueryTimeout: m.QueryTimeout,
			SQLModeExtra: m.SQLModeExtra, RequireReadOnlyAccount: m.RequireReadOnlyAccount,
			Account: func() (string, string, error) { return m.User.Reveal(), m.Password.Reveal(), nil },
		},
		MaxCell: int(m.MaxCell),
	}
	var err error
	if len(m.Allow) > 0 {
		if source.Guard, err = sqlguard.New(Policy(m)); err != nil {
			return source, err
		}
	}
	source.TLS, err = clientTLS(m.TLS, m.Address, m.CAFile)
	return source, err
}

// Policy returns what the guard of a data source enforces.
func Policy(m *config.MySQL) sqlguard.Policy {
	p := sqlguard.Policy{DefaultSchema: m.DefaultSchema, MaxRows: m.MaxRows}
	if !m.Functions.Default {
		p.Functions = append([]string{}, m.Functions.Names...)
	}
	for _, t := range m.Allow {
		table := sqlguard.Table{Schema: t.Schema, Name: t.Name}
		for _, c := range t.Columns {
			table.Columns = append(table.Columns, sqlguard.Column{
				Name: c.Name, Sensitive: c.Sensitive, Type: c.Type, Comment: c.Comment,
				Key: c.Key, MaxLength: c.MaxLength,
			})
		}
		p.Tables = append(p.Tables, table)
	}
	return p
}

// Listed returns a data source's allowlist in the form that the allowlist commands work on.
func Listed(m *config.MySQL) allowlist.Listed {
	listed := allowlist.Listed{DefaultSchema: m.DefaultSchema}
	for _, t := range m.Allow {
		table := allowlist.ListedTable{Schema: t.Schema, Name: t.Name, View: m.IsView(t)}
		for _, c := range t.Columns {
			table.Columns = append(table.Columns, allowlist.ListedColumn{Name: c.Name, Type: c.Type})
		}
		for _, left := range m.LeftOut {
			if left.Schema == t.Schema && left.Name == t.Name {
				for _, c := range left.Columns {
					table.LeftOut = append(table.LeftOut, c.Name)
				}
			}
		}
		listed.Tables = append(listed.Tables, table)
	}
	return listed
}

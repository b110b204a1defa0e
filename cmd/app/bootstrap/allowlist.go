package bootstrap

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/mysql/allowlist"
	"github.com/toolboundary/toolboundary/adapters/mysql/operator"
	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/config"
)

// schemaTimeout bounds each question about the schema; large servers are slow with these.
const schemaTimeout = 30 * time.Second

// inspect opens the data source for questions about its schema, under another account when the
// arguments name one.
func (p *parts) inspect(args cli.SourceArgs) (*server.Pool, *config.MySQL, error) {
	var options []config.Option
	if args.UserEnv != "" {
		options = append(options, config.WithoutSecrets()) // the data source's own account need not exist yet
	}
	m, err := p.loadMySQL(args.ConfigPath, args.DataSource, options...)
	if err != nil {
		return nil, nil, err
	}
	own := *m
	own.Allow, own.RequireReadOnlyAccount, own.QueryTimeout = nil, false, max(m.QueryTimeout, schemaTimeout) // no statement of an agent runs here
	if args.UserEnv != "" {
		if own.User, own.Password, err = config.AccountFromEnv(os.LookupEnv, args.UserEnv, args.PasswordEnv); err != nil {
			return nil, nil, cli.UsageError{Err: err}
		}
	}
	source, err := mysqlSource(args.DataSource, &own)
	if err != nil {
		return nil, nil, cli.UsageError{Err: err}
	}
	db, err := server.Open(source.Source, server.Options{}, silent)
	if err != nil {
		return nil, nil, cli.UsageError{Err: err}
	}
	return db, m, nil
}

func (p *parts) allowlistInit(ctx context.Context, args cli.InitArgs) (string, error) {
	db, m, err := p.inspect(args.SourceArgs)
	if err != nil {
		return "", err
	}
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }() // nothing runs any more
	relations, err := allowlist.Read(ctx, operator.New(db), args.Schemas...)
	if err != nil {
		return "", explained(err, false)
	}
	return allowlist.Draft(relations, allowlist.DraftOptions{DefaultSchema: m.DefaultSchema == "", Views: args.Views}), nil
}

func (p *parts) allowlistCheck(ctx context.Context, args cli.SourceArgs) (cli.Drifts, error) {
	db, m, err := p.inspect(args)
	if err != nil {
		return cli.Drifts{}, err
	}
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }() // nothing runs any more
	report, err := allowlist.Check(ctx, operator.New(db), listedOf(m))
	if err != nil {
		return cli.Drifts{}, explained(err, false)
	}
	found := cli.Drifts{Drifts: []cli.Drift{}, Tables: report.Tables, Unlisted: report.Unlisted, Notes: []string{}}
	for _, d := range report.Drifts {
		found.Drifts = append(found.Drifts, cli.Drift{Kind: string(d.Kind), Where: d.Where, Message: d.Message, Fix: d.Fix})
	}
	if report.Restricted {
		found.Notes = append(found.Notes, "the account has privileges on single columns, so new columns are hidden from it: name one that sees all with --user-env and --password-env")
	}
	return found, nil
}

func (p *parts) allowlistGrants(_ context.Context, args cli.GrantsArgs) (string, error) {
	m, err := p.loadMySQL(args.ConfigPath, args.DataSource, config.WithoutSecrets())
	if err != nil {
		return "", err
	}
	account := allowlist.Account{User: args.Account, Host: args.Host, RequireTLS: args.RequireTLS}
	if account.User == "" {
		account.User = "toolboundary_" + args.DataSource
	}
	if wrong := account.Check(); wrong != "" {
		return "", cli.UsageError{Err: fmt.Errorf("%s: choose another with --account and --host", wrong)}
	}
	return allowlist.Grants(account, listedOf(m)), nil
}

// listedOf returns a data source's allowlist as the allowlist commands know it.
func listedOf(m *config.MySQL) allowlist.Listed {
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

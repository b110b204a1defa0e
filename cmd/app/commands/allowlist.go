package commands

import (
	"context"
	"fmt"
	"time"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/mysql/allowlist"
	"github.com/toolboundary/toolboundary/adapters/mysql/operator"
	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/cmd/app/settings"
	"github.com/toolboundary/toolboundary/config"
)

// schemaTimeout bounds each question about the schema, which large servers answer slowly.
const schemaTimeout = 30 * time.Second

// inspect opens the data source for questions about its schema, under another account when the
// arguments name one. The caller closes the pool.
func (c MySQL) inspect(args cli.SourceArgs) (*server.Pool, *config.MySQL, error) {
	var options []config.Option
	if args.UserEnv != "" {
		options = append(options, config.WithoutSecrets()) // the data source's own account need not exist yet
	}
	m, err := c.Loader.mysql(args.ConfigPath, args.DataSource, options...)
	if err != nil {
		return nil, nil, err
	}
	own := *m
	own.Allow = nil // no statement of an agent runs here
	own.RequireReadOnlyAccount, own.QueryTimeout = false, max(m.QueryTimeout, schemaTimeout)
	if args.UserEnv != "" {
		if own.User, own.Password, err = config.AccountFromEnv(c.Loader.Env, args.UserEnv,
			args.PasswordEnv); err != nil {
			return nil, nil, cli.UsageError{Err: err}
		}
	}
	pool, err := open(args.DataSource, &own, server.Options{})
	if err != nil {
		return nil, nil, cli.UsageError{Err: err}
	}
	return pool, m, nil
}

// open returns the sessions of a data source, which log nothing.
func open(id string, m *config.MySQL, options server.Options) (*server.Pool, error) {
	source, err := settings.MySQL(id, m)
	if err != nil {
		return nil, err
	}
	return server.Open(source.Source, options, silent)
}

// closed closes the sessions when no statement runs any more.
func closed(ctx context.Context, pool *server.Pool) { _ = pool.Close(context.WithoutCancel(ctx)) }

// AllowlistInit drafts an allowlist from the database's schema, in YAML.
func (c MySQL) AllowlistInit(ctx context.Context, args cli.InitArgs) (string, error) {
	pool, m, err := c.inspect(args.SourceArgs)
	if err != nil {
		return "", err
	}
	defer closed(ctx, pool)
	relations, err := allowlist.Read(ctx, operator.New(pool), args.Schemas...)
	if err != nil {
		return "", explained(err, false)
	}
	options := allowlist.DraftOptions{DefaultSchema: m.DefaultSchema == "", Views: args.Views}
	return allowlist.Draft(relations, options), nil
}

// AllowlistCheck compares an allowlist with its database.
func (c MySQL) AllowlistCheck(ctx context.Context, args cli.SourceArgs) (cli.Drifts, error) {
	pool, m, err := c.inspect(args)
	if err != nil {
		return cli.Drifts{}, err
	}
	defer closed(ctx, pool)
	report, err := allowlist.Check(ctx, operator.New(pool), settings.Listed(m))
	if err != nil {
		return cli.Drifts{}, explained(err, false)
	}
	found := cli.Drifts{Drifts: []cli.Drift{}, Tables: report.Tables, Unlisted: report.Unlisted, Notes: []string{}}
	for _, d := range report.Drifts {
		found.Drifts = append(found.Drifts,
			cli.Drift{Kind: string(d.Kind), Where: d.Where, Message: d.Message, Fix: d.Fix})
	}
	if report.Restricted {
		found.Notes = append(found.Notes,
			"the account has privileges on single columns, so new columns are hidden from it: "+
				"name one that sees all with --user-env and --password-env")
	}
	return found, nil
}

// AllowlistGrants returns the statements that make an account which may read what the allowlist
// allows, and nothing else. It connects to nothing.
func (c MySQL) AllowlistGrants(_ context.Context, args cli.GrantsArgs) (string, error) {
	m, err := c.Loader.mysql(args.ConfigPath, args.DataSource, config.WithoutSecrets())
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
	return allowlist.Grants(account, settings.Listed(m)), nil
}

package bootstrap

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/mysql/operator"
	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/adapters/projectors/mysqlrows"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
)

// What a query may read and show at most, in bytes; the rows are the caller's choice.
const (
	queryRaw   = limits.RawBytes(64 << 20)
	queryShown = limits.AgentBytes(64 << 20)
	queryCell  = 1 << 20
)

// query answers one statement of the operator's own (S43). It is judged first: a refused
// statement opens no connection, and needs none to be configured.
func (p *parts) query(ctx context.Context, args cli.QueryArgs) (cli.Page, error) {
	question, err := p.judge(args)
	if err != nil {
		return cli.Page{}, err
	}
	connection, err := config.QueryFromEnv(os.LookupEnv)
	if err != nil {
		return cli.Page{}, cli.UsageError{Err: err}
	}
	connection.QueryTimeout = args.Timeout
	source, err := mysqlSource("query", connection)
	if err != nil {
		return cli.Page{}, cli.UsageError{Err: err}
	}
	db, err := server.Open(source.Source, server.Options{}, silent)
	if err != nil {
		return cli.Page{}, cli.UsageError{Err: err}
	}
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }() // nothing runs any more
	if args.ConfigPath == "" {
		question.Schema = connection.DefaultSchema
	}
	raw, err := operator.New(db).Ask(ctx, question, queryRaw)
	if err != nil {
		return cli.Page{}, explained(err, args.ConfigPath == "")
	}
	projection, err := mysqlrows.Projector{}.Project(raw, tool.Bounds{Rows: args.MaxRows, CellBytes: queryCell, AgentResult: queryShown})
	if err != nil {
		return cli.Page{}, err
	}
	var page cli.Page
	return page, json.Unmarshal(projection.AgentResult, &page)
}

// judge returns the statement that may run: what the data source's guard prints, or, without an
// allowlist, the operator's own plain SELECT.
func (p *parts) judge(args cli.QueryArgs) (operator.Question, error) {
	params, err := sqlguard.ParamsFromJSON(args.Params)
	if err != nil {
		return operator.Question{}, refusal(err)
	}
	if args.ConfigPath == "" {
		values, err := sqlguard.NewPlain().Check(args.SQL, params)
		if err != nil {
			return operator.Question{}, refusal(err)
		}
		return operator.Question{SQL: args.SQL, Args: values, MaxRows: args.MaxRows}, nil
	}
	m, err := p.loadMySQL(args.ConfigPath, args.DataSource, config.WithoutSecrets())
	if err != nil {
		return operator.Question{}, err
	}
	policy := policyOf(m)
	policy.MaxRows = args.MaxRows
	guard, err := sqlguard.New(policy)
	if err != nil {
		return operator.Question{}, cli.UsageError{Err: fmt.Errorf("data_sources.%s: %w", args.DataSource, err)}
	}
	plan, err := guard.Prepare(args.SQL, params)
	if err != nil {
		return operator.Question{}, refusal(err)
	}
	return operator.Question{SQL: plan.SQL, Args: plan.Args, Columns: plan.Columns, MaxRows: plan.MaxRows}, nil
}

// loadMySQL returns one MySQL data source of a configuration.
func (p *parts) loadMySQL(path, id string, options ...config.Option) (*config.MySQL, error) {
	c, err := p.load(path, options...)
	if err != nil {
		return nil, err
	}
	m, ok := config.SourcesOf[*config.MySQL](c.DataSources)[id]
	if !ok {
		return nil, cli.UsageError{Err: fmt.Errorf("there is no MySQL data source %q in %s; its data sources are %v", id, path, c.DataSources.IDs())}
	}
	return m, nil
}

// refusal turns the guard's rejection into a fault, which is printed with reason and detail.
func refusal(err error) error {
	r, ok := err.(*sqlguard.Rejection)
	if !ok {
		return err
	}
	return fault.Because(fault.QueryRejected, string(r.Reason), r.Detail)
}

// mistakes say, for an operator's own statement, what the server's commonest errors mean. The
// server's own words stay out: they can carry values, accounts and hosts.
var mistakes = map[uint16]string{
	1044: "The account may not use this schema.", 1045: "User name or password are not accepted.", 1046: "No schema is chosen: set TOOLBOUNDARY_QUERY_SCHEMA, or write schema.table.",
	1049: "There is no such schema.", 1052: "A column's name is ambiguous: write table.column.", 1054: "There is no such column.", 1064: "The server cannot parse the statement.",
	1109: "A table's name is not known here.", 1142: "The account may not read this table.", 1143: "The account may not read one of the columns.", 1146: "There is no such table.",
	1222: "The SELECTs of a UNION have different numbers of columns.", 1241: "A subquery has more columns than fit here.", 1242: "A subquery gives more than one row.", 1305: "There is no such function.",
}

// explained adds the server's error number, and what it means when the guard has not judged the
// names, to a failure.
func explained(err error, plain bool) error {
	f := fault.Of(err)
	number := server.ErrorNumber(err)
	if number == 0 {
		return f
	}
	detail := f.Detail
	if meaning, known := mistakes[number]; known && (plain || f.Code != fault.ExecutionFailed) {
		detail = meaning
	}
	reason := f.Reason
	if plain && f.Code == fault.ExecutionFailed {
		reason = "" // reasons speak of the allowlist
	}
	return fault.Because(f.Code, reason, cmp.Or(detail, "The server refused it.")+fmt.Sprintf(" (server error %d)", number)).WithCause(err)
}

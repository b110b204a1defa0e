package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	parser "github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/mysql/operator"
	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/adapters/projectors/rows"
	"github.com/toolboundary/toolboundary/cmd/app/settings"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
)

// The most bytes that a query reads and shows; how many rows is the caller's choice.
const (
	queryRaw   = limits.RawBytes(64 << 20)
	queryShown = limits.AgentBytes(64 << 20)
	queryCell  = 1 << 20
)

// Query answers one statement of the operator (S43). It is judged first: for a rejected statement
// no connection is opened, and none needs to be configured.
func (c MySQL) Query(ctx context.Context, args cli.QueryArgs) (cli.Page, error) {
	question, err := c.judge(args)
	if err != nil {
		return cli.Page{}, err
	}
	connection, err := config.QueryFromEnv(c.Loader.Env)
	if err != nil {
		return cli.Page{}, cli.UsageError{Err: err}
	}
	connection.QueryTimeout = args.Timeout
	pool, err := open("query", connection, server.Options{})
	if err != nil {
		return cli.Page{}, cli.UsageError{Err: err}
	}
	defer closed(ctx, pool)
	if args.ConfigPath == "" {
		question.Schema = connection.DefaultSchema
	}
	raw, err := operator.New(pool).Ask(ctx, question, queryRaw)
	if err != nil {
		return cli.Page{}, explained(err, args.ConfigPath == "")
	}
	bounds := tool.Bounds{Rows: args.MaxRows, CellBytes: queryCell, AgentResult: queryShown}
	projection, err := rows.Projector{}.Project(raw, bounds)
	if err != nil {
		return cli.Page{}, err
	}
	var page cli.Page
	return page, json.Unmarshal(projection.AgentResult, &page)
}

// judge returns the statement that may run: what the data source's guard prints or, without an
// allowlist, the operator's own plain SELECT.
func (c MySQL) judge(args cli.QueryArgs) (operator.Question, error) {
	params, err := sqlguard.ParamsFromJSON(args.Params)
	if err != nil {
		return operator.Question{}, rejected(err)
	}
	if args.ConfigPath == "" {
		values, err := sqlguard.NewPlain().Check(args.SQL, params)
		if err != nil {
			return operator.Question{}, rejected(err)
		}
		return operator.Question{SQL: args.SQL, Args: values, MaxRows: args.MaxRows}, nil
	}
	m, err := c.Loader.mysql(args.ConfigPath, args.DataSource, config.WithoutSecrets())
	if err != nil {
		return operator.Question{}, err
	}
	policy := settings.Policy(m)
	policy.MaxRows = args.MaxRows
	guard, err := sqlguard.New(policy)
	if err != nil {
		return operator.Question{}, cli.UsageError{Err: fmt.Errorf("data_sources.%s: %w", args.DataSource, err)}
	}
	plan, err := guard.Prepare(args.SQL, params)
	if err != nil {
		return operator.Question{}, rejected(err)
	}
	return operator.Question{SQL: plan.SQL, Args: plan.Args, Columns: plan.Columns, MaxRows: plan.MaxRows}, nil
}

// rejected turns the guard's rejection into a fault, which is printed with reason and detail.
func rejected(err error) error {
	r, ok := err.(*sqlguard.Rejection)
	if !ok {
		return err
	}
	return fault.Because(fault.QueryRejected, string(r.Reason), r.Detail)
}

// mistakes say, for an operator's own statement, what the most common errors of servers mean. The
// servers' words are not shown: they can hold values, accounts and hosts.
var mistakes = map[uint16]string{
	parser.ErrDBaccessDenied:               "The account may not use this schema.",
	parser.ErrAccessDenied:                 "User name or password are not accepted.",
	parser.ErrNoDB:                         "No schema is chosen: set TOOLBOUNDARY_QUERY_SCHEMA, or write schema.table.",
	parser.ErrBadDB:                        "There is no such schema.",
	parser.ErrNonUniq:                      "A column's name is ambiguous: write table.column.",
	parser.ErrBadField:                     "There is no such column.",
	parser.ErrParse:                        "The server cannot parse the statement.",
	parser.ErrUnknownTable:                 "A table's name is not known here.",
	parser.ErrTableaccessDenied:            "The account may not read this table.",
	parser.ErrColumnaccessDenied:           "The account may not read one of the columns.",
	parser.ErrNoSuchTable:                  "There is no such table.",
	parser.ErrWrongNumberOfColumnsInSelect: "The SELECTs of a UNION have different numbers of columns.",
	parser.ErrOperandColumns:               "A subquery has more columns than fit here.",
	parser.ErrSubqueryNo1Row:               "A subquery gives more than one row.",
	parser.ErrSpDoesNotExist:               "There is no such function.",
}

// explained adds the server's error number to a failure and, when no guard has judged the names,
// what the number means.
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
	detail = fmt.Sprintf("%s (server error %d)", cmp.Or(detail, "The server refused it."), number)
	return fault.Because(f.Code, reason, detail).WithCause(err)
}

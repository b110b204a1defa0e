package mysql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/mysql/server"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
)

// Name is the tool's name.
const Name = "mysql_query"

// Source is one data source of the tool.
type Source struct {
	server.Source
	// Guard judges statements; nil refuses every one (an empty allowlist).
	Guard *sqlguard.Guard
	// MaxCell is the most bytes of a cell that the agent sees; zero means the projector's default.
	MaxCell int
}

// Options are the timeouts of the sessions. The zero value is good.
type Options = server.Options

// Executor is mysql_query: one guarded SELECT on one of its data sources.
type Executor struct {
	sources map[string]dataSource
	log     *zap.Logger
}

// dataSource is a configured source with its sessions.
type dataSource struct {
	*server.Pool
	guard   *sqlguard.Guard
	maxCell int
}

var _ ports.Executor = (*Executor)(nil)

// New opens the data sources, which connect when they are first used, and returns the tool.
// The error joins every problem of every source.
func New(sources []Source, options Options, log *zap.Logger) (*Executor, error) {
	t := &Executor{sources: make(map[string]dataSource, len(sources)), log: log.Named("mysql")}
	var problems []error
	for _, s := range sources {
		if _, twice := t.sources[s.ID]; twice {
			problems = append(problems, fmt.Errorf("data source %q is listed twice", s.ID))
			continue
		}
		if s.MaxCell < 0 {
			problems = append(problems, fmt.Errorf("data source %q: its limits must be positive", s.ID))
		}
		pool, err := server.Open(s.Source, options, log)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		t.sources[s.ID] = dataSource{pool, s.Guard, s.MaxCell}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, errors.Join(err, t.Close(context.Background())) // nothing runs yet: it does not wait
	}
	return t, nil
}

// Describe returns the tool's description.
func (t *Executor) Describe() tool.Description {
	return tool.Description{
		Name: Name, Title: "MySQL query", ReadOnly: true, DataSources: slices.Sorted(maps.Keys(t.sources)),
		Text: "Runs one SELECT on a data source and returns its rows. Only allowlisted tables, columns and functions; " +
			"name every column; inner and left joins with ON; no subqueries, UNION or WITH. " +
			"Use ? with params for values. Use mysql_schema for the names.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` +
			`"data_source":{"type":"string","description":"id of the data source"},` +
			`"sql":{"type":"string","description":"one SELECT statement in MySQL's dialect"},` +
			`"params":{"type":"array","items":{"type":["string","number","boolean","null"]},` +
			`"description":"values of the ? placeholders, in order"}},` +
			`"required":["data_source","sql"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{` +
			`"scope":{"type":"object","description":"What was asked, when no row is found: data_source, the statement as it ran, its params."},` +
			`"limited":{"type":"boolean","description":"True where your own LIMIT was reached, or nothing lies behind ` +
			`your OFFSET: there may be other rows."},` +
			`"warnings":{"type":"array","description":"Why rows may not be what was asked for: stored values that do not fit."},` +
			`"columns":{"type":"array","items":{"type":"string"}},"rows":{"type":"array","items":{"type":"array"}},` +
			`"returned":{"type":"integer"},"truncated":{"type":"boolean"},` +
			`"truncated_by":{"type":"array","items":{"enum":["rows","cells","bytes"]}},"note":{"type":"string"}},` +
			`"required":["columns","rows","returned","truncated"]}`),
	}
}

type request struct {
	DataSource *string            `json:"data_source"`
	SQL        *string            `json:"sql"`
	Params     *[]json.RawMessage `json:"params"`
}

// Prepare judges the request: its members, then the data source, then the statement.
// Refusals are REQUEST_INVALID, DATA_SOURCE_UNKNOWN and QUERY_REJECTED with the guard's reason.
func (t *Executor) Prepare(raw json.RawMessage, scope tool.Scope) (tool.Plan, error) {
	var req request
	err := jsonv2.Unmarshal(raw, &req, jsonv2.RejectUnknownMembers(true))
	if err != nil || req.DataSource == nil || req.SQL == nil {
		return tool.Plan{}, fault.Because(fault.RequestInvalid, "MEMBERS",
			"mysql_query takes the strings data_source and sql, and optionally the array params").WithCause(err)
	}
	var values []json.RawMessage
	if req.Params != nil {
		values = *req.Params
	}
	if err := scope.Check(*req.DataSource); err != nil {
		return tool.Plan{}, err
	}
	d, known := t.sources[*req.DataSource]
	if !known {
		return tool.Plan{}, fault.New(fault.DataSourceUnknown)
	}
	params, err := sqlguard.ParamsFromJSON(values)
	if err != nil {
		return tool.Plan{}, rejected(err, fault.RequestInvalid)
	}
	plan, err := d.prepare(*req.SQL, params)
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{
		DataSource: d.ID(), Timeout: d.CallTimeout(), Body: plan,
		Bounds: tool.Bounds{Rows: plan.MaxRows, CellBytes: d.maxCell},
	}, nil
}

// prepare judges a statement.
func (d dataSource) prepare(sql string, params []sqlguard.Param) (*sqlguard.Plan, error) {
	if d.guard == nil {
		return nil, fault.Because(fault.QueryRejected, string(sqlguard.ReasonUnknownTable),
			"no table of this data source is available")
	}
	plan, err := d.guard.Prepare(sql, params)
	if err != nil {
		return nil, rejected(err, fault.QueryRejected)
	}
	return plan, misread(plan)
}

// rejected turns the guard's rejection into a fault.
func rejected(err error, code fault.Code) error {
	var r *sqlguard.Rejection
	if !errors.As(err, &r) {
		return fault.Wrap(fault.Internal, err)
	}
	return fault.Because(code, string(r.Reason), r.Detail)
}

// Execute runs the plan's statement and returns its rows as a row set of at most limit bytes.
//   - RESULT_TOO_LARGE at the first byte past limit; the statement is stopped, nothing is drained;
//   - EXECUTION_TIMEOUT past the query timeout, here or on the server; EXECUTION_CANCELLED when
//     ctx is cancelled: the statement is stopped on the server before Execute returns;
//   - DATA_SOURCE_BUSY, DATA_SOURCE_UNAVAILABLE and EXECUTION_FAILED with a reason.
func (t *Executor) Execute(ctx context.Context, plan tool.Plan, limit limits.RawBytes) (json.RawMessage, error) {
	d, known := t.sources[plan.DataSource]
	statement, ok := plan.Body.(*sqlguard.Plan)
	if !known || !ok || statement == nil {
		return nil, fault.Wrap(fault.Internal, server.Phase("plan"))
	}
	if err := ctx.Err(); err != nil {
		return nil, fault.Of(err)
	}
	var raw json.RawMessage
	err := d.With(ctx, func(s *server.Session) (keep bool, err error) {
		raw, keep, err = Select(ctx, s, statement, limit)
		return keep, err
	})
	if err != nil {
		t.report(d.ID(), statement, err)
		return nil, tooLarge(err, limit)
	}
	return raw, nil
}

// tooLarge says how large a result may be.
func tooLarge(err error, limit limits.RawBytes) error {
	f := fault.Of(err)
	if f.Code != fault.ResultTooLarge || f.Detail != "" {
		return err
	}
	return fault.Because(f.Code, f.Reason, fmt.Sprintf(
		"the rows may take %d bytes: ask for fewer rows or columns, or for LEFT(column, 200)", limit)).WithCause(err)
}

// reported is the most bytes of a statement in a log line.
const reported = 4 << 10

// report tells the operator which statement failed, and the server's error number; as an error where
// nobody else can help.
func (t *Executor) report(id string, plan *sqlguard.Plan, err error) {
	f := fault.Of(err)
	number := server.ErrorNumber(err)
	level, message := zap.InfoLevel, "a statement failed"
	switch {
	case f.Reason == server.PolicyMismatch:
		level, message = zap.ErrorLevel, "the server refuses what the guard accepted: guard, schema and grants disagree"
	case server.ForOperator(f):
		level, message = zap.ErrorLevel, "the server cannot run a statement"
	}
	statement := plan.SQL
	if len(statement) > reported {
		statement = strings.ToValidUTF8(statement[:reported], "") + "…"
	}
	t.log.Log(level, message, zap.String("data_source", id), zap.String("code", string(f.Code)),
		zap.String("reason", f.Reason), zap.Uint16("mysql_error", number), zap.String("statement", statement))
}

// Ready asks every source at once and returns a code for each that cannot be used. A source
// whose sessions are all in use is ready.
func (t *Executor) Ready(ctx context.Context) map[string]fault.Code {
	var mu sync.Mutex
	var wg sync.WaitGroup
	down := map[string]fault.Code{}
	for id, d := range t.sources {
		wg.Go(func() {
			if err := d.Ping(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				down[id] = fault.CodeOf(err)
			}
		})
	}
	wg.Wait()
	return down
}

// Close closes every source, waiting for running statements until ctx ends.
func (t *Executor) Close(ctx context.Context) error {
	failed := make(chan error, len(t.sources))
	for _, d := range t.sources {
		go func() { failed <- d.Close(ctx) }()
	}
	var all error
	for range t.sources {
		all = errors.Join(all, <-failed)
	}
	return all
}

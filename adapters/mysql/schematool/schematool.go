// Package schematool is the tool mysql_schema: it shows an agent the allowlist, step by step,
// so that it does not have to guess names.
//
// Nothing but the allowlist is shown, and no connection is taken: types and comments come from
// the configuration. What is not on the list is answered as if it did not exist.
package schematool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/rowset"
)

// Name is the tool's name.
const Name = "mysql_schema"

// Executor is mysql_schema: it answers from the guards' allowlists. It is immutable and safe for concurrent use.
type Executor struct {
	guards map[string]*sqlguard.Guard
}

var _ ports.Executor = (*Executor)(nil)

// New returns the tool over the guards of the data sources, by id.
func New(guards map[string]*sqlguard.Guard) *Executor { return &Executor{guards: maps.Clone(guards)} }

// Describe returns the tool's description.
func (t *Executor) Describe() tool.Description {
	return tool.Description{
		Name: Name, Title: "MySQL schema", ReadOnly: true, DataSources: slices.Sorted(maps.Keys(t.guards)),
		Text: "What mysql_query may read. Without arguments: the data sources. With data_source: its tables and " +
			"columns. " +
			"With table too: each column's type and comment. " +
			"Columns marked * are sensitive: select them as they are; values come back redacted.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"data_source":{"type":"string"},` +
			`"table":{"type":"string","description":"table or schema.table"}},"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"columns":{"type":"array","items":{"type":"string"}},` +
			`"rows":{"type":"array","items":{"type":"array"}},"returned":{"type":"integer"},"truncated":{"type":"boolean"}},` +
			`"required":["columns","rows","returned","truncated"]}`),
	}
}

type request struct {
	DataSource *string `json:"data_source"`
	Table      *string `json:"table"`
}

// listing is the answer to a valid request: the plan's body.
type listing struct {
	columns []string
	rows    [][]any
}

// maxRows bounds a listing; the projection's bytes bound it more tightly.
const maxRows = 2000

// Prepare decides which level is asked for. DATA_SOURCE_UNKNOWN and QUERY_REJECTED/UNKNOWN_TABLE
// answer a name that is not granted and one that does not exist alike.
func (t *Executor) Prepare(raw json.RawMessage, scope tool.Scope) (tool.Plan, error) {
	var req request
	if err := jsonv2.Unmarshal(raw, &req, jsonv2.RejectUnknownMembers(true)); err != nil {
		return tool.Plan{}, fault.Because(fault.RequestInvalid, "MEMBERS",
			"mysql_schema takes data_source and table, both optional strings").WithCause(err)
	}
	hidden := func(id string) bool { return scope.Check(id) != nil }
	granted := slices.DeleteFunc(slices.Sorted(maps.Keys(t.guards)), hidden)
	if req.DataSource == nil && req.Table == nil {
		return plan("", t.sources(granted)), nil
	}
	if req.DataSource == nil {
		if len(granted) != 1 {
			return tool.Plan{}, fault.Because(fault.RequestInvalid, "DATA_SOURCE", "name the data_source of the table")
		}
		req.DataSource = &granted[0]
	}
	id := *req.DataSource
	if !slices.Contains(granted, id) {
		return tool.Plan{}, fault.New(fault.DataSourceUnknown)
	}
	g := t.guards[id]
	if req.Table == nil {
		return plan(id, tables(g)), nil
	}
	table, near, found := g.Table(*req.Table)
	if !found {
		detail := fmt.Sprintf("table %.80q is not available; leave table out to list those that are", *req.Table)
		if near != "" {
			detail = fmt.Sprintf("table %.80q is not available; the nearest is %s", *req.Table, near)
		}
		return tool.Plan{}, fault.Because(fault.QueryRejected, string(sqlguard.ReasonUnknownTable), detail)
	}
	return plan(id, columns(table)), nil
}

func plan(source string, l listing) tool.Plan {
	return tool.Plan{DataSource: source, Bounds: tool.Bounds{Rows: maxRows, CellBytes: 8 << 10}, Body: l}
}

func (t *Executor) sources(granted []string) listing {
	l := listing{columns: []string{"data_source", "default_schema", "tables", "max_rows"}}
	for _, id := range granted {
		g := t.guards[id]
		l.rows = append(l.rows, []any{id, g.DefaultSchema(), len(g.Tables()), g.MaxRows()})
	}
	return l
}

func tables(g *sqlguard.Guard) listing {
	l := listing{columns: []string{"table", "columns"}}
	for _, t := range g.Tables() {
		name := t.Schema + "." + t.Name
		if t.Schema == g.DefaultSchema() {
			name = t.Name
		}
		var names []string
		for _, c := range t.Columns {
			if c.Sensitive {
				c.Name += "*"
			}
			names = append(names, c.Name)
		}
		l.rows = append(l.rows, []any{name, strings.Join(names, ", ")})
	}
	return l
}

func columns(t sqlguard.Table) listing {
	l := listing{columns: []string{"column", "type", "comment", "sensitive"}}
	for _, c := range t.Columns {
		l.rows = append(l.rows, []any{c.Name, c.Type, c.Comment, c.Sensitive})
	}
	return l
}

// Execute writes the listing as a row set; it touches no data source.
func (t *Executor) Execute(ctx context.Context, p tool.Plan, limit limits.RawBytes) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.Of(err)
	}
	l, ok := p.Body.(listing)
	if !ok {
		return nil, fault.Wrap(fault.Internal, errors.New("the plan is not one of mysql_schema"))
	}
	heads := make([]rowset.Column, len(l.columns))
	for i, name := range l.columns {
		heads[i] = rowset.Column{Name: name}
	}
	w, err := rowset.NewWriter(limit, rowset.Head{Columns: heads})
	if err != nil {
		return nil, err
	}
	for _, row := range l.rows {
		cells, err := json.Marshal(row)
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err)
		}
		if err := w.Row(cells); err != nil {
			return nil, err
		}
	}
	return w.Close(false)
}

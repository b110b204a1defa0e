package commands

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/cmd/app/settings"
	"github.com/toolboundary/toolboundary/config"
)

// question is one line of the guard command's input. Other members are ignored, so that a corpus
// with labels can be used as it is.
type question struct {
	ID     json.RawMessage   `json:"id"`
	SQL    string            `json:"sql"`
	Params []json.RawMessage `json:"params"`
}

// verdict is one line of its output.
type verdict struct {
	ID      json.RawMessage `json:"id"`
	Verdict string          `json:"verdict"`
	Reason  string          `json:"reason,omitempty"`
	Detail  string          `json:"detail,omitempty"`
	SQL     string          `json:"sql,omitempty"`
	Params  []any           `json:"params,omitempty"`
	Tables  []string        `json:"tables,omitempty"`
	Columns []lineage       `json:"columns,omitempty"`
	MaxRows int             `json:"max_rows,omitempty"`
}

// lineage is one column of an accepted statement with the columns that it comes from.
type lineage struct {
	Heading   string   `json:"heading"`
	Sources   []string `json:"sources,omitempty"`
	Sensitive bool     `json:"sensitive,omitempty"`
}

// Guard judges statements without a connection and without credentials.
func (c MySQL) Guard(ctx context.Context, args cli.GuardArgs, s cli.Streams) error {
	source, err := c.Loader.mysql(args.ConfigPath, args.DataSource, config.WithoutSecrets())
	if err != nil {
		return err
	}
	g, err := sqlguard.New(settings.Policy(source))
	if err != nil {
		return cli.UsageError{Err: fmt.Errorf("data_sources.%s: %w", args.DataSource, err)}
	}
	return judgeLines(ctx, g, args.Explain, s)
}

// judgeLines reads questions and writes verdicts, one JSON object on each line.
func judgeLines(ctx context.Context, g *sqlguard.Guard, explain bool, s cli.Streams) error {
	in, out := bufio.NewReaderSize(s.In, 64<<10), bufio.NewWriter(s.Out)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	malformed := 0
	for n := 1; ctx.Err() == nil; n++ {
		line, readErr := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			v, ok := judgeLine(g, line, explain)
			if !ok {
				malformed++
				v.Detail = fmt.Sprintf("line %d is not a JSON object {id, sql, params}", n)
			}
			if err := enc.Encode(v); err != nil {
				return err
			}
		}
		if in.Buffered() == 0 || readErr != nil { // answer an interactive writer at once
			if err := out.Flush(); err != nil {
				return err
			}
		}
		if errors.Is(readErr, io.EOF) {
			break
		}
		if readErr != nil {
			return readErr
		}
	}
	if malformed > 0 {
		return fmt.Errorf("%d line(s) were not JSON objects with id, sql and params", malformed)
	}
	return ctx.Err()
}

// judgeLine judges one line; ok reports whether it holds a question.
func judgeLine(g *sqlguard.Guard, line []byte, explain bool) (v verdict, ok bool) {
	var q question
	if json.Unmarshal(line, &q) != nil {
		return verdict{ID: json.RawMessage("null"), Verdict: "reject", Reason: "REQUEST_INVALID"}, false
	}
	if q.ID == nil {
		q.ID = json.RawMessage("null")
	}
	reject := func(err error) (verdict, bool) {
		v := verdict{ID: q.ID, Verdict: "reject"}
		var r *sqlguard.Rejection
		if errors.As(err, &r) {
			v.Reason, v.Detail = string(r.Reason), r.Detail
		}
		return v, true
	}
	params, err := sqlguard.ParamsFromJSON(q.Params)
	if err != nil {
		return reject(err)
	}
	plan, err := g.Prepare(q.SQL, params)
	if err != nil {
		return reject(err)
	}
	v = verdict{ID: q.ID, Verdict: "accept", SQL: plan.SQL, Params: plan.Args}
	if explain {
		v.Tables, v.MaxRows = plan.Tables, plan.MaxRows
		for _, c := range plan.Columns {
			v.Columns = append(v.Columns, lineage{c.Heading, c.Sources, c.Sensitive})
		}
	}
	return v, true
}

package logsearch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
)

// Name is the tool's name.
const Name = "log_search"

// Executor searches log files. It is safe for concurrent use.
type Executor struct {
	sources map[string]*source
	clock   ports.Clock
}

var _ ports.Executor = (*Executor)(nil)

// New returns the tool over the sources, or every reason why there is none. It opens no file.
// The clock says when "now" is.
func New(sources []Source, clock ports.Clock) (*Executor, error) {
	t := &Executor{map[string]*source{}, clock}
	var problems []error
	for _, s := range sources {
		made, err := newSource(s)
		if _, twice := t.sources[s.ID]; twice {
			err = fmt.Errorf("data source %s is listed twice", s.ID)
		}
		problems = append(problems, err)
		t.sources[s.ID] = made
	}
	return t, errors.Join(problems...)
}

// Describe returns the tool's description.
func (t *Executor) Describe() tool.Description {
	return tool.Description{
		Name:  Name,
		Title: "Log search",
		Text: "Search log files, rotated and compressed ones too, for lines that match an RE2 pattern, within a time " +
			"range, with equal fields. A pattern is matched against each line as it is written and as its escapes mean " +
			"it. Every match is counted, per interval; the newest max lines are shown, newest first, with context. " +
			"Secrets are masked before matching.",
		InputSchema:  json.RawMessage(inputSchema),
		OutputSchema: json.RawMessage(outputSchema),
		ReadOnly:     true,
		DataSources:  slices.Sorted(maps.Keys(t.sources)),
	}
}

// Prepare judges the request. Besides the codes of the port it returns QUERY_REJECTED with
// the reasons PATTERN and LIMIT.
func (t *Executor) Prepare(raw json.RawMessage, sc tool.Scope) (tool.Plan, error) {
	r, err := decode(raw)
	if err != nil {
		return tool.Plan{}, err
	}
	s, known := t.sources[r.DataSource]
	if err := sc.Check(r.DataSource); err != nil || !known {
		return tool.Plan{}, fault.New(fault.DataSourceUnknown)
	}
	sr, err := s.searchOf(r, t.clock.Now())
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{DataSource: s.ID, Timeout: s.Timeout, Bounds: tool.Bounds{Rows: s.MaxLines}, Body: sr}, nil
}

// Execute searches the files.
func (t *Executor) Execute(ctx context.Context, plan tool.Plan, limit limits.RawBytes) (json.RawMessage, error) {
	sr, ok := plan.Body.(search)
	if !ok {
		return nil, fault.New(fault.Internal)
	}
	release, err := sr.source.slots.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return sr.run(ctx, limit)
}

func (sr search) run(ctx context.Context, limit limits.RawBytes) (json.RawMessage, error) {
	o, err := sr.source.open(sr)
	if err != nil {
		return nil, fault.Because(fault.DataSourceUnavailable, "NOT_REACHABLE", "")
	}
	defer o.close()
	e := newEngine(sr, limit)
	for _, f := range o.files {
		err := e.file(ctx, f)
		var f2 *fault.Error
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil, fault.Of(ctx.Err())
		case errors.As(err, &f2):
			return nil, f2
		default:
			o.problems = append(o.problems, f.name+": "+err.Error())
		}
	}
	if e.matched == 0 {
		if err := e.empty(o); err != nil {
			return nil, err
		}
	}
	return e.response(o, limit)
}

// Unready returns the ids of the sources whose directory cannot be opened, in any order.
func (t *Executor) Unready(context.Context) []string {
	var down []string
	for id, s := range t.sources {
		root, err := os.OpenRoot(s.Root)
		if err != nil {
			down = append(down, id)
			continue
		}
		root.Close()
	}
	return down
}

package promquery

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/toolboundary/toolboundary/adapters/promquery/promguard"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
)

// Name is the tool's name.
const Name = "prometheus_query"

// Executor runs guarded PromQL queries. It is safe for concurrent use.
type Executor struct {
	sources map[string]*source
	clock   ports.Clock
}

var _ ports.Executor = (*Executor)(nil)

// New returns the tool over the sources, or every reason why there is none. It opens no
// connection. The clock says when "now" is.
func New(sources []Source, clock ports.Clock) (*Executor, error) {
	byID, err := newSources(sources)
	if err != nil {
		return nil, err
	}
	return &Executor{byID, clock}, nil
}

// Close closes idle connections.
func (t *Executor) Close() {
	for _, s := range t.sources {
		s.client.CloseIdleConnections()
	}
}

// Describe returns the tool's description.
func (t *Executor) Describe() tool.Description {
	return tool.Description{
		Name:  Name,
		Title: "Prometheus query",
		Text: "Run one PromQL query on a metrics data source, at an instant (time, default now) or over a range " +
			"(start, end, step). " +
			"Every selector must name one metric; matchers that the service requires are added to each of them. " +
			"Times are RFC 3339, Unix seconds, or relative such as now-1h. Large answers are down-sampled: min, " +
			"max, mean and last of each series are exact.",
		InputSchema:  json.RawMessage(inputSchema),
		OutputSchema: json.RawMessage(outputSchema),
		ReadOnly:     true,
		DataSources:  slices.Sorted(maps.Keys(t.sources)),
	}
}

// statement is a plan's body.
type statement struct {
	source *source
	text   promguard.Statement
	window window
}

// Prepare judges the request. Besides the codes of the port it returns QUERY_REJECTED with a
// reason of promguard.
func (t *Executor) Prepare(raw json.RawMessage, sc tool.Scope) (tool.Plan, error) {
	r, err := decode(raw)
	if err != nil {
		return tool.Plan{}, err
	}
	s, known := t.sources[r.DataSource]
	if err := sc.Check(r.DataSource); err != nil || !known {
		return tool.Plan{}, fault.New(fault.DataSourceUnknown)
	}
	w, err := s.windowOf(r, t.clock.Now())
	if err != nil {
		return tool.Plan{}, err
	}
	st, err := s.guard.Translate(r.Query)
	if err != nil {
		return tool.Plan{}, err
	}
	if err := s.affordable(w, st); err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{DataSource: s.ID, Timeout: s.Timeout, Bounds: tool.Bounds{Rows: s.MaxSeries},
		Body: statement{s, st, w}}, nil
}

// Execute asks the source and returns its answer, with what was asked.
func (t *Executor) Execute(ctx context.Context, plan tool.Plan, limit limits.RawBytes) (json.RawMessage, error) {
	st, ok := plan.Body.(statement)
	if !ok {
		return nil, fault.New(fault.Internal)
	}
	raw, err := st.run(ctx, limit)
	if err != nil && ctx.Err() != nil && fault.CodeOf(err) != fault.ResultTooLarge {
		return nil, fault.Of(ctx.Err())
	}
	return raw, err
}

// Package tool holds what the boundary knows of a tool: its description, the scope in which
// a call may use it, and the plan that a valid request becomes.
package tool

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
)

// MaxName is the most bytes of a tool's name.
const MaxName = 64

// Description is what a tool says of itself. Agents read it, so it is short.
type Description struct {
	// Name is the tool's stable name, such as mysql_query: [a-z][a-z0-9_]{0,63}.
	Name string
	// Title is the name shown to people.
	Title string
	// Text tells the agent what it may ask, in as few words as possible.
	Text string
	// InputSchema and OutputSchema are JSON Schemas (2020-12) of request and agent result.
	InputSchema, OutputSchema json.RawMessage
	// ReadOnly is true for a tool that changes nothing; others are never run (S05).
	ReadOnly bool
	// DataSources lists the ids of the data sources that the tool reads, sorted; empty when
	// it reads none by name.
	DataSources []string
}

// Scope is what a call may touch: it comes from the run's grants, never from the agent.
type Scope struct {
	// DataSources are the ids that were granted to the run.
	DataSources []string
}

// Check returns DATA_SOURCE_UNKNOWN unless the source was granted: one that does not exist
// and one that was not granted answer alike.
func (s Scope) Check(dataSource string) error {
	if !slices.Contains(s.DataSources, dataSource) {
		return fault.New(fault.DataSourceUnknown)
	}
	return nil
}

// Plan is what a tool makes of a valid request. The boundary reads the exported limits and
// hands the plan back to the same tool's Execute. The projector gets Bounds and nothing else of
// it: what an answer tells of the plan, Execute writes into the raw response.
type Plan struct {
	// DataSource is the id of the source that the plan reads; empty when there is none.
	DataSource string
	// Timeout bounds Execute; zero means the service's default.
	Timeout time.Duration
	// Bounds are the projection's own bounds.
	Bounds Bounds
	// Body is the tool's own part, such as the statement that will run.
	Body any
}

// Bounds shape a projection. A field that is not positive means that the projector's default
// holds.
type Bounds struct {
	// Rows is the most items that the agent receives: rows, series, lines.
	Rows int
	// CellBytes is the most bytes of one value in JSON.
	CellBytes int
	// AgentResult is the most bytes of the whole projection; the boundary sets it.
	AgentResult limits.AgentBytes
}

// Or returns the bounds, with those of other where b has none.
func (b Bounds) Or(other Bounds) Bounds {
	return Bounds{
		Rows:        either(b.Rows, other.Rows),
		CellBytes:   either(b.CellBytes, other.CellBytes),
		AgentResult: either(b.AgentResult, other.AgentResult),
	}
}

// either returns a when it is positive, else b.
func either[N ~int](a, b N) N {
	if a > 0 {
		return a
	}
	return b
}

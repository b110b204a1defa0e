// Package mysqlrows projects row sets: ordered columns, rows of JSON values, how many rows
// were returned and whether, and by what, the answer was cut.
//
// Cells of sensitive columns become [REDACTED], also where the value was NULL, whatever the
// column is called (S40). A cell over its bound becomes a string that ends in a visible mark,
// rows that do not fit are dropped whole, and the result is always valid JSON within its
// limit (S38). It reads no more of the row set than it shows.
package mysqlrows

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/rowset"
)

// The bounds that hold where tool.Bounds has a zero.
const (
	// DefaultRows is the most rows.
	DefaultRows = 200
	// DefaultCellBytes is the most bytes of one cell in JSON, quotes included.
	DefaultCellBytes = 4 << 10
)

// Redacted stands for every value of a sensitive column.
const Redacted = "[REDACTED]"

// Projector projects row sets. The zero value is ready to use.
type Projector struct{}

var _ ports.Projector = Projector{}

// Project returns the bounded rows of a row set: EVIDENCE_FOUND, or NO_EVIDENCE with the
// columns when it is empty. A raw answer that is no row set is PROJECTION_FAILED; columns
// that alone pass the limit are RESULT_TOO_LARGE.
func (Projector) Project(raw json.RawMessage, bounds tool.Bounds) (evidence.Projection, error) {
	r, err := rowset.NewReader(raw)
	if err != nil {
		return evidence.Projection{}, fault.Wrap(fault.ProjectionFailed, err)
	}
	p, err := newPage(r.Columns, withDefaults(bounds))
	if err != nil {
		return evidence.Projection{}, err
	}
	found := false
	for {
		cells, err := r.Next()
		if errors.Is(err, io.EOF) {
			p.ended(r.More())
			break
		}
		if err != nil {
			return evidence.Projection{}, fault.Wrap(fault.ProjectionFailed, err)
		}
		found = true
		if more, err := p.add(cells); err != nil {
			return evidence.Projection{}, err
		} else if !more {
			break
		}
	}
	status := evidence.None
	if found || r.More() {
		status = evidence.Found
	}
	result, err := p.close()
	if err != nil {
		return evidence.Projection{}, err
	}
	return evidence.Projection{AgentResult: result, Status: status}, nil
}

func withDefaults(b tool.Bounds) tool.Bounds {
	if b.Rows <= 0 {
		b.Rows = DefaultRows
	}
	if b.CellBytes <= 0 {
		b.CellBytes = DefaultCellBytes
	}
	if b.AgentResult <= 0 {
		b.AgentResult = limits.Default().AgentResult
	}
	return b
}

package fake

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
)

// Projector shows {"items":[…],"truncated":…}: the elements of an answer that is an array,
// else the answer as the one item; none for null. An item over bounds.CellBytes becomes "[cut]".
//
// An answer {"project":…} makes it misbehave: "panic" and "error" carry the answer's text,
// "garbage" returns it as the result, "status" as the evidence status, and "oversize" ignores
// the bounds.
type Projector struct{}

var _ ports.Projector = Projector{}

type mischief struct {
	Project string `json:"project"`
	Text    string `json:"text"`
}

// Project returns the bounded items of raw.
func (Projector) Project(raw json.RawMessage, bounds tool.Bounds) (evidence.Projection, error) {
	var m mischief
	if json.Unmarshal(raw, &m) == nil && m.Project != "" {
		return misbehave(m, bounds)
	}
	if !json.Valid(raw) {
		return evidence.Projection{}, fault.New(fault.ProjectionFailed)
	}
	return project(raw, bounds)
}

func misbehave(m mischief, bounds tool.Bounds) (evidence.Projection, error) {
	fine := evidence.Projection{AgentResult: json.RawMessage(`{"items":[],"truncated":false}`), Status: evidence.Found}
	switch m.Project {
	case "panic":
		panic(m.Text)
	case "error":
		return evidence.Projection{}, errors.New(m.Text)
	case "garbage":
		fine.AgentResult = json.RawMessage(m.Text)
	case "status":
		fine.Status = evidence.Status(m.Text)
	case "oversize":
		fine.AgentResult = json.RawMessage(`"` + strings.Repeat("x", int(bounds.AgentResult)) + `"`)
	default:
		return evidence.Projection{}, fault.New(fault.ProjectionFailed)
	}
	return fine, nil
}

func project(raw json.RawMessage, bounds tool.Bounds) (evidence.Projection, error) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		items = []json.RawMessage{raw}
	}
	const open, closed = `{"items":[`, `],"truncated":false}`
	room := limits.Default().AgentResult
	if bounds.AgentResult > 0 {
		room = bounds.AgentResult
	}
	if len(open)+len(closed) > int(room) {
		return evidence.Projection{}, fault.New(fault.ResultTooLarge)
	}
	out, truncated, shown := []byte(open), false, 0
	for _, item := range items {
		if bounds.CellBytes > 0 && len(item) > bounds.CellBytes {
			item, truncated = json.RawMessage(`"[cut]"`), true
		}
		if (bounds.Rows > 0 && shown == bounds.Rows) || len(out)+1+len(item)+len(closed) > int(room) {
			truncated = true
			break
		}
		if shown > 0 {
			out = append(out, ',')
		}
		out = append(out, item...)
		shown++
	}
	end := closed
	if truncated {
		end = `],"truncated":true}`
	}
	status := evidence.Found
	if len(items) == 0 {
		status = evidence.None
	}
	return evidence.Projection{AgentResult: append(out, end...), Status: status}, nil
}

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
// An answer {"asked":…} is empty and shows what was asked as its scope.
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
	items, open := itemsOf(raw)
	status := evidence.Found
	if len(items) == 0 {
		status = evidence.None
	}
	bounds = bounds.Or(tool.Bounds{Rows: len(items), CellBytes: len(raw), AgentResult: limits.Default().AgentResult})
	by := "" // what cut the answer last
	if len(items) > bounds.Rows {
		items, by = items[:bounds.Rows], "items"
	}
	size := len(open)
	for i, item := range items {
		if len(item) > bounds.CellBytes {
			items[i], by = json.RawMessage(`"[cut]"`), "cells"
		}
		size += len(items[i]) + len(`,`)
	}
	n := len(items)
	for ; n > 0 && size-len(`,`)+len(end(by)) > int(bounds.AgentResult); n-- {
		size, by = size-len(items[n-1])-len(`,`), "bytes"
	}
	result := []byte(open)
	for i, item := range items[:n] {
		if i > 0 {
			result = append(result, ',')
		}
		result = append(result, item...)
	}
	result = append(result, end(by)...)
	if len(result) > int(bounds.AgentResult) {
		return evidence.Projection{}, fault.New(fault.ResultTooLarge)
	}
	return evidence.Projection{AgentResult: result, Status: status}, nil
}

// itemsOf returns the items of an answer, and the result's text up to its first item.
func itemsOf(raw json.RawMessage) (items []json.RawMessage, open string) {
	var empty struct {
		Asked json.RawMessage `json:"asked"`
	}
	switch {
	case json.Unmarshal(raw, &items) == nil:
		return items, `{"items":[`
	case json.Unmarshal(raw, &empty) == nil && empty.Asked != nil:
		return nil, `{"scope":{"asked":` + string(empty.Asked) + `},"items":[`
	}
	return []json.RawMessage{raw}, `{"items":[`
}

// end returns the result's text after its last item; by is what cut it, if anything did.
func end(by string) string {
	if by == "" {
		return `],"truncated":false}`
	}
	return `],"truncated":true,"truncated_by":["` + by + `"]}`
}

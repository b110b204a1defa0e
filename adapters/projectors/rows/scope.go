package rows

import (
	"encoding/json"
	"strconv"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/ports/answer"
	"github.com/toolboundary/toolboundary/ports/cell"
	"github.com/toolboundary/toolboundary/ports/rowset"
)

// scopeBytes bounds the scope of an empty answer.
const scopeBytes = 8 << 10

// closeEmpty returns the answer without rows: its scope says what was asked. A scope that is too
// long is cut, and the answer says so; one that leaves no room for that is RESULT_TOO_LARGE.
func (p *page) closeEmpty(list *answer.List) (json.RawMessage, error) {
	asked, err := p.set.Asked()
	if err != nil {
		return nil, fault.Wrap(fault.ProjectionFailed, err)
	}
	if asked == nil {
		result, _, err := list.Close()
		return result, err
	}
	scope, err := cell.Marshal(asked)
	if err != nil {
		return nil, fault.Wrap(fault.ProjectionFailed, err)
	}
	if len(scope) <= scopeBytes {
		if result, _, err := p.list(scope).Close(); err == nil {
			return result, nil
		}
	}
	room := list.Room(0, answer.Cells) - len(`"scope":,`)
	if scope, err = cutScope(*asked, min(room, scopeBytes)); err != nil {
		return nil, err
	}
	short := p.list(scope)
	short.LeftOut(answer.Cells)
	result, _, err := short.Close()
	return result, err
}

// cutScope returns the scope in at most most bytes. The params, as one value, take up to a
// quarter of what the texts may take, the statement the rest.
func cutScope(a rowset.Asked, most int) (json.RawMessage, error) {
	out := append(cell.Quote([]byte(`{"data_source":`), a.DataSource), `,"statement":`...)
	room := most - len(out) - len(`}`)
	var params []byte
	if len(a.Params) > 0 {
		list, err := cell.Marshal(a.Params)
		if err != nil {
			return nil, fault.Wrap(fault.ProjectionFailed, err)
		}
		params = []byte(`,"params":`)
		if params, _, err = appendCell(params, list, room/4); err != nil {
			return nil, err
		}
	}
	if a.Offset > 0 {
		params = strconv.AppendUint(append(params, `,"offset":`...), a.Offset, 10)
	}
	if room -= len(params); room < leastCell {
		return nil, fault.New(fault.ResultTooLarge)
	}
	out, _ = cell.Append(out, a.Statement, room)
	return append(append(out, params...), '}'), nil
}

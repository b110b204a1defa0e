package rows

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/ports/cell"
)

// leastCell is the least room in which a cut cell still shows something of its value.
const leastCell = 64

// appendCell appends a value in at most most bytes and reports whether it had to be cut. A value
// that is cut becomes a string that holds its beginning and says how many bytes the whole has: of
// the text when the value is a string, else of its JSON, which a cut would break.
func appendCell(out []byte, value json.RawMessage, most int) ([]byte, bool, error) {
	if !utf8.Valid(value) {
		return nil, false, fault.Because(fault.ProjectionFailed, "RESULT_UTF8", "")
	}
	if len(value) <= most {
		return append(out, value...), false, nil
	}
	text := string(value)
	var s string
	if json.Unmarshal(value, &s) == nil {
		text = s
	}
	return cell.AppendCut(out, text, most), true, nil
}

package mysqlrows

import (
	"encoding/json"

	"github.com/toolboundary/toolboundary/ports/cell"
)

// leastCell is the least room in which a cut cell still shows something of its value.
const leastCell = 64

// appendCut appends, in at most most bytes, a JSON string that holds the beginning of the
// value and says how many bytes the whole has: of the text when the value is a string, else of
// its JSON, which as a whole would be broken by a cut.
func appendCut(out []byte, value json.RawMessage, most int) []byte {
	text := string(value)
	var s string
	if json.Unmarshal(value, &s) == nil {
		text = s
	}
	return cell.AppendCut(out, text, most)
}

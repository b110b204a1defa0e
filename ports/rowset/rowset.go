// Package rowset is the raw format of tabular tools: executors write it, projectors read
// nothing else.
//
// The JSON form is {"asked":{…},"executed":"…","columns":[…],"rows":[[…],…],"more":false}: what was
// asked and what was executed, which may be left out; columns with name, type, source columns and the sensitive flag; rows of JSON
// values in column order; more is true when the source had more rows than were asked for. After it
// comes limited, where the request asked for a part of the rows, and warnings, where the source said
// something of their values. A reader passes over members that it does not know.
//
// A cell of a sensitive column is padded with blanks, which JSON allows after a value, to
// [SensitiveBytes]: whatever counts the bytes of a row set counts the same for every value.
package rowset

import (
	"bytes"
	"encoding/json"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/ports/cell"
)

// Head is what a row set says before its rows.
type Head struct {
	// Asked is what was asked; nil when the tool does not say.
	Asked *Asked `json:"asked,omitempty"`
	// Executed is the statement as it was sent to the source: for those who read records, and not
	// shown to agents.
	Executed string `json:"executed,omitempty"`
	// Columns describe the cells of each row, in order.
	Columns []Column `json:"columns"`
}

// Asked is what a call asked of its source: what a projector needs of the plan. An empty answer
// shows it as its scope, so it has no names but those that the agent used or may see.
type Asked struct {
	// DataSource is the id of the source that was read.
	DataSource string `json:"data_source,omitempty"`
	// Statement is the statement as it ran, with its row limit, in the agent's names.
	Statement string `json:"statement"`
	// Offset is how many rows were passed over before the first one.
	Offset uint64 `json:"offset,omitempty"`
	// Params are the values of the statement's placeholders, in the statement's order.
	Params []json.RawMessage `json:"params,omitempty"`
}

// Column describes one column of a row set.
type Column struct {
	// Name is the heading that the agent gave it.
	Name string `json:"name"`
	// Type is the source's name of the value type, such as DECIMAL.
	Type string `json:"type,omitempty"`
	// Sources are the columns whose values it carries, such as shop.customers.id.
	Sources []string `json:"sources,omitempty"`
	// Sensitive columns are redacted in every projection, whatever they are called (S40).
	Sensitive bool `json:"sensitive,omitempty"`
}

// Warning says in how far the rows of a set are not what was asked for, because of stored values.
type Warning struct {
	// Text is a sentence that holds no value.
	Text string `json:"text"`
	// Count is how often it holds, at least one.
	Count int `json:"count"`
}

// SensitiveBytes is what a cell of a sensitive column takes of a row set, whatever its value is. Limits
// count bytes, and a caller sees when one is passed: with cells of their own length it could measure a
// value that is never shown, and tell NULL from a text.
const SensitiveBytes = 1 << 10

// PadSensitive pads the cell of a sensitive column, which is row[from:], with blanks to
// SensitiveBytes. A longer one is RESULT_TOO_LARGE.
func PadSensitive(row []byte, from int) ([]byte, error) {
	need := SensitiveBytes - (len(row) - from)
	if need < 0 {
		return nil, fault.Because(fault.ResultTooLarge, "",
			"a value of a sensitive column is longer than 1024 bytes: leave the column out")
	}
	return append(row, blanks[:need]...), nil
}

var blanks = bytes.Repeat([]byte{' '}, SensitiveBytes)

// AddWarning counts one warning with the text.
func AddWarning(list []Warning, text string) []Warning {
	for i := range list {
		if list[i].Text == text {
			list[i].Count++
			return list
		}
	}
	return append(list, Warning{Text: text, Count: 1})
}

// Writer writes a row set within a byte limit. Every method returns RESULT_TOO_LARGE once the
// limit would be passed; the partial output must then be discarded.
type Writer struct {
	buf  limits.Buffer
	rows int
}

// NewWriter writes the head and returns the writer of the rows.
func NewWriter(limit limits.RawBytes, head Head) (*Writer, error) {
	if head.Columns == nil {
		head.Columns = []Column{}
	}
	text, err := cell.Marshal(head)
	if err != nil {
		return nil, err
	}
	w := &Writer{buf: limits.Buffer{Limit: limit}}
	_, err = w.buf.Write(append(text[:len(text)-1], `,"rows":[`...))
	return w, err
}

// Row appends one row: a JSON array whose cells are in column order. The bytes are copied.
func (w *Writer) Row(array []byte) error {
	if w.rows > 0 {
		if _, err := w.buf.Write([]byte{','}); err != nil {
			return err
		}
	}
	w.rows++
	_, err := w.buf.Write(array)
	return err
}

// Rows returns the number of rows written.
func (w *Writer) Rows() int { return w.rows }

// End is what a row set says after its rows.
type End struct {
	// More reports that the source had more rows.
	More bool `json:"more"`
	// Limited reports that the request asked for a part of the rows, which may not be all: its own
	// limit was reached, or its offset passed over rows.
	Limited bool `json:"limited,omitempty"`
	// Warnings say in how far the rows are not what was asked for.
	Warnings []Warning `json:"warnings,omitempty"`
}

// Close ends the row set and returns its bytes. more says whether the source had more rows.
func (w *Writer) Close(more bool) (json.RawMessage, error) { return w.Finish(End{More: more}) }

// Finish is Close with all that a row set says after its rows.
func (w *Writer) Finish(end End) (json.RawMessage, error) {
	text, err := cell.Marshal(end)
	if err != nil {
		return nil, err
	}
	if _, err := w.buf.Write(append([]byte("],"), text[1:]...)); err != nil {
		return nil, err
	}
	return w.buf.Bytes(), nil
}

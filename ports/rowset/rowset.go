// Package rowset is the raw format of tabular tools: executors write it, projectors read
// nothing else.
//
// The JSON form is {"columns":[…],"rows":[[…],…],"more":false}: columns with name, type,
// source columns and the sensitive flag; rows of JSON values in column order; more is true
// when the source had more rows than were asked for.
package rowset

import (
	"encoding/json"

	"github.com/toolboundary/toolboundary/domain/limits"
)

// Column describes one column of a row set.
type Column struct {
	// Name is the agent's own heading.
	Name string `json:"name"`
	// Type is the source's name of the value type, such as DECIMAL.
	Type string `json:"type,omitempty"`
	// Sources are the columns whose values it carries, such as shop.customers.id.
	Sources []string `json:"sources,omitempty"`
	// Sensitive columns are redacted in every projection, whatever their name (S40).
	Sensitive bool `json:"sensitive,omitempty"`
}

// Writer writes a row set within a byte limit. Every method returns RESULT_TOO_LARGE once
// the limit would be passed; what was written until then is of no use.
type Writer struct {
	buf  limits.Buffer
	rows int
}

// NewWriter writes the columns and returns the writer of the rows.
func NewWriter(limit limits.RawBytes, columns []Column) (*Writer, error) {
	w := &Writer{buf: limits.Buffer{Limit: limit}}
	head, err := json.Marshal(columns)
	if err != nil {
		return nil, err
	}
	if columns == nil {
		head = []byte("[]")
	}
	_, err = w.buf.Write(append(append([]byte(`{"columns":`), head...), `,"rows":[`...))
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

// Close ends the row set and returns its bytes; more tells that the source had more rows.
func (w *Writer) Close(more bool) (json.RawMessage, error) {
	end := `],"more":false}`
	if more {
		end = `],"more":true}`
	}
	if _, err := w.buf.Write([]byte(end)); err != nil {
		return nil, err
	}
	return w.buf.Bytes(), nil
}

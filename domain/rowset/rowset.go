// Package rowset is the raw format of tabular tools: executors write it, projectors read
// nothing else.
//
// The JSON form is {"columns":[…],"rows":[[…],…],"more":false}: columns with name, type,
// source columns and the sensitive flag; rows of JSON values in column order; more is true
// when the source had more rows than were asked for.
package rowset

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

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

// Reader reads a row set row by row.
type Reader struct {
	// Columns are the row set's columns.
	Columns []Column

	dec  *json.Decoder
	more bool
	done bool
}

// ErrFormat says that the bytes are not a row set.
var ErrFormat = errors.New("not a row set")

// NewReader reads the columns and returns the reader of the rows, or ErrFormat.
func NewReader(raw json.RawMessage) (*Reader, error) {
	r := &Reader{dec: json.NewDecoder(bytes.NewReader(raw))}
	if !r.delim('{') || !r.member("columns") || r.dec.Decode(&r.Columns) != nil ||
		!r.member("rows") || !r.delim('[') {
		return nil, ErrFormat
	}
	return r, nil
}

// Next returns the next row's cells, io.EOF after the last one, or ErrFormat.
func (r *Reader) Next() ([]json.RawMessage, error) {
	if r.done {
		return nil, io.EOF
	}
	if r.dec.More() {
		cells := make([]json.RawMessage, 0, len(r.Columns))
		if r.dec.Decode(&cells) != nil || len(cells) != len(r.Columns) {
			return nil, ErrFormat
		}
		return cells, nil
	}
	if !r.delim(']') || !r.member("more") || r.dec.Decode(&r.more) != nil || !r.delim('}') {
		return nil, ErrFormat
	}
	r.done = true
	return nil, io.EOF
}

// More reports whether the source had more rows; it is known once Next returned io.EOF.
func (r *Reader) More() bool { return r.more }

func (r *Reader) delim(want json.Delim) bool {
	t, err := r.dec.Token()
	return err == nil && t == want
}

func (r *Reader) member(want string) bool {
	t, err := r.dec.Token()
	return err == nil && t == want
}

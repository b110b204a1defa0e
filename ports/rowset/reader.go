package rowset

import (
	"encoding/json"
	"errors"
	"io"
)

// Reader reads a row set row by row. It looks only for where values begin and end, so that a
// projector pays for the rows that it shows; that the whole is JSON is the boundary's to check.
type Reader struct {
	// Columns are the row set's columns.
	Columns []Column

	raw  []byte
	at   int
	rows int
	more bool
	done bool
}

// ErrFormat says that the bytes are not a row set.
var ErrFormat = errors.New("not a row set")

// NewReader reads the columns and returns the reader of the rows, or ErrFormat.
func NewReader(raw json.RawMessage) (*Reader, error) {
	r := &Reader{raw: raw}
	if !r.next('{') || !r.member("columns") {
		return nil, ErrFormat
	}
	columns, ok := r.value()
	if !ok || json.Unmarshal(columns, &r.Columns) != nil || !r.next(',') || !r.member("rows") || !r.next('[') {
		return nil, ErrFormat
	}
	return r, nil
}

// Next returns the next row's cells, io.EOF after the last one, or ErrFormat. The cells are
// parts of the raw answer: they must not be changed.
func (r *Reader) Next() ([]json.RawMessage, error) {
	if r.done {
		return nil, io.EOF
	}
	if r.next(']') {
		return nil, r.end()
	}
	if (r.rows > 0 && !r.next(',')) || !r.next('[') {
		return nil, ErrFormat
	}
	r.rows++
	cells := make([]json.RawMessage, 0, len(r.Columns))
	for i := range r.Columns {
		if i > 0 && !r.next(',') {
			return nil, ErrFormat
		}
		cell, ok := r.value()
		if !ok {
			return nil, ErrFormat
		}
		cells = append(cells, cell)
	}
	if !r.next(']') {
		return nil, ErrFormat
	}
	return cells, nil
}

// end reads what follows the rows and returns io.EOF, or ErrFormat.
func (r *Reader) end() error {
	if !r.next(',') || !r.member("more") {
		return ErrFormat
	}
	more, ok := r.value()
	if !ok || (string(more) != "true" && string(more) != "false") || !r.next('}') {
		return ErrFormat
	}
	r.more, r.done = string(more) == "true", true
	return io.EOF
}

// More reports whether the source had more rows; it is known once Next returned io.EOF.
func (r *Reader) More() bool { return r.more }

// next takes the byte c, after blanks, and reports whether it was there.
func (r *Reader) next(c byte) bool {
	r.blanks()
	if r.at < len(r.raw) && r.raw[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *Reader) blanks() {
	for r.at < len(r.raw) && (r.raw[r.at] == ' ' || r.raw[r.at] == '\n' || r.raw[r.at] == '\t' || r.raw[r.at] == '\r') {
		r.at++
	}
}

// member takes a member's name and its colon.
func (r *Reader) member(name string) bool {
	got, ok := r.value()
	return ok && string(got) == `"`+name+`"` && r.next(':')
}

// value takes one value and returns its bytes.
func (r *Reader) value() (json.RawMessage, bool) {
	r.blanks()
	from, depth := r.at, 0
	for r.at < len(r.raw) {
		switch c := r.raw[r.at]; c {
		case '"':
			if !r.text() {
				return nil, false
			}
		case '[', '{':
			depth++
			r.at++
		case ']', '}':
			if depth == 0 {
				return nil, false
			}
			depth--
			r.at++
		default:
			r.at++
			if depth > 0 {
				continue
			}
			r.scalar()
		}
		if depth == 0 {
			return json.RawMessage(r.raw[from:r.at:r.at]), true
		}
	}
	return nil, false
}

// text takes a string, from its first quote to its last.
func (r *Reader) text() bool {
	for r.at++; r.at < len(r.raw); r.at++ {
		switch r.raw[r.at] {
		case '\\':
			r.at++
		case '"':
			r.at++
			return true
		}
	}
	return false
}

// scalar takes the rest of a number or a literal.
func (r *Reader) scalar() {
	for r.at < len(r.raw) {
		switch r.raw[r.at] {
		case ',', ']', '}', ' ', '\n', '\t', '\r':
			return
		}
		r.at++
	}
}

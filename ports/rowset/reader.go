package rowset

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Reader reads a row set row by row. It looks only for where values begin and end, so that a
// projector pays for no more rows than it shows; the boundary checks that the whole is JSON.
type Reader struct {
	// Columns are the row set's columns.
	Columns []Column

	asked json.RawMessage
	cells []json.RawMessage

	raw  []byte
	at   int
	rows int
	end  End
	done bool
}

// ErrFormat says that the bytes are not a row set.
var ErrFormat = errors.New("not a row set")

// NewReader reads what comes before the rows and returns the reader of the rows, or ErrFormat.
func NewReader(raw json.RawMessage) (*Reader, error) {
	r := &Reader{raw: raw}
	if !r.next('{') {
		return nil, ErrFormat
	}
	for {
		name, ok := r.member()
		switch {
		case !ok:
			return nil, ErrFormat
		case string(name) == "rows":
			if r.Columns == nil || !r.next('[') {
				return nil, ErrFormat
			}
			r.cells = make([]json.RawMessage, 0, len(r.Columns))
			return r, nil
		}
		value, ok := r.value()
		if ok && string(name) == "columns" {
			ok = json.Unmarshal(value, &r.Columns) == nil
		}
		if string(name) == "asked" {
			r.asked = value
		}
		if !ok || !r.next(',') {
			return nil, ErrFormat
		}
	}
}

// Asked returns what was asked, nil when the row set does not say, or ErrFormat.
func (r *Reader) Asked() (*Asked, error) {
	if r.asked == nil {
		return nil, nil
	}
	var a *Asked
	if json.Unmarshal(r.asked, &a) != nil {
		return nil, ErrFormat
	}
	return a, nil
}

// Next returns the next row's cells, io.EOF after the last one, or ErrFormat. The cells are
// parts of the raw response: they must not be changed. The slice is used again by the next call.
func (r *Reader) Next() ([]json.RawMessage, error) {
	if r.done {
		return nil, io.EOF
	}
	if r.next(']') {
		return nil, r.close()
	}
	if (r.rows > 0 && !r.next(',')) || !r.next('[') {
		return nil, ErrFormat
	}
	r.rows++
	r.cells = r.cells[:0]
	for i := range r.Columns {
		if i > 0 && !r.next(',') {
			return nil, ErrFormat
		}
		cell, ok := r.value()
		if !ok {
			return nil, ErrFormat
		}
		r.cells = append(r.cells, cell)
	}
	if !r.next(']') {
		return nil, ErrFormat
	}
	return r.cells, nil
}

// close reads what follows the rows and returns io.EOF, or ErrFormat.
func (r *Reader) close() error {
	var more string
	for !r.next('}') {
		if !r.next(',') {
			return ErrFormat
		}
		name, named := r.member()
		value, ok := r.value()
		if !named || !ok {
			return ErrFormat
		}
		switch string(name) {
		case "more":
			more = string(value)
		case "limited":
			r.end.Limited = string(value) == "true"
		case "warnings":
			if json.Unmarshal(value, &r.end.Warnings) != nil {
				return ErrFormat
			}
		}
	}
	if more != "true" && more != "false" {
		return ErrFormat
	}
	r.end.More, r.done = more == "true", true
	return io.EOF
}

// More reports whether the source had more rows; it is known once Next returned io.EOF.
func (r *Reader) More() bool { return r.end.More }

// End returns what the row set says after its rows, or ErrFormat; the rows are still to be read.
func (r *Reader) End() (End, error) {
	last := *r
	last.cells = nil
	// Quotes within values are escaped, so that the last one is the writer's own.
	if at := bytes.LastIndex(r.raw, []byte(`],"more":`)); at >= r.at {
		last.at = at + 1
		if last.close() == io.EOF {
			return last.end, nil
		}
		last = *r
		last.cells = nil
	}
	for {
		if _, err := last.Next(); err == io.EOF {
			return last.end, nil
		} else if err != nil {
			return End{}, err
		}
	}
}

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

// member takes a member's name and its colon, and returns the name.
func (r *Reader) member() ([]byte, bool) {
	r.blanks()
	from := r.at
	if from == len(r.raw) || r.raw[from] != '"' || !r.text() {
		return nil, false
	}
	name := r.raw[from+1 : r.at-1]
	return name, r.next(':')
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

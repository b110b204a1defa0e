package promquery

import (
	"encoding/json"
	"time"

	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/ports/cell"
)

// answer is the raw form: written by Execute, read by Projector. Samples are as the source
// wrote them: [seconds, "value"].
//
//	{"scope":{…},"kind":"vector","series":[{"labels":{…},"samples":[[1700000000,"1"],…]},…],"more":false,"warnings":[…],"partial":false}
type answer struct {
	Scope *scope `json:"scope"`
	// Kind is vector (one sample per series, at the scope's time) or matrix.
	Kind   string   `json:"kind"`
	Series []series `json:"series"`
	// More is true when the source had more series than are read of it.
	More bool `json:"more"`
	ending
}

// ending is what a source says at the end of its answer. The warnings are its own words: they
// stay in the record and are never shown.
type ending struct {
	Warnings []string `json:"warnings,omitempty"`
	Partial  bool     `json:"partial,omitempty"`
}

// scope is what was asked: it makes an empty answer a finding.
type scope struct {
	DataSource string `json:"data_source"`
	// Query is the text that ran; Required are the matchers that the service put on each of its
	// selectors.
	Query    string   `json:"query"`
	Required []string `json:"required,omitempty"`
	// Time is set for an instant, the others for a range.
	Time  string `json:"time,omitempty"`
	Start string `json:"start,omitempty"`
	End   string `json:"end,omitempty"`
	Step  string `json:"step,omitempty"`
}

type series struct {
	Labels  map[string]string    `json:"labels"`
	Samples [][2]json.RawMessage `json:"samples"`
}

// The kinds of an answer.
const (
	vector = "vector"
	matrix = "matrix"
)

func (s statement) kind() string {
	if s.window.instant() && !s.text.Matrix {
		return vector
	}
	return matrix
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func (s statement) scope() scope {
	sc := scope{DataSource: s.source.ID, Query: s.text.Text, Required: s.source.guard.Mandatory()}
	if s.window.instant() {
		sc.Time = stamp(s.window.end)
		return sc
	}
	sc.Start, sc.End, sc.Step = stamp(s.window.start), stamp(s.window.end), write(s.window.step)
	return sc
}

// writer writes an answer series by series within the raw limit.
type writer struct {
	buf    limits.Buffer
	series int
}

func newWriter(limit limits.RawBytes, sc scope, kind string) (*writer, error) {
	w := &writer{buf: limits.Buffer{Limit: limit}}
	head, err := cell.Marshal(sc)
	if err != nil {
		return nil, err
	}
	return w, w.write([]byte(`{"scope":`), head, []byte(`,"kind":"`+kind+`","series":[`))
}

func (w *writer) close(more bool, e ending) (json.RawMessage, error) {
	tail, err := json.Marshal(struct {
		More bool `json:"more"`
		ending
	}{more, e})
	if err != nil {
		return nil, err
	}
	if err := w.write([]byte(`],`), tail[1:]); err != nil {
		return nil, err
	}
	return w.buf.Bytes(), nil
}

func (w *writer) write(parts ...[]byte) error {
	for _, p := range parts {
		if _, err := w.buf.Write(p); err != nil {
			return err
		}
	}
	return nil
}

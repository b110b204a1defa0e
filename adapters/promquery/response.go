package promquery

import (
	"encoding/json"
	"time"

	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/ports/cell"
)

// response is the raw form: written by Execute, read by Projector. Samples are as the source
// wrote them: [seconds, "value"].
//
//	{"asked":{…},"kind":"vector","series":[{"labels":{…},"samples":[[1700000000,"1"],…]},…],
//	 "more":false,"warnings":[…],"partial":false}
type response struct {
	Asked *asked `json:"asked"`
	// Kind is vector (one sample per series, at the scope's time) or matrix.
	Kind   string   `json:"kind"`
	Series []series `json:"series"`
	// More is true when the source had more series than are read of it.
	More bool `json:"more"`
	ending
}

// ending is what a source says at the end of its answer. The warnings are its words: they stay in
// the record and are never shown.
type ending struct {
	Warnings []string `json:"warnings,omitempty"`
	Partial  bool     `json:"partial,omitempty"`
}

// asked is what was asked, as it ran. Every answer shows it as its scope, which makes an empty one
// a finding.
type asked struct {
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

func (s statement) asked() asked {
	a := asked{DataSource: s.source.ID, Query: s.text.Text, Required: s.source.guard.Mandatory()}
	if s.window.instant() {
		a.Time = stamp(s.window.end)
		return a
	}
	a.Start, a.End, a.Step = stamp(s.window.start), stamp(s.window.end), write(s.window.step)
	return a
}

// writer writes a response series by series within the raw limit.
type writer struct {
	buf    limits.Buffer
	series int
}

func newWriter(limit limits.RawBytes, a asked, kind string) (*writer, error) {
	w := &writer{buf: limits.Buffer{Limit: limit}}
	head, err := cell.Marshal(a)
	if err != nil {
		return nil, err
	}
	return w, w.write([]byte(`{"asked":`), head, []byte(`,"kind":"`+kind+`","series":[`))
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

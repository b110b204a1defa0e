package promquery

import (
	"encoding/json"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
)

// errForeign says that the source returned a series that the query cannot have selected.
var errForeign = errors.New("the source returned a series outside the grants")

// errEnough ends the reading of an answer with more series than are wanted.
var errEnough = errors.New("enough series")

// receive reads an answer as it streams and keeps no more of it than the limit.
func (s statement) receive(body *bounded, limit limits.RawBytes) (json.RawMessage, error) {
	w, err := newWriter(limit, s.asked(), s.kind())
	if err != nil {
		return nil, err
	}
	r := reader{dec: jsontext.NewDecoder(body), out: w, admit: func(labels map[string]string) error {
		if !s.source.guard.Admits(labels) {
			return fault.Because(fault.ExecutionFailed, "FOREIGN_SERIES", "").WithCause(errForeign)
		}
		if w.series == s.source.MaxSeries {
			return errEnough
		}
		return nil
	}}
	err = r.read()
	more := errors.Is(err, errEnough)
	switch {
	case err != nil && !more && body.failed != nil:
		return nil, unreachable(body.failed)
	case err != nil && !more:
		return nil, unreadable(err)
	case !more && !r.complete:
		return nil, fault.Because(fault.ExecutionFailed, "RESULT_UNREADABLE", "")
	case w.series == 0 && (r.end.Partial || len(r.end.Warnings) > 0):
		return nil, fault.Because(fault.ExecutionFailed, "PARTIAL_ANSWER",
			"the source could read only a part of its data and found nothing in it, which says nothing")
	}
	return w.close(more, r.end)
}

// unreadable keeps faults and makes everything else a failure without a word of the body.
func unreadable(err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	return fault.Because(fault.ExecutionFailed, "RESULT_UNREADABLE", "").WithCause(errShape)
}

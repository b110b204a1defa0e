package promquery

import (
	"encoding/json"
	"errors"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
)

// errForeign says that the source returned a series that the query cannot have selected.
var errForeign = errors.New("the source returned a series outside the grants")

// errEnough ends the reading of an answer with more series than are wanted.
var errEnough = errors.New("enough series")

// receive reads an answer series by series and keeps no more of it than the limit.
func (s statement) receive(body *bounded, limit limits.RawBytes) (json.RawMessage, error) {
	w, err := newWriter(limit, s.scope(), s.kind())
	if err != nil {
		return nil, err
	}
	r := reader{dec: jsontext.NewDecoder(body), keep: func(got series) error {
		if !s.source.guard.Admits(got.Labels) {
			return fault.Because(fault.ExecutionFailed, "FOREIGN_SERIES", "").WithCause(errForeign)
		}
		if w.series == s.source.MaxSeries {
			return errEnough
		}
		return w.add(got)
	}}
	err = r.read()
	more := errors.Is(err, errEnough)
	switch {
	case err != nil && !more && body.failed != nil:
		return nil, fault.Wrap(fault.DataSourceUnavailable, body.failed)
	case err != nil && !more:
		return nil, unreadable(err)
	case !more && !r.complete:
		return nil, fault.Because(fault.ExecutionFailed, "RESPONSE", "")
	case w.series == 0 && (r.end.Partial || len(r.end.Warnings) > 0):
		return nil, fault.Because(fault.ExecutionFailed, "PARTIAL_ANSWER", "the source could read only a part of its data and found nothing in it, which says nothing")
	}
	return w.close(more, r.end)
}

// unreadable keeps faults and makes everything else a failure without a word of the body.
func unreadable(err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	return fault.Because(fault.ExecutionFailed, "RESPONSE", "").WithCause(err)
}

// reader reads {"status":"success","data":{"resultType":…,"result":[…]},…} as it streams,
// members in any order.
type reader struct {
	dec      *jsontext.Decoder
	keep     func(series) error
	end      ending
	complete bool
}

var errShape = errors.New("not an answer of the Prometheus API")

func (r *reader) read() error {
	success, data := false, false
	err := r.object(func(name string) error {
		switch name {
		case "status":
			var status string
			err := r.value(&status)
			success = status == "success"
			return err
		case "data":
			data = true
			return r.object(r.data)
		case "warnings":
			return r.value(&r.end.Warnings)
		case "isPartial":
			return r.value(&r.end.Partial)
		default:
			return r.dec.SkipValue()
		}
	})
	r.complete = err == nil && success && data
	return err
}

func (r *reader) data(name string) error {
	if name != "result" {
		return r.dec.SkipValue()
	}
	if t, err := r.dec.ReadToken(); err != nil || t.Kind() != '[' {
		return errors.Join(errShape, err)
	}
	for r.dec.PeekKind() != ']' {
		s, err := r.series()
		if err != nil {
			return err
		}
		if err := r.keep(s); err != nil {
			return err
		}
	}
	_, err := r.dec.ReadToken()
	return err
}

func (r *reader) series() (series, error) {
	var got struct {
		Metric     map[string]string   `json:"metric"`
		Value      *[2]jsontext.Value  `json:"value"`
		Values     [][2]jsontext.Value `json:"values"`
		Histogram  jsontext.Value      `json:"histogram"`
		Histograms jsontext.Value      `json:"histograms"`
	}
	if err := r.value(&got); err != nil {
		return series{}, err
	}
	if len(got.Histogram) > 0 || len(got.Histograms) > 0 {
		return series{}, fault.Because(fault.ExecutionFailed, "NATIVE_HISTOGRAM", "the result is a native histogram: put histogram_quantile(), histogram_count() or histogram_sum() around it")
	}
	if got.Value != nil {
		got.Values = append(got.Values, *got.Value)
	}
	s := series{Labels: got.Metric, Samples: make([][2]json.RawMessage, 0, len(got.Values))}
	if s.Labels == nil {
		s.Labels = map[string]string{}
	}
	for _, v := range got.Values {
		if v[0].Kind() != '0' || v[1].Kind() != '"' {
			return series{}, errShape
		}
		s.Samples = append(s.Samples, [2]json.RawMessage{json.RawMessage(v[0]), json.RawMessage(v[1])})
	}
	if len(s.Samples) == 0 {
		return series{}, errShape
	}
	return s, nil
}

func (r *reader) value(into any) error { return jsonv2.UnmarshalDecode(r.dec, into) }

// object reads an object and calls member for each of its names, which reads the value.
func (r *reader) object(member func(name string) error) error {
	if t, err := r.dec.ReadToken(); err != nil || t.Kind() != '{' {
		return errors.Join(errShape, err)
	}
	for {
		t, err := r.dec.ReadToken()
		if err != nil {
			return err
		}
		if t.Kind() == '}' {
			return nil
		}
		if err := member(t.String()); err != nil {
			return err
		}
	}
}

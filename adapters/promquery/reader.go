package promquery

import (
	"encoding/json"
	"errors"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// reader reads {"status":"success","data":{"resultType":…,"result":[…]},…} as it streams and
// writes its series on. Members may stand in any order, except that a series begins with its
// labels, as every server writes it.
type reader struct {
	dec *jsontext.Decoder
	out *writer
	// admit judges the labels of a series before anything of it is written.
	admit func(labels map[string]string) error

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
	return r.array(r.series)
}

// series reads one series and writes it on sample by sample.
func (r *reader) series() error {
	opened, samples := false, 0
	err := r.object(func(name string) error {
		switch name {
		case "metric":
			var labels map[string]string
			if err := r.value(&labels); err != nil {
				return err
			}
			if err := r.admit(labels); err != nil {
				return err
			}
			opened = true
			return r.out.open(labels)
		case "value", "values":
			if !opened {
				return errShape
			}
			sample := func() error { samples++; return r.sample(samples > 1) }
			if name == "value" {
				return sample()
			}
			return r.array(sample)
		case "histogram", "histograms":
			return fault.Because(fault.ExecutionFailed, "NATIVE_HISTOGRAM",
				"the result is a native histogram: put histogram_quantile(), histogram_count() or histogram_sum() "+
					"around it")
		default:
			return r.dec.SkipValue()
		}
	})
	if err == nil && samples == 0 {
		err = errShape
	}
	if err != nil {
		return err
	}
	return r.out.write([]byte(`]}`))
}

// sample reads [seconds, "value"] and writes it as it stands.
func (r *reader) sample(comma bool) error {
	sep := []byte(`[`)
	if comma {
		sep = []byte(`,[`)
	}
	if err := r.delim('['); err != nil {
		return err
	}
	for i, kind := range []jsontext.Kind{'0', '"'} {
		v, err := r.dec.ReadValue()
		if err != nil {
			return err
		}
		if v.Kind() != kind {
			return errShape
		}
		if i == 1 {
			sep = []byte(`,`)
		}
		if err := r.out.write(sep, v); err != nil {
			return err
		}
	}
	if err := r.delim(']'); err != nil {
		return err
	}
	return r.out.write([]byte(`]`))
}

func (r *reader) value(into any) error { return jsonv2.UnmarshalDecode(r.dec, into) }

func (r *reader) delim(want jsontext.Kind) error {
	t, err := r.dec.ReadToken()
	if err == nil && t.Kind() != want {
		err = errShape
	}
	return err
}

// array reads an array and calls element for each of its elements, which reads it.
func (r *reader) array(element func() error) error {
	if err := r.delim('['); err != nil {
		return err
	}
	for r.dec.PeekKind() != ']' {
		if err := element(); err != nil {
			return err
		}
	}
	return r.delim(']')
}

// object reads an object and calls member for each of its names, which reads the value.
func (r *reader) object(member func(name string) error) error {
	if err := r.delim('{'); err != nil {
		return err
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

// open begins a series: its labels, and the array of its samples.
func (w *writer) open(labels map[string]string) error {
	if labels == nil {
		labels = map[string]string{}
	}
	text, err := json.Marshal(labels)
	if err != nil {
		return err
	}
	begin := `{"labels":`
	if w.series++; w.series > 1 {
		begin = `,{"labels":`
	}
	return w.write([]byte(begin), text, []byte(`,"samples":[`))
}

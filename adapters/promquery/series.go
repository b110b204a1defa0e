package promquery

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/ports/cell"
)

// shown is one series as it is shown: all of it but its points, and the points.
type shown struct {
	open, close string
	points      []string
	cut         bool // the value of a label
}

// show renders a series: with its one value, or with the summary of all its samples and one
// point for each. A label's value takes at most most bytes.
func show(s series, kind string, most int) (shown, error) {
	if len(s.Samples) == 0 {
		return shown{}, fault.New(fault.ProjectionFailed)
	}
	labels, cut := labelsOf(s.Labels, most)
	if kind == vector {
		v, _, err := value(s.Samples[len(s.Samples)-1])
		return shown{open: `{"labels":` + labels + `,"value":` + v, close: `}`, cut: cut}, err
	}
	sum := summary{min: math.NaN(), max: math.NaN()}
	points := make([]string, len(s.Samples))
	for i, sample := range s.Samples {
		text, f, err := value(sample)
		if err != nil {
			return shown{}, err
		}
		at, err := instant(sample[0])
		if err != nil {
			return shown{}, err
		}
		sum.add(f)
		sum.last = text
		points[i] = `["` + at + `",` + text + `]`
	}
	return shown{open: `{"labels":` + labels + sum.text() + `,"points":[`, close: `]}`, points: points, cut: cut}, nil
}

func labelsOf(labels map[string]string, most int) (string, bool) {
	out, cut := []byte{'{'}, false
	for i, name := range slices.Sorted(maps.Keys(labels)) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(cell.Quote(out, name), ':')
		var c bool
		out, c = cell.Append(out, labels[name], most)
		cut = cut || c
	}
	return string(append(out, '}')), cut
}

// append appends the series with at most k of its points: the last one alone, or the first,
// the last and evenly chosen ones between.
func (s shown) append(out []byte, k int) []byte {
	out = append(out, s.open...)
	for i := range s.kept(k) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, s.points[s.index(i, k)]...)
	}
	return append(out, s.close...)
}

func (s shown) size(k int) int {
	size, kept := len(s.open)+len(s.close), s.kept(k)
	for i := range kept {
		size += len(s.points[s.index(i, k)])
	}
	return size + max(kept-1, 0)
}

func (s shown) kept(k int) int { return min(k, len(s.points)) }

// index returns which point is the i-th of those that are kept.
func (s shown) index(i, k int) int {
	switch n := len(s.points); {
	case k >= n:
		return i
	case k == 1:
		return n - 1
	default:
		return i * (n - 1) / (k - 1)
	}
}

// value returns a sample's value as JSON, a number or a string such as "NaN", and as a number.
func value(sample [2]json.RawMessage) (string, float64, error) {
	var text string
	if err := json.Unmarshal(sample[1], &text); err != nil {
		return "", 0, fault.Wrap(fault.ProjectionFailed, err)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", 0, fault.Wrap(fault.ProjectionFailed, err)
	}
	return numeral(text, f), f, nil
}

func numeral(text string, f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return string(cell.Quote(nil, strconv.FormatFloat(f, 'g', -1, 64)))
	}
	if json.Valid([]byte(text)) {
		return text
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func instant(seconds json.RawMessage) (string, error) {
	f, err := strconv.ParseFloat(string(seconds), 64)
	if err != nil || math.Abs(f) > 1e11 {
		return "", fault.Wrap(fault.ProjectionFailed, err)
	}
	return stamp(time.UnixMilli(int64(math.Round(f * 1000)))), nil
}

// summary is made of all samples, also of those whose points are not shown. Samples that are
// not numbers (NaN) are counted and otherwise left out.
type summary struct {
	n, numbers    int
	min, max, sum float64
	last          string
}

func (s *summary) add(f float64) {
	s.n++
	if math.IsNaN(f) {
		return
	}
	if s.numbers++; s.numbers == 1 {
		s.min, s.max = f, f
	}
	s.min, s.max, s.sum = math.Min(s.min, f), math.Max(s.max, f), s.sum+f
}

func (s *summary) text() string {
	mean := math.NaN()
	if s.numbers > 0 {
		mean = s.sum / float64(s.numbers)
	}
	return `,"samples":` + strconv.Itoa(s.n) + `,"min":` + float(s.min, -1) + `,"max":` + float(s.max, -1) +
		`,"mean":` + float(mean, 12) + `,"last":` + s.last
}

func float(f float64, digits int) string {
	return numeral(strconv.FormatFloat(f, 'g', digits, 64), f)
}

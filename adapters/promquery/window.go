package promquery

import (
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/common/model"

	"github.com/toolboundary/toolboundary/adapters/promquery/promguard"
	"github.com/toolboundary/toolboundary/domain/fault"
)

// window is when a query is evaluated: once at end, or every step from start to end.
type window struct {
	start, end time.Time
	step       time.Duration // 0 for an instant
}

func (w window) instant() bool { return w.step == 0 }

// points returns the number of evaluations.
func (w window) points() int64 {
	if w.instant() {
		return 1
	}
	return int64(w.end.Sub(w.start)/w.step) + 1
}

// defaultPoints is about how many steps a range has whose request names none.
const defaultPoints = 120

// steps are the distances that a request without a step gets.
var steps = []time.Duration{
	time.Second, 5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 10 * time.Minute,
	15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// windowOf returns the window of a request, or REQUEST_INVALID when it passes the source's
// bounds.
func (s *source) windowOf(r request, now time.Time) (window, error) {
	if !r.Start.given {
		t := r.Time.from(now)
		return window{start: t, end: t}, nil
	}
	w := window{start: r.Start.from(now), end: r.End.from(now), step: r.Step.Duration}
	length := w.end.Sub(w.start)
	switch {
	case length < 0:
		return w, invalid("TIMES", "start is after end")
	case length > s.MaxRange:
		return w, invalid("RANGE", "start and end may be at most %s apart", write(s.MaxRange))
	}
	if !r.Step.given {
		w.step = s.fittingStep(length)
	}
	switch {
	case w.step < s.MinStep:
		return w, invalid("STEP", "step must be at least %s", write(s.MinStep))
	case w.points() > int64(s.MaxPoints):
		return w, invalid("STEP", "the range has more than %d steps: use a step of at least %s", s.MaxPoints,
			write(length/time.Duration(s.MaxPoints)+time.Second))
	}
	return w, nil
}

func (s *source) fittingStep(length time.Duration) time.Duration {
	for _, d := range steps {
		if d >= s.MinStep && length/d <= defaultPoints && length/d < time.Duration(s.MaxPoints) {
			return d
		}
	}
	return max(length/defaultPoints, s.MinStep).Truncate(time.Second) + time.Second
}

// affordable refuses what is fine in each part and too much together.
func (s *source) affordable(w window, st promguard.Statement) error {
	switch {
	case st.Matrix && !w.instant():
		return fault.Because(fault.QueryRejected, promguard.ReasonResultType,
			"a range query needs an instant vector: leave out the [range] at the end, or put a function such as "+
				"rate() around it")
	case w.points()*int64(st.Inner) > int64(s.MaxEvaluations):
		return fault.Because(fault.QueryRejected, promguard.ReasonLimit,
			fmt.Sprintf("steps times the evaluations of subqueries are more than %d: use larger steps",
				s.MaxEvaluations))
	}
	return nil
}

func invalid(reason, format string, args ...any) error {
	return fault.Because(fault.RequestInvalid, reason, fmt.Sprintf(format, args...))
}

// duration reads a duration as PromQL writes it, or a number of seconds.
func duration(text string) (time.Duration, error) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if !(seconds > 0 && seconds < 1e9) {
			return 0, fmt.Errorf("a duration must be positive")
		}
		return time.Duration(seconds * float64(time.Second)).Truncate(time.Millisecond), nil
	}
	d, err := model.ParseDuration(text)
	if err == nil && d <= 0 {
		err = fmt.Errorf("a duration must be positive")
	}
	return time.Duration(d), err
}

func write(d time.Duration) string { return model.Duration(d.Truncate(time.Millisecond)).String() }

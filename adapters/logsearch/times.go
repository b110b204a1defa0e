package logsearch

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// Layouts with a name: time.RFC3339, and those that package time does not know: seconds, with
// or without a fraction, and milliseconds since 1970.
const (
	LayoutRFC3339   = "rfc3339"
	LayoutUnix      = "unix"
	LayoutUnixMilli = "unix_ms"
)

// timeForm is how lines carry their time.
type timeForm struct {
	pattern  *regexp.Regexp // nil: not at all
	layout   string
	location *time.Location
}

func newTimeForm(s Source) (timeForm, error) {
	if s.TimePattern == "" && s.TimeLayout == "" {
		return timeForm{}, nil
	}
	if s.TimePattern == "" || s.TimeLayout == "" {
		return timeForm{}, errors.New("the pattern and the layout of times belong together")
	}
	re, err := regexp.Compile(s.TimePattern)
	if err != nil {
		return timeForm{}, fmt.Errorf("the pattern of times: %w", err)
	}
	layout := s.TimeLayout
	if layout == LayoutRFC3339 {
		layout = time.RFC3339
	}
	return timeForm{re, layout, s.Location}, nil
}

// stamps reads the times of one file's lines. Lines without one have that of the line before:
// they are the rest of its message.
type stamps struct {
	form timeForm
	aged time.Time // when the file was last written to

	text string
	last time.Time
	seen bool
}

// of returns the time of the next line, and false as long as no line had one.
func (s *stamps) of(line []byte) (time.Time, bool) {
	if s.form.pattern == nil {
		return time.Time{}, false
	}
	at := s.form.pattern.FindSubmatchIndex(line)
	if at == nil {
		return s.last, s.seen
	}
	if len(at) > 2 && at[2] >= 0 {
		at = at[2:]
	}
	text := line[at[0]:at[1]]
	if s.seen && string(text) == s.text {
		return s.last, true
	}
	if t, ok := s.parse(string(text)); ok {
		s.text, s.last, s.seen = string(text), t, true
	}
	return s.last, s.seen
}

func (s *stamps) parse(text string) (time.Time, bool) {
	switch s.form.layout {
	case LayoutUnix:
		f, err := strconv.ParseFloat(text, 64)
		return time.UnixMicro(int64(f * 1e6)).UTC(), err == nil && f >= 0 && f < 1e11
	case LayoutUnixMilli:
		n, err := strconv.ParseInt(text, 10, 64)
		return time.UnixMilli(n).UTC(), err == nil && n >= 0 && n < 1e14
	}
	t, err := time.ParseInLocation(s.form.layout, text, s.form.location)
	if err != nil {
		return t, false
	}
	if t.Year() == 0 {
		aged := s.aged.In(s.form.location)
		t = t.AddDate(aged.Year(), 0, 0)
		if t.After(aged.Add(margin)) { // written in December, rotated in January
			t = t.AddDate(-1, 0, 0)
		}
	}
	return t.UTC(), true
}

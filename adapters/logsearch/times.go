package logsearch

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Layouts with a name: that of RFC 3339 with the forms that loggers have for it, and those that package
// time does not know: seconds, with or without a fraction, and milliseconds since 1970.
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

func newTimeForm(pattern, layout string, location *time.Location) (timeForm, error) {
	if pattern == "" && layout == "" {
		return timeForm{}, nil
	}
	if pattern == "" || layout == "" {
		return timeForm{}, errors.New("the pattern and the layout of times belong together")
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return timeForm{}, fmt.Errorf("the pattern of times: %w", err)
	}
	return timeForm{re, layout, location}, nil
}

// moment is when a line was written, as far as it says so.
type moment struct {
	at    time.Time
	dated bool
	// own tells a line's own time from that of the line before.
	own bool
	// also is the other moment that a local time can mean in the hour that the end of summer time
	// repeats; otherwise it is zero.
	also time.Time
	// doubtful says that the line, or one since the last time, seems to have a time that cannot be read.
	doubtful bool
}

// stamps reads the times of one file's lines. A line without one has that of the line before: it is
// taken for the rest of its message. What the pattern finds may be no time, such as the first word of a
// line of a stack; with a digit in it, it may be one that cannot be read.
type stamps struct {
	form timeForm
	aged time.Time // when the file was last written to

	text string
	last moment
}

// of returns when the next line was written.
func (s *stamps) of(line []byte) moment {
	if s.form.pattern == nil {
		return moment{}
	}
	if bytes.IndexByte(line, escape) >= 0 { // colours
		line = colours.ReplaceAll(line, nil)
	}
	at := s.form.pattern.FindSubmatchIndex(line)
	if at == nil {
		return s.inherited()
	}
	if len(at) > 2 && at[2] >= 0 {
		at = at[2:]
	}
	text := line[at[0]:at[1]]
	if s.last.dated && s.form.layout != LayoutRFC3339 && string(text) == s.text {
		s.last.doubtful = false
		return s.last
	}
	if len(text) <= maxTime {
		if t, ok := s.parse(string(text), line[at[0]:]); ok {
			s.text, s.last = string(text), moment{at: t, dated: true, own: true, also: s.form.other(t)}
			return s.last
		}
	}
	s.last.doubtful = s.last.doubtful || bytes.ContainsAny(text, "0123456789")
	return s.inherited()
}

func (s *stamps) inherited() moment {
	m := s.last
	m.own = false
	return m
}

// parse reads a time that the pattern found; rest is the line from there.
func (s *stamps) parse(text string, rest []byte) (time.Time, bool) {
	switch s.form.layout {
	case LayoutRFC3339:
		return s.form.rfc3339(text, rest)
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

// other returns the other moment that has the same local time, if there is one.
func (f timeForm) other(t time.Time) time.Time {
	if f.location == time.UTC || f.layout == LayoutUnix || f.layout == LayoutUnixMilli {
		return time.Time{}
	}
	for _, hour := range []time.Duration{time.Hour, -time.Hour} {
		if o := t.Add(hour); o.In(f.location).Format(time.DateTime) == t.In(f.location).Format(time.DateTime) {
			return o
		}
	}
	return time.Time{}
}

// maxTime is the most bytes of a time.
const maxTime = 128

// rfcForms are what loggers write for RFC 3339: a blank for the T, a comma before the fraction, letters
// of either case, an offset without its colon, after a blank, or none at all.
var rfcForms = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[Tt_ ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9})\d*)?` +
	`(?:\s?([Zz]|UTC|GMT|[+-](?:0\d|1[0-4]):?(?:00|15|30|45))|([+-](?:0\d|1[0-4])))?(?:[^\dA-Za-z]|$)`)

// rfc3339 reads a time of that kind. The pattern may have found only the beginning of one that has
// blanks inside: what follows on the line belongs to it.
func (f timeForm) rfc3339(text string, rest []byte) (time.Time, bool) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.UTC(), true
	}
	m := rfcForms.FindSubmatch(rest[:min(len(rest), 64)])
	if m == nil {
		return time.Time{}, false
	}
	fraction, zone, layout := "", strings.ReplaceAll(string(m[4])+string(m[5]), ":", ""), "2006-01-02T15:04:05"
	if len(m[3]) > 0 {
		fraction = "." + string(m[3])
	}
	switch {
	case zone == "":
	case len(zone) == 3 && zone[0] < 'A': // +02
		zone, layout = zone+"00", layout+"-0700"
	case zone[0] == '+' || zone[0] == '-':
		layout += "-0700"
	default:
		zone, layout = "+0000", layout+"-0700"
	}
	t, err := time.ParseInLocation(layout, string(m[1])+"T"+string(m[2])+fraction+zone, f.location)
	return t.UTC(), err == nil
}

package promquery

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// request is what the agent sends. Times are RFC 3339, Unix seconds, or "now" with an optional
// duration before it: "now-1h", short "-1h".
type request struct {
	DataSource string `json:"data_source"`
	Query      string `json:"query"`
	Time       moment `json:"time"`
	Start      moment `json:"start"`
	End        moment `json:"end"`
	Step       step   `json:"step"`
}

func decode(raw json.RawMessage) (request, error) {
	var r request
	err := jsonv2.Unmarshal(raw, &r, jsonv2.RejectUnknownMembers(true))
	switch {
	case err != nil:
		return r, fault.Because(fault.RequestInvalid, "MEMBERS",
			`prometheus_query takes data_source and query, and time, or start, end and step; times such as "2026-01-31T12:00:00Z", 1769860800 or "now-1h", steps such as "1m"`).WithCause(err)
	case r.Query == "":
		return r, fault.Because(fault.RequestInvalid, "QUERY", "query is missing")
	case r.Time.given && (r.Start.given || r.End.given || r.Step.given):
		return r, fault.Because(fault.RequestInvalid, "TIMES",
			"time is for an instant; start, end and step are for a range: send one or the other")
	case !r.Start.given && (r.End.given || r.Step.given):
		return r, fault.Because(fault.RequestInvalid, "TIMES", "a range needs start")
	}
	return r, nil
}

// moment is a point in time, fixed or relative to now.
type moment struct {
	given bool
	at    time.Time
	ago   time.Duration
}

// UnmarshalJSON reads a time in one of its forms.
func (m *moment) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		text = string(data)
	}
	m.given = true
	quoted := data[0] == '"'
	if rest, relative := strings.CutPrefix(text, "now"); quoted && (relative || strings.HasPrefix(text, "-")) {
		if rest == "" {
			return nil
		}
		digits, negative := strings.CutPrefix(rest, "-")
		d, err := duration(digits)
		if !negative || err != nil {
			return fmt.Errorf("a relative time is now-1h")
		}
		m.ago = d
		return nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		m.at = t
		return inRange(t)
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 0 && seconds < 1e11) {
		return fmt.Errorf("not a time")
	}
	m.at = time.UnixMilli(int64(math.Round(seconds * 1000)))
	return nil
}

func inRange(t time.Time) error {
	if t.Unix() < 0 || t.Unix() >= 1e11 {
		return fmt.Errorf("the time is out of range")
	}
	return nil
}

// from returns the time in whole milliseconds, in UTC; what was not given is now.
func (m moment) from(now time.Time) time.Time {
	t := m.at
	if t.IsZero() {
		t = now.Add(-m.ago)
	}
	return t.UTC().Truncate(time.Millisecond)
}

// step is the distance of two evaluations: a duration or a number of seconds.
type step struct {
	given bool
	time.Duration
}

// UnmarshalJSON reads "1m" or 60.
func (s *step) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		text = string(data)
	}
	d, err := duration(text)
	*s = step{true, d}
	return err
}

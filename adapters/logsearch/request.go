package logsearch

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp/syntax"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"golang.org/x/text/unicode/norm"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// request is what the agent sends.
type request struct {
	DataSource string            `json:"data_source"`
	Pattern    string            `json:"pattern"`
	Files      string            `json:"files"`
	Start      string            `json:"start"`
	End        string            `json:"end"`
	Fields     map[string]string `json:"fields"`
	Context    int               `json:"context"`
	Max        *int              `json:"max"`
}

// search is a valid request: the plan's body.
type search struct {
	source  *source
	request request
	pattern matcher
	// foreign says that the pattern wants letters outside ASCII: a line in another encoding than UTF-8
	// cannot have them as the pattern writes them.
	foreign bool
	// now is when the search was asked for. start and end bound the times of matching lines; zero is no bound.
	now, start, end time.Time
	max             int
}

func decode(raw json.RawMessage) (request, error) {
	var r request
	if err := jsonv2.Unmarshal(raw, &r, jsonv2.RejectUnknownMembers(true)); err != nil {
		return r, fault.Because(fault.RequestInvalid, "MEMBERS", "log_search takes data_source, and pattern, files, start and end (texts), fields (an object of texts), context and max (whole numbers)").WithCause(err)
	}
	return r, nil
}

// searchOf judges what the request asks of the source.
func (s *source) searchOf(r request, now time.Time) (search, error) {
	sr := search{source: s, request: r, now: now, max: min(50, s.MaxLines)}
	if r.Max != nil {
		sr.max = *r.Max
	}
	switch {
	case sr.max < 1 || sr.max > s.MaxLines:
		return sr, invalid("MAX", "max must be from 1 to %d", s.MaxLines)
	case r.Context < 0 || r.Context > maxContext:
		return sr, invalid("CONTEXT", "context must be from 0 to %d", maxContext)
	case len(r.Fields) > 0 && !s.fielded():
		return sr, invalid("FIELDS", "the lines of this data source have no fields: use pattern")
	case len(r.Fields) > 16:
		return sr, invalid("FIELDS", "fields may name at most 16 fields")
	}
	if _, err := path.Match(r.Files, ""); err != nil || len(r.Files) > 1024 {
		return sr, invalid("FILES", "files must be a pattern such as app.log*")
	}
	var err error
	if sr.start, err = s.moment("start", r.Start, now); err != nil {
		return sr, err
	}
	if sr.end, err = s.moment("end", r.End, now); err != nil {
		return sr, err
	}
	switch {
	case !sr.end.IsZero() && sr.end.Before(sr.start):
		return sr, invalid("TIMES", "start is after end")
	case sr.start.After(now):
		return sr, invalid("TIMES", "start is in the future: it is %s now", stamp(now))
	}
	sr.pattern, sr.foreign, err = s.compile(r.Pattern)
	return sr, err
}

// moment reads a time: RFC 3339, "now", "now-1h", or "-1h".
func (s *source) moment(name, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if !s.timed() {
		return time.Time{}, invalid("TIMES", "the lines of this data source have no times: leave start and end out")
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t.UTC(), nil
	}
	if text == "now" {
		return now.UTC(), nil
	}
	if ago, ok := strings.CutPrefix(strings.TrimPrefix(text, "now"), "-"); ok {
		if d, err := time.ParseDuration(ago); err == nil && d > 0 {
			return now.Add(-d).UTC(), nil
		}
	}
	return time.Time{}, invalid("TIMES", `%s must be a time such as "2026-01-31T12:00:00Z" or "now-1h"`, name)
}

// The bounds of a pattern: bytes, and instructions of the compiled program.
const (
	maxPattern = 1 << 10
	maxProgram = 4000
)

// compile compiles the agent's pattern, or refuses it with QUERY_REJECTED, and reports whether it wants
// letters outside ASCII. RE2 takes linear time; the program's size is bounded because repetitions
// multiply it.
func (s *source) compile(pattern string) (m matcher, wide bool, err error) {
	if len(pattern) > maxPattern {
		return m, false, rejected("LIMIT", fmt.Sprintf("the pattern has more than %d bytes", maxPattern), nil)
	}
	pattern = norm.NFC.String(pattern)
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		detail := "the pattern is not an RE2 regular expression"
		if e, ok := err.(*syntax.Error); ok {
			detail = fmt.Sprintf("the pattern is not an RE2 regular expression: %s in %.80q", e.Code, e.Expr)
		}
		return m, false, rejected("PATTERN", detail, err)
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil || len(program.Inst) > maxProgram {
		return m, false, rejected("LIMIT", "the pattern is too large: use fewer repetitions", err)
	}
	if !s.fielded() && wantsNewline(tree) {
		return m, false, rejected("PATTERN", "a pattern is matched against one line at a time: leave the newline out", nil)
	}
	if m, err = newMatcher(pattern); err != nil {
		return m, false, rejected("PATTERN", "the pattern is not an RE2 regular expression", err)
	}
	return m, foreign(tree), nil
}

func rejected(reason, detail string, cause error) error {
	return fault.Because(fault.QueryRejected, reason, detail).WithCause(cause)
}

func invalid(reason, format string, args ...any) error {
	return fault.Because(fault.RequestInvalid, reason, fmt.Sprintf(format, args...))
}

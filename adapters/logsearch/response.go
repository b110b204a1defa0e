package logsearch

import (
	"encoding/json"
	"time"

	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/ports/cell"
)

// response is the raw form: written by Execute, read by Projector. Secrets are masked already.
type response struct {
	Asked    *asked    `json:"asked"`
	Searched *searched `json:"searched"`
	// Matched counts every match, also those whose line is not kept.
	Matched int64 `json:"matched"`
	// Undated counts those of them that have no time, which Counts leaves out.
	Undated int64 `json:"undated,omitempty"`
	// Interval is the length of the intervals of Counts: [begin, matches].
	Interval string   `json:"interval,omitempty"`
	Counts   [][2]any `json:"counts,omitempty"`
	// Lines are the newest matches, newest first.
	Lines []shownLine `json:"lines"`
	// Problems are what the system says of files that could not be read. They are never shown.
	Problems []string `json:"problems,omitempty"`
}

// asked is what was asked. Every answer shows it as its scope.
type asked struct {
	DataSource string            `json:"data_source"`
	Pattern    string            `json:"pattern,omitempty"`
	Files      string            `json:"files,omitempty"`
	Start      string            `json:"start,omitempty"`
	End        string            `json:"end,omitempty"`
	Fields     map[string]string `json:"fields,omitempty"`
}

// searched is what was read: with the scope, it makes an empty answer a finding.
type searched struct {
	// Files are the newest names, at most maxNames; FileCount is how many there were.
	Files     []string `json:"files"`
	FileCount int      `json:"file_count"`
	Lines     int64    `json:"lines"`
	Bytes     int64    `json:"bytes"`
	// From and To are the first and the last time of the lines that were read.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Older are files left out because they were last written to before the search begins.
	Older int `json:"older_files,omitempty"`
	// Skipped are files left out because there are too many, Unread those that could not be
	// read to their end.
	Skipped int `json:"skipped_files,omitempty"`
	Unread  int `json:"unread_files,omitempty"`
	// LongLines are lines of which only the beginning was examined, BinaryLines those that hold bytes which
	// are not text, and UnplacedLines those that match but for their time, which cannot be read.
	LongLines     int64 `json:"long_lines,omitempty"`
	BinaryLines   int64 `json:"binary_lines,omitempty"`
	UnplacedLines int64 `json:"unplaced_lines,omitempty"`
	// Partial says that more than files could not be judged.
	Partial bool `json:"partial,omitempty"`
	// Now is when the search was, if it was asked for a time that ends later.
	Now string `json:"now,omitempty"`
}

// shownLine is one match.
type shownLine struct {
	// At is the file's name and the line's number.
	At     string   `json:"at"`
	Time   string   `json:"time,omitempty"`
	Text   string   `json:"text"`
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

// maxNames is the most file names that an answer lists.
const maxNames = 20

func (sr search) asked() *asked {
	r := sr.request
	return &asked{
		DataSource: sr.source.ID, Pattern: r.Pattern, Files: r.Files, Start: stamp(sr.start), End: stamp(sr.end), Fields: r.Fields,
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// response makes the raw form of what was found, within the limit.
func (e *engine) response(o opened, limit limits.RawBytes) (json.RawMessage, error) {
	a := response{
		Asked: e.asked(), Matched: e.matched, Undated: e.undated,
		Interval: e.counts.interval(), Counts: e.counts.list(), Lines: []shownLine{}, Problems: o.problems,
		Searched: &searched{
			Files: []string{}, FileCount: len(o.files), Lines: e.lines, Bytes: e.bytes, From: stamp(e.from), To: stamp(e.to),
			Older: o.older, Skipped: o.skipped, Unread: len(o.problems), LongLines: e.gaps.long,
			BinaryLines: e.gaps.binary, UnplacedLines: e.gaps.unplaced, Partial: e.gaps.some(),
		},
	}
	if e.end.After(e.now) {
		a.Searched.Now = stamp(e.now)
	}
	for i := len(o.files) - 1; i >= 0 && len(a.Searched.Files) < maxNames; i-- {
		a.Searched.Files = append(a.Searched.Files, o.files[i].name)
	}
	for _, h := range e.newestFirst() {
		a.Lines = append(a.Lines, shownLine{At: h.place(), Time: h.at, Text: h.text, Before: h.before, After: h.after})
	}
	raw, err := cell.Marshal(a)
	if err != nil {
		return nil, err
	}
	buf := limits.Buffer{Limit: limit}
	if _, err := buf.Write(raw); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

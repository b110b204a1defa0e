package logsearch

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
)

// hit is one matching line with its surroundings.
type hit struct {
	file          string
	number        int64
	at            string // its time, if it has one
	text          string
	before, after []string
}

func (h *hit) size() int {
	n := len(h.file) + len(h.text)
	for _, list := range [][]string{h.before, h.after} {
		for _, l := range list {
			n += len(l)
		}
	}
	return n
}

// engine runs one search over one file after the other. It keeps the newest matches.
type engine struct {
	search
	limit limits.RawBytes

	hits           []*hit // a ring once it is full
	oldest, kept   int    // where the ring begins; the bytes that it holds
	matched, dated int64
	counts         counts
	lines, bytes   int64
	long           int64
	from, to       time.Time // the first and last time seen

	masker masker
	small  []byte // the line in small letters
	recent []line // the lines before the current one, for context
	open   *hit   // the last match, while lines after it are wanted
	shown  int64  // the last line of the file that stands in a hit
}

type line struct {
	number  int64
	text    []byte
	partial bool
}

// file searches one file.
func (e *engine) file(ctx context.Context, f file) error {
	r, err := newLineReader(ctx, f, e.source.MaxLine+overlap)
	if err != nil {
		return err
	}
	e.recent, e.open, e.shown = nil, nil, 0
	times := stamps{form: e.source.times, aged: f.info.ModTime()}
	defer func() { e.bytes += r.read }()
	for number := int64(1); ; number++ {
		text, partial, err := r.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		// Lines can be short and patterns slow: reads alone are too far apart.
		if number%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e.lines++
		at, dated := times.of(text)
		if dated {
			e.see(at)
		}
		if err := e.line(f.name, line{number, text, partial}, at, dated); err != nil {
			return err
		}
	}
}

func (e *engine) see(at time.Time) {
	if e.from.IsZero() || at.Before(e.from) {
		e.from = at
	}
	if at.After(e.to) {
		e.to = at
	}
}

// line judges one line.
func (e *engine) line(name string, l line, at time.Time, dated bool) error {
	inTime := (e.start.IsZero() || dated && !at.Before(e.start)) && (e.end.IsZero() || dated && !at.After(e.end))
	if !inTime {
		return e.around(l)
	}
	text, cut := e.masker.apply(l.text, l.partial, e.source.MaxLine)
	if cut {
		e.long++
	}
	if !e.matches(text) || !e.hasFields(text) {
		return e.around(l)
	}
	e.matched++
	h := &hit{file: name, number: l.number, text: string(text)}
	if dated {
		e.dated++
		e.counts.add(at, 1)
		h.at = at.Format(time.RFC3339Nano)
	}
	for _, r := range e.recent {
		if r.number > e.shown {
			h.before = append(h.before, e.masked(r))
		}
	}
	e.recent, e.shown, e.open = nil, l.number, h
	if e.request.Context == 0 {
		e.open = nil
	}
	return e.keep(h)
}

// matches reports whether the line, without its secrets, matches the agent's pattern.
func (e *engine) matches(text []byte) bool {
	if len(e.pattern.needles) > 0 {
		if e.small = lower(e.small[:0], text); !e.pattern.possible(e.small) {
			return false
		}
	}
	return e.pattern.Match(text)
}

// around takes a line that does not match as context of those that do.
func (e *engine) around(l line) error {
	if e.request.Context == 0 {
		return nil
	}
	if e.open != nil {
		text := e.masked(l)
		e.open.after = append(e.open.after, text)
		e.kept += len(text)
		e.shown = l.number
		if len(e.open.after) == e.request.Context {
			e.open = nil
		}
		return e.bounded()
	}
	if len(e.recent) == e.request.Context {
		e.recent = append(e.recent[:0], e.recent[1:]...)
	}
	e.recent = append(e.recent, line{l.number, append([]byte(nil), l.text...), l.partial})
	return nil
}

func (e *engine) masked(l line) string {
	text, cut := e.masker.apply(l.text, l.partial, e.source.MaxLine)
	if cut {
		return string(text) + "…"
	}
	return string(text)
}

// keep adds a match, in the place of the oldest one when there are enough.
func (e *engine) keep(h *hit) error {
	e.kept += h.size()
	if len(e.hits) < e.max {
		e.hits = append(e.hits, h)
		return e.bounded()
	}
	e.kept -= e.hits[e.oldest].size()
	e.hits[e.oldest] = h
	e.oldest = (e.oldest + 1) % e.max
	return e.bounded()
}

// bounded refuses what cannot fit the raw limit any more, before it is held.
func (e *engine) bounded() error {
	if e.kept > int(e.limit) {
		return fault.Because(fault.ResultTooLarge, "", "the matching lines are too large together: use a smaller max, or less context")
	}
	return nil
}

// newestFirst returns the kept matches.
func (e *engine) newestFirst() []*hit {
	list := make([]*hit, 0, len(e.hits))
	for i := len(e.hits) - 1; i >= 0; i-- {
		list = append(list, e.hits[(e.oldest+i)%len(e.hits)])
	}
	return list
}

func (h *hit) place() string { return h.file + ":" + strconv.FormatInt(h.number, 10) }

package logsearch

import (
	"context"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

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
	undated        int64 // matches without a time, in files whose lines should have one
	counts         counts
	lines, bytes   int64
	from, to       time.Time // the first and last time seen
	gaps           gaps

	masker  masker
	matcher lineMatcher
	fields  fields

	// Of the file that is read:
	form   form
	recent []line // the lines before the current one, for context
	open   *hit   // the last match, while lines after it are wanted
	shown  int64  // the last line of the file that stands in a hit
	// maybe counts matches among lines after one before the range, which are taken for the rest of its
	// message: when the next time is in the range, they might be, too.
	maybe int64
}

func newEngine(sr search, limit limits.RawBytes) *engine {
	e := &engine{
		search: sr, limit: limit, masker: masker{masks: sr.source.masks},
		fields: fields{want: sr.request.Fields, known: map[string]bool{}, names: map[string]int{}},
	}
	e.matcher = lineMatcher{sr, &e.masker.small}
	return e
}

type line struct {
	number  int64
	text    []byte
	partial bool
}

// file searches one file.
func (e *engine) file(ctx context.Context, f file) error {
	c, err := e.source.decode(ctx, f)
	if err != nil {
		return err
	}
	defer c.close()
	r := &lineReader{r: c.Reader, most: examined + overlap}
	defer func() { e.bytes += r.read }()
	e.form = e.source.of(f.name)
	e.recent, e.open, e.shown, e.maybe = nil, nil, 0, 0
	e.masker.plain.all = e.form.format != FormatText
	times := stamps{form: e.form.times, aged: f.info.ModTime()}
	readable := false // whether any line has a time
	for number := int64(1); ; number++ {
		text, partial, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		// Lines can be short and patterns slow: reads alone are too far apart.
		if number%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e.lines++
		m := times.of(text)
		if m.dated {
			e.see(m)
			readable = true
		}
		if err := e.line(f.name, line{number, text, partial}, m); err != nil {
			return err
		}
	}
	e.close(f, readable)
	return c.whole()
}

// close notes at the end of a file what a time range could not be applied to.
func (e *engine) close(f file, readable bool) {
	if !e.bounded() {
		return
	}
	if !readable && f.info.Size() > 0 {
		e.gaps.timeless++
	}
	if !f.info.ModTime().Before(e.start) {
		e.gaps.unplaced += e.maybe
	}
}

// bounded reports whether there is a time range.
func (e *engine) bounded() bool { return !e.start.IsZero() || !e.end.IsZero() }

// see notes the time of a line.
func (e *engine) see(m moment) {
	if e.from.IsZero() || m.at.Before(e.from) {
		e.from = m.at
	}
	if m.at.After(e.to) {
		e.to = m.at
	}
}

// within reports whether a time is in the range asked for.
func (e *engine) within(at time.Time) bool {
	return !at.Before(e.start) && (e.end.IsZero() || !at.After(e.end))
}

// line judges one line.
func (e *engine) line(name string, l line, m moment) error {
	in := !e.bounded() || m.dated && e.within(m.at)
	early := m.dated && m.at.Before(e.start)
	if m.own || !m.dated {
		if !early {
			e.gaps.unplaced += e.maybe
		}
		e.maybe = 0
	}
	unknown := !m.dated || m.doubtful || !m.also.IsZero() && e.within(m.also)
	if !in && !unknown && (m.own || !early) {
		return e.around(l) // certainly outside
	}
	masked, plain := e.masker.apply(l.text)
	at, matches := e.match(l, masked, plain, in || unknown)
	switch {
	case matches && in:
		return e.hit(name, l, m, e.window(masked, l.partial, at))
	case matches && unknown:
		e.gaps.unplaced++
	case matches:
		e.maybe++
	}
	return e.around(l)
}

// match reports whether a line matches, and where, and notes what could not be judged. asked is false for
// lines that are only looked at because their place in time is doubtful.
func (e *engine) match(l line, masked, plain []byte, asked bool) (at [2]int, matches bool) {
	text, long := cut(masked, l.partial, examined)
	other, _ := cut(plain, l.partial, examined)
	at, matches = e.matcher.match(text, other, e.masker.plain.from)
	if matches || e.fields.wanted() {
		has, sound := e.fields.in(text, e.form.format)
		if asked && matches && !has && !sound {
			e.gaps.broken++
		}
		matches = matches && has
	}
	if asked && len(l.text) > 0 {
		e.gaps.asked++
		if !matches {
			e.gaps.look(text, e.matcher.foreign)
		}
		if long {
			e.gaps.long++
		}
	}
	return at, matches
}

// hit takes a line that matches.
func (e *engine) hit(name string, l line, m moment, text string) error {
	e.matched++
	h := &hit{file: name, number: l.number, text: text}
	if m.dated {
		e.dated++
		e.counts.add(m.at, 1)
		h.at = m.at.Format(time.RFC3339Nano)
	} else if e.form.times.pattern != nil {
		e.undated++
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

// around takes a line that does not match as context of those that do.
func (e *engine) around(l line) error {
	if e.request.Context == 0 {
		return nil
	}
	if most := e.source.MaxLine + overlap; len(l.text) > most {
		l.text, l.partial = l.text[:most], true
	}
	if e.open != nil {
		text := e.masked(l)
		e.open.after = append(e.open.after, text)
		e.kept += len(text)
		e.shown = l.number
		if len(e.open.after) == e.request.Context {
			e.open = nil
		}
		return e.fits()
	}
	if len(e.recent) == e.request.Context {
		e.recent = append(e.recent[:0], e.recent[1:]...)
	}
	e.recent = append(e.recent, line{l.number, append([]byte(nil), l.text...), l.partial})
	return nil
}

// masked returns what is shown of a line that does not match.
func (e *engine) masked(l line) string {
	text, _ := e.masker.apply(l.text)
	return e.window(text, l.partial, [2]int{})
}

// window returns what is shown of a line without its secrets: its beginning, or where that is too short,
// the part with the match.
func (e *engine) window(masked []byte, partial bool, at [2]int) string {
	const dots = "…"
	text, long := cut(masked, partial, examined)
	most := e.source.MaxLine
	if len(text) <= most && !long {
		return string(text)
	}
	begin := 0
	if at[1] > most-len(dots) {
		begin = max(at[0]-most/4, 0)
	}
	end := min(begin+most-2*len(dots), len(text))
	for begin > 0 && begin < end && !utf8.RuneStart(text[begin]) {
		begin++
	}
	for end < len(text) && end > begin && !utf8.RuneStart(text[end]) {
		end--
	}
	shown := string(text[begin:end])
	if begin > 0 {
		shown = dots + shown
	}
	if end < len(text) || long {
		shown += dots
	}
	return shown
}

// keep adds a match, in the place of the oldest one when there are enough.
func (e *engine) keep(h *hit) error {
	e.kept += h.size()
	if len(e.hits) < e.max {
		e.hits = append(e.hits, h)
		return e.fits()
	}
	e.kept -= e.hits[e.oldest].size()
	e.hits[e.oldest] = h
	e.oldest = (e.oldest + 1) % e.max
	return e.fits()
}

// fits refuses what cannot fit the raw limit any more, before it is held.
func (e *engine) fits() error {
	if e.kept > int(e.limit) {
		return fault.Because(fault.ResultTooLarge, "",
			"the matching lines are too large together: use a smaller max, or less context")
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

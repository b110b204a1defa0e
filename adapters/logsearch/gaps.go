package logsearch

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// gaps counts what was read and could not be judged: each is a place where an answer may be that was not
// found. docs/negatives.md lists them.
type gaps struct {
	// asked are lines that were examined: of the time that was asked for, or of none that can be read.
	asked int64
	// unplaced are lines that match but for their time, which cannot be read.
	unplaced int64
	// timeless are files without any line whose time can be read, though a range was asked for.
	timeless int64
	// long are lines of which only the beginning was examined.
	long int64
	// binary are lines with NULs in them.
	binary int64
	// encoded are lines that are not UTF-8, though the pattern wants letters outside ASCII.
	encoded int64
	// broken are lines that match but for their fields, which cannot be read.
	broken int64
}

// look notes why a line might not match though it holds what was asked for.
func (g *gaps) look(text []byte, foreign bool) {
	switch {
	case bytes.IndexByte(text, 0) >= 0:
		g.binary++
	case foreign && !utf8.Valid(text):
		g.encoded++
	}
}

// partial returns an error that says what could not be judged, or nil.
func (g *gaps) partial() error {
	for _, one := range []struct {
		n      int64
		detail string
	}{
		{g.unplaced, "%d lines match but for their time, which cannot be read: leave start and end out to see them"},
		{g.timeless, "of %d files no line has a time that can be read: leave start and end out, or choose other files"},
		{g.long, "%d lines are longer than 1 MiB, and only that much of them was examined"},
		{g.binary, "%d lines hold bytes that are not text"},
		{g.encoded, "%d lines are not in UTF-8: write . for letters outside ASCII"},
		{g.broken, "%d lines match but for their fields, which cannot be read: leave fields out, or choose other files"},
	} {
		if one.n > 0 {
			return partial("nothing was found, but " + fmt.Sprintf(one.detail, one.n))
		}
	}
	return nil
}

// some reports whether anything could not be judged.
func (g *gaps) some() bool { return g.partial() != nil }

func partial(detail string) error {
	return fault.Because(fault.ExecutionFailed, "PARTIAL_ANSWER", detail)
}

// empty returns nil when it is evidence that nothing was found: everything that was asked for was read
// and could have matched. Otherwise it returns why not.
func (e *engine) empty(o opened) error {
	switch {
	case len(o.problems)+o.skipped > 0:
		return partial("nothing was found, but not every file could be read: choose fewer files, or a later start")
	case len(o.files)+o.older == 0:
		return fault.Because(fault.ExecutionFailed, "NO_FILES", "no file matches")
	}
	if err := e.gaps.partial(); err != nil {
		return err
	}
	if e.gaps.asked == 0 {
		return e.noLines(o)
	}
	return e.fields.unknown()
}

// noLines judges a search for which there was no line to examine. It is evidence only where the files
// have lines from before and from after the range: then there is none in it. Where they begin after it,
// or end before it, what was written then may have been moved away, or not been written at all.
func (e *engine) noLines(o opened) error {
	before, after := o.older > 0, false
	if !e.from.IsZero() {
		before = before || e.from.Before(e.start)
		after = !e.end.IsZero() && e.to.After(e.end)
	}
	if before && after {
		return nil
	}
	detail := "the files are empty"
	switch {
	case !e.from.IsZero():
		detail = fmt.Sprintf("no line is of the time asked for: there are lines from %s to %s", stamp(e.from), stamp(e.to))
	case o.older > 0:
		detail = "no line is of the time asked for: the files end before start"
	}
	return fault.Because(fault.ExecutionFailed, "NO_LINES", detail)
}

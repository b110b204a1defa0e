package logsearch

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolboundary/toolboundary/ports/slots"
)

// Source is a directory of log files and what may be read of it. Zero bounds take the default.
type Source struct {
	// ID is the data source's id.
	ID string
	// Root is the directory, an absolute path. It may itself be reached through links.
	Root string
	// Files are patterns of path.Match below Root, such as app.log* or nginx/*.log.*.gz.
	Files []string
	// Format says how fields are read: FormatText, FormatJSON or FormatLogfmt. It also says which
	// escapes a line has: those of JSON, or in a text only \u and its digits.
	Format Format
	// TimePattern finds a line's time: its first group, or all of it. Empty: lines have none.
	TimePattern string
	// TimeLayout is a layout of package time, or one of this package's named ones. A layout without
	// a year takes the one that the file's own age suggests.
	TimeLayout string
	// Location is the zone of times that name none. Default UTC.
	Location *time.Location
	// Masks are patterns of secrets; what their groups match, or the whole match of a pattern
	// without groups, is shown as Masked.
	Masks []string
	// Timeout bounds a search. Default 20 s.
	Timeout time.Duration
	// MaxLines is the most matching lines of an answer. Default 200.
	MaxLines int
	// ByFile says how the lines of some files differ from the others. The first that names a file counts.
	ByFile []Lines
	// MaxLine is the most bytes of a line that are shown. Default 16 KiB. Of longer lines that match, the
	// part with the match is shown. The first MiB of a line is examined.
	MaxLine int
	// MaxUnpacked is the most bytes that a compressed file may hold; more count as not read.
	// Default 4 GiB.
	MaxUnpacked int64
	// MaxFiles is the most files of a search, the newest. Default 64.
	MaxFiles int
	// MaxConcurrent is the most searches at once; one more waits a moment and then gets
	// DATA_SOURCE_BUSY. Default 2.
	MaxConcurrent int
}

// Lines says how the lines of files are written. What is empty is as the source says it; the pattern and
// the layout of times belong together.
type Lines struct {
	// Files are patterns as in Source.
	Files                   []string
	Format                  Format
	TimePattern, TimeLayout string
	Location                *time.Location
}

// Format is how a line carries fields.
type Format string

// The formats: none, one JSON object per line, key=value pairs.
const (
	FormatText   Format = "text"
	FormatJSON   Format = "json"
	FormatLogfmt Format = "logfmt"
)

// Masked stands for every secret.
const Masked = "[REDACTED]"

// maxContext is the most lines before and after a match.
const maxContext = 10

type source struct {
	Source
	patterns [][]string // by parts
	lines    []form     // by file; the last is that of all others
	masks    masks
	slots    *slots.Slots
}

// form is how the lines of some files are written.
type form struct {
	files  []string
	format Format
	times  timeForm
}

func newSource(s Source) (*source, error) {
	s = s.WithDefaults()
	made := &source{Source: s, slots: slots.New(s.MaxConcurrent, 0)}
	var problems []error
	if !filepath.IsAbs(s.Root) {
		problems = append(problems, errors.New("the root must be an absolute path"))
	}
	if len(s.Files) == 0 {
		problems = append(problems, errors.New("no file is allowed"))
	}
	for _, p := range s.Files {
		problems = append(problems, checkPattern(p))
		made.patterns = append(made.patterns, strings.Split(p, "/"))
	}
	for _, l := range append(slices.Clone(s.ByFile), Lines{}) {
		f, err := s.form(l)
		problems = append(problems, err)
		made.lines = append(made.lines, f)
	}
	var err error
	if made.masks, err = newMasks(s.Masks); err != nil {
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("data source %s: %w", s.ID, err)
	}
	return made, nil
}

func checkPattern(p string) error {
	if _, err := path.Match(p, ""); err != nil || !fs.ValidPath(p) || p == "." {
		return fmt.Errorf("%q is not a pattern of files below the root, such as app.log*", p)
	}
	return nil
}

// form fills in what the lines leave to the source.
func (s Source) form(l Lines) (form, error) {
	var problems []error
	for _, p := range l.Files {
		problems = append(problems, checkPattern(p))
	}
	if l.Format == "" {
		l.Format = s.Format
	}
	if l.Format != FormatText && l.Format != FormatJSON && l.Format != FormatLogfmt {
		problems = append(problems, fmt.Errorf("there is no format %q", l.Format))
	}
	if l.TimePattern == "" && l.TimeLayout == "" {
		l.TimePattern, l.TimeLayout = s.TimePattern, s.TimeLayout
	}
	if l.Location == nil {
		l.Location = s.Location
	}
	times, err := newTimeForm(l.TimePattern, l.TimeLayout, l.Location)
	return form{l.Files, l.Format, times}, errors.Join(append(problems, err)...)
}

// of returns how the lines of a file are written.
func (s *source) of(name string) form {
	for _, f := range s.lines {
		for _, p := range f.files {
			if ok, _ := path.Match(p, name); ok { // patterns were checked
				return f
			}
		}
	}
	return s.lines[len(s.lines)-1]
}

// timed and fielded report whether the lines of any file have times, and fields.
func (s *source) timed() bool {
	return slices.ContainsFunc(s.lines, func(f form) bool { return f.times.pattern != nil })
}

func (s *source) fielded() bool {
	return slices.ContainsFunc(s.lines, func(f form) bool { return f.format != FormatText })
}

// WithDefaults returns the source with the default in place of every setting that is zero, as New
// uses it. The configuration has the same defaults: test/defaults compares them.
func (s Source) WithDefaults() Source {
	if s.Timeout == 0 {
		s.Timeout = 20 * time.Second
	}
	if s.Format == "" {
		s.Format = FormatText
	}
	if s.Location == nil {
		s.Location = time.UTC
	}
	if s.MaxUnpacked == 0 {
		s.MaxUnpacked = 4 << 30
	}
	for _, d := range []struct {
		at      *int
		initial int
	}{{&s.MaxLines, DefaultLines}, {&s.MaxLine, 16 << 10}, {&s.MaxFiles, 64}, {&s.MaxConcurrent, 2}} {
		if *d.at == 0 {
			*d.at = d.initial
		}
	}
	return s
}

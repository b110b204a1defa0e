package logsearch

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
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
	// Format says how fields are read: FormatText, FormatJSON or FormatLogfmt.
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
	// MaxLine is the most bytes of a line that are examined and kept. Default 16 KiB.
	MaxLine int
	// MaxFiles is the most files of a search, the newest. Default 64.
	MaxFiles int
	// MaxConcurrent is the most searches at once; one more waits a moment and then gets
	// DATA_SOURCE_BUSY. Default 2.
	MaxConcurrent int
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
	times    timeForm
	masks    masks
	slots    *slots.Slots
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
		if _, err := path.Match(p, ""); err != nil || !fs.ValidPath(p) || p == "." {
			problems = append(problems, fmt.Errorf("%q is not a pattern of files below the root, such as app.log*", p))
		}
		made.patterns = append(made.patterns, strings.Split(p, "/"))
	}
	if s.Format != FormatText && s.Format != FormatJSON && s.Format != FormatLogfmt {
		problems = append(problems, fmt.Errorf("there is no format %q", s.Format))
	}
	var err error
	if made.times, err = newTimeForm(s); err != nil {
		problems = append(problems, err)
	}
	if made.masks, err = newMasks(s.Masks); err != nil {
		problems = append(problems, err)
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("data source %s: %w", s.ID, errors.Join(problems...))
	}
	return made, nil
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

package config

import (
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"time"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

// Logs is a data source of log files below one directory.
type Logs struct {
	// Root is the directory; it may itself be reached through links, nothing below it may.
	Root string `yaml:"root" required:"true" doc:"Directory of the files, an absolute path."`
	// Files are patterns such as app.log* or nginx/*.log.*.gz.
	Files []string `yaml:"files" required:"true"`

	Format      string `yaml:"format" enum:"text|json|logfmt" doc:"How lines carry fields."`
	TimePattern string `yaml:"time_pattern" doc:"RE2 pattern of a line's time: its first group, or all of it."`
	TimeLayout  string `yaml:"time_layout"`
	TimeZone    string `yaml:"time_zone" doc:"Zone of times that name none, such as Europe/Berlin."`
	// ByFile says what is different for some of the files.
	ByFile []LogLines `yaml:"by_file"`
	// Masks hide what must not be seen, before anything is matched.
	Masks []string `yaml:"masks"`

	QueryTimeout  time.Duration `yaml:"query_timeout" min:"10ms" max:"1h" doc:"Longest search."`
	MaxLines      int           `yaml:"max_lines" min:"1" max:"10000"`
	MaxLine       ByteSize      `yaml:"max_line" min:"1KiB" max:"1MiB" doc:"Most bytes of a line that are shown."`
	MaxUnpacked   ByteSize      `yaml:"max_unpacked" min:"1MiB" max:"1TiB"`
	MaxFiles      int           `yaml:"max_files" min:"1" max:"1000" doc:"Most files of a search, the newest."`
	MaxConcurrent int           `yaml:"max_concurrent" min:"1" max:"100" doc:"Most searches at once."`
}

// LogLines is how the lines of some files are written. Keys that are left out are as in the data source;
// time_pattern and time_layout belong together.
type LogLines struct {
	Files       []string `yaml:"files" required:"true" doc:"Names of the files, by patterns as in the data source."`
	Format      string   `yaml:"format" enum:"text|json|logfmt" doc:"How lines carry fields."`
	TimePattern string   `yaml:"time_pattern" doc:"RE2 pattern of a line's time: its first group, or all of it."`
	TimeLayout  string   `yaml:"time_layout" doc:"How a line's time is written, as in the data source."`
	TimeZone    string   `yaml:"time_zone" doc:"Zone of times that name none, such as Europe/Berlin."`
}

// Tags implements strictyaml.Tagger.
func (Logs) Tags() strictyaml.Tags {
	return strictyaml.Tags{
		"files": `doc:"Files below root that may be read, by patterns such as app.log* or nginx/*.log.*.gz. ` +
			`Links are not followed."`,
		"time_layout": `doc:"How a line's time is written: rfc3339 (with the forms that loggers have for it), ` +
			`unix, unix_ms, or a layout of Go such as 02/Jan/2006:15:04:05 -0700."`,
		"by_file": `doc:"Files whose lines are written differently, by patterns. The first one that names a ` +
			`file counts; what it leaves out is as above."`,
		"max_unpacked": `doc:"Most bytes that a compressed file may hold. A larger one counts as not read."`,
		"masks": `doc:"RE2 patterns of secrets; their groups, or the whole match without groups, ` +
			`are replaced before anything is matched or shown."`,
		"max_lines": `doc:"Most matching lines of an answer; all are counted."`,
	}
}

func newLogs() *Logs {
	return &Logs{
		Format: "text", TimeZone: "UTC", QueryTimeout: 20 * time.Second,
		MaxLines: 200, MaxLine: 16 << 10, MaxUnpacked: 4 << 30, MaxFiles: 64, MaxConcurrent: 2,
	}
}

// Validate checks names and patterns.
func (l *Logs) Validate(at Place) {
	if !filepath.IsAbs(l.Root) {
		at.Key("root").Problem("The directory is not an absolute path.",
			"Write it from the root of the file system, such as /var/log/shop.")
	}
	files, masks := at.Key("files"), at.Key("masks")
	if len(l.Files) == 0 && files.Given() {
		files.Problem("No file may be read: every search is refused.", "List patterns such as app.log*.")
	}
	checkFilePatterns(files, l.Files)
	for i, m := range l.Masks {
		if re := checkRegexp(masks.Index(i), m); re != nil && re.MatchString("") {
			masks.Index(i).Problem("The pattern also matches empty text.",
				"Write one that needs at least one character.")
		}
	}
	if len(l.Masks) == 0 {
		masks.Warn("Nothing is masked: secrets in the files are shown.", `List patterns such as 'password=(\S+)'.`)
	}
	main := l.lines()
	main.validateTimes(at)
	if l.TimePattern == "" && l.TimeLayout == "" && len(l.ByFile) == 0 {
		at.Key("time_pattern").Warn("Lines have no times: a search cannot be limited to a time.",
			"Add time_pattern and time_layout.")
	}
	for i, one := range l.ByFile {
		one.validate(at.Key("by_file").Index(i))
	}
}

// lines returns how the lines of the files are written that by_file does not name.
func (l *Logs) lines() LogLines {
	return LogLines{
		Files: l.Files, Format: l.Format, TimePattern: l.TimePattern, TimeLayout: l.TimeLayout, TimeZone: l.TimeZone,
	}
}

func (l LogLines) validate(at Place) {
	files := at.Key("files")
	if len(l.Files) == 0 && files.Given() {
		files.Problem("No file is named.", "List patterns such as nginx/*.log*, or remove the entry.")
	}
	checkFilePatterns(files, l.Files)
	if l.TimeZone == "" {
		l.TimeZone = "UTC"
	}
	l.validateTimes(at)
}

func checkFilePatterns(at Place, patterns []string) {
	for i, p := range patterns {
		if _, err := path.Match(p, ""); err != nil || !fs.ValidPath(p) || p == "." {
			at.Index(i).Problem("This is not a pattern of files below the root.",
				"Write it relative to root and without .., such as nginx/*.log.")
		}
	}
}

func (l LogLines) validateTimes(at Place) {
	if _, err := time.LoadLocation(l.TimeZone); err != nil || l.TimeZone == "" || l.TimeZone == "Local" {
		at.Key("time_zone").Problem("There is no such time zone.", "Write UTC or a name such as Europe/Berlin.")
	}
	if (l.TimePattern == "") != (l.TimeLayout == "") {
		missing := "time_layout"
		if l.TimePattern == "" {
			missing = "time_pattern"
		}
		at.Key(missing).Problem("time_pattern and time_layout belong together.", "Add the other one, or remove both.")
		return
	}
	if l.TimePattern == "" {
		return
	}
	checkRegexp(at.Key("time_pattern"), l.TimePattern)
	switch l.TimeLayout {
	case "rfc3339", "unix", "unix_ms":
	default:
		if sample := time.Unix(1e9, 0).UTC(); sample.Format(l.TimeLayout) == l.TimeLayout {
			at.Key("time_layout").Problem("The layout has no part of a time.",
				"Write the moment 2006-01-02 15:04:05 as the lines would.")
		}
	}
}

// checkRegexp returns the compiled pattern, or nil after it reported why not.
func checkRegexp(at Place, pattern string) *regexp.Regexp {
	re, err := regexp.Compile(pattern)
	if err != nil {
		at.Problem("This is not an RE2 regular expression.",
			"Check the brackets and escapes; backreferences and look-around do not exist.")
		return nil
	}
	return re
}

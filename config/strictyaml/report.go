package strictyaml

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one fault or one warning. It never contains the value of a secret.
type Problem struct {
	// Path names the setting, such as data_sources.shop.allow.shop.customers[2]; it is empty
	// when the file as a whole is meant.
	Path string `json:"path"`
	// Line is the line of the setting, or of the section where it is missing; 0 when unknown.
	Line int `json:"line,omitempty"`
	// Message is one plain sentence: what is wrong.
	Message string `json:"message"`
	// Fix is one plain sentence: what to do.
	Fix string `json:"fix"`
}

// Text returns the problem as two lines: file, line, path and message; then the fix.
func (p Problem) Text(file string) string {
	var b strings.Builder
	b.WriteString(file)
	if p.Line > 0 {
		b.WriteString(":" + strconv.Itoa(p.Line))
	}
	if p.Path != "" {
		b.WriteString(": " + p.Path)
	}
	b.WriteString(": " + p.Message + "\n    fix: " + p.Fix)
	return b.String()
}

// Problems is an error: everything that is wrong with a file, ordered by line.
type Problems struct {
	// File is the file's name as it was given; empty for text that is in no file.
	File string
	// List has at least one element.
	List []Problem
	// Warnings is what is legal but risky, ordered by line.
	Warnings []Problem
}

// Error returns one line for the count and two lines for each problem.
func (p *Problems) Error() string {
	file := cmp.Or(p.File, "configuration")
	var b strings.Builder
	switch len(p.List) {
	case 1:
		fmt.Fprintf(&b, "%s: 1 problem", file)
	default:
		fmt.Fprintf(&b, "%s: %d problems", file, len(p.List))
	}
	for _, one := range p.List {
		b.WriteString("\n")
		b.WriteString(one.Text(file))
	}
	return b.String()
}

// Report collects what is wrong while a file is read and checked.
type Report struct {
	problems, warnings []Problem
	lines              map[string]int // of paths
	// unreadable holds the paths whose value could not be read.
	unreadable map[string]bool
}

// NewReport returns an empty report, for settings that do not come from a file. [Parse] makes
// its own.
func NewReport() *Report {
	return &Report{lines: map[string]int{}, unreadable: map[string]bool{}}
}

// Root returns the place of the whole file.
func (r *Report) Root() Place { return Place{report: r} }

// Err returns nil when nothing is wrong, else a *[Problems] with everything that is; file is
// the name to show.
func (r *Report) Err(file string) error {
	if len(r.problems) == 0 {
		return nil
	}
	return &Problems{File: file, List: byLine(r.problems), Warnings: byLine(r.warnings)}
}

// Warnings returns what is legal but risky, ordered by line.
func (r *Report) Warnings() []Problem { return byLine(r.warnings) }

// Line returns the line of a setting's path, or of the nearest section above it that is in the
// file; 0 when there is none.
func (r *Report) Line(path string) int {
	for {
		if line, ok := r.lines[path]; ok {
			return line
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			return 0
		}
		path = path[:i]
	}
}

// byLine returns a sorted copy.
func byLine(list []Problem) []Problem {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return list
}

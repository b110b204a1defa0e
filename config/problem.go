package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one fault or one warning. It never carries a secret's value.
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

// Problems is the error of Load and Parse: everything that is wrong, ordered by line.
type Problems struct {
	// File is the file's name as it was given; empty for Parse.
	File string
	// List is never empty.
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

// report collects problems while the file is read and checked.
type report struct {
	problems, warnings []Problem
	lines              map[string]int
	// broken holds the paths whose value could not be read. What is said about them or below
	// them later is a consequence, and is dropped.
	broken map[string]bool
}

func newReport() *report {
	return &report{lines: map[string]int{}, broken: map[string]bool{}}
}

func byLine(list []Problem) []Problem {
	slices.SortStableFunc(list, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return list
}

// Place is a setting's place in the file. A [Source] reports through it.
type Place struct {
	report *report
	parent *Place
	path   string
}

// Key returns the place of a key below.
func (p Place) Key(name string) Place {
	path := printable(name)
	if p.path != "" {
		path = p.path + "." + path
	}
	return Place{report: p.report, parent: &p, path: path}
}

// Index returns the place of a list's element.
func (p Place) Index(i int) Place {
	return Place{report: p.report, parent: &p, path: p.path + "[" + strconv.Itoa(i) + "]"}
}

// Problem reports a fault: what is wrong, and what to do, each in one plain sentence.
func (p Place) Problem(message, fix string) {
	if !p.isBroken() {
		p.report.problems = append(p.report.problems, Problem{Path: p.path, Line: p.line(), Message: message, Fix: fix})
	}
}

// Warn reports what is legal but risky.
func (p Place) Warn(message, fix string) {
	if !p.isBroken() {
		p.report.warnings = append(p.report.warnings, Problem{Path: p.path, Line: p.line(), Message: message, Fix: fix})
	}
}

// unreadable reports a fault after which the setting has no value worth checking.
func (p Place) unreadable(message, fix string) {
	p.Problem(message, fix)
	p.broken()
}

func (p Place) broken() { p.report.broken[p.path] = true }

func (p Place) isBroken() bool {
	for at := &p; at != nil; at = at.parent {
		if at.report.broken[at.path] {
			return true
		}
	}
	return false
}

// stands records the line on which the setting stands.
func (p Place) stands(line int) {
	if _, known := p.report.lines[p.path]; !known {
		p.report.lines[p.path] = line
	}
}

// given reports whether the file has the setting.
func (p Place) given() bool { _, ok := p.report.lines[p.path]; return ok }

func (p Place) line() int {
	for at := &p; at != nil; at = at.parent {
		if line, ok := at.report.lines[at.path]; ok {
			return line
		}
	}
	return 0
}

// printable keeps a path on one line and short, whatever the key is.
func printable(name string) string {
	const most = 96
	quoted := strconv.Quote(name)
	if quoted = quoted[1 : len(quoted)-1]; len(quoted) > most {
		return quoted[:most] + "…"
	}
	return strings.ReplaceAll(quoted, `\"`, `"`)
}

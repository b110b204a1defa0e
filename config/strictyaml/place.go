package strictyaml

import (
	"strconv"
	"strings"
)

// Place is where a setting is, or would be, in the file. Whatever checks the setting reports
// through its place.
type Place struct {
	report *Report
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

// Secret returns the place of the key that says where a secret is: name_file when the file has
// that key, else name_env.
func (p Place) Secret(name string) Place {
	if file := p.Key(name + "_file"); file.Given() {
		return file
	}
	return p.Key(name + "_env")
}

// Problem reports a fault: what is wrong, and what to do, each in one plain sentence. It is
// dropped when the setting is unreadable: it would be a consequence of what was reported
// already.
func (p Place) Problem(message, fix string) {
	if !p.IsUnreadable() {
		p.report.problems = append(p.report.problems, p.problem(message, fix))
	}
}

// Warn reports what is legal but risky. It is dropped when the setting is unreadable.
func (p Place) Warn(message, fix string) {
	if !p.IsUnreadable() {
		p.report.warnings = append(p.report.warnings, p.problem(message, fix))
	}
}

func (p Place) problem(message, fix string) Problem {
	return Problem{Path: p.path, Line: p.line(), Message: message, Fix: fix}
}

// Unreadable reports a fault after which the setting has no value worth checking.
func (p Place) Unreadable(message, fix string) {
	p.Problem(message, fix)
	p.MarkUnreadable()
}

// MarkUnreadable drops whatever is reported about the setting, or about one below it, from now
// on.
func (p Place) MarkUnreadable() { p.report.unreadable[p.path] = true }

// IsUnreadable reports whether the setting, or a section that it is in, is unreadable.
func (p Place) IsUnreadable() bool {
	for at := &p; at != nil; at = at.parent {
		if at.report.unreadable[at.path] {
			return true
		}
	}
	return false
}

// Given reports whether the file has the setting.
func (p Place) Given() bool { _, ok := p.report.lines[p.path]; return ok }

// setLine records the line of the setting; the first call counts.
func (p Place) setLine(line int) {
	if !p.Given() {
		p.report.lines[p.path] = line
	}
}

// line returns the line of the setting, or of the nearest section above it.
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

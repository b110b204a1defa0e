package allowlist

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DraftOptions change what Draft writes.
type DraftOptions struct {
	// DefaultSchema writes the key default_schema too, for the schema with most tables.
	DefaultSchema bool
	// Views turns views on.
	Views bool
}

// The bounds of a configuration's texts about a column, in characters.
const (
	maxShown = 200
	maxName  = 64
)

// Draft returns the keys allow, left_out and views of a data source as YAML, indented for the
// section of the data source, with comments for whoever reviews them. The same schema gives the
// same text.
func Draft(relations []Relation, o DraftOptions) string {
	d := &draft{options: o}
	for _, r := range relations {
		d.relation(r)
	}
	return d.text(relations)
}

type draft struct {
	options              DraftOptions
	allow, leftOut, view strings.Builder
	tables               map[string]int // by schema
}

func (d *draft) text(relations []Relation) string {
	var b strings.Builder
	b.WriteString("    # Review this: agents may read what is listed below allow, and nothing else.\n" +
		"    # To allow a column, move its line from left_out to allow; {column: x, sensitive: true} shows it " +
		"redacted.\n")
	if d.options.DefaultSchema && len(d.tables) > 0 {
		best := ""
		for _, r := range relations { // in order, so that the same schema gives the same choice
			if best == "" || d.tables[r.Schema] > d.tables[best] {
				best = r.Schema
			}
		}
		b.WriteString("    default_schema: " + scalar(best) + "\n")
	}
	if d.allow.Len() == 0 {
		b.WriteString("    allow: {} # the account sees no table here that could be allowed\n")
	} else {
		b.WriteString("    allow:\n" + d.allow.String())
	}
	if d.view.Len() > 0 {
		b.WriteString("    # Known to be views: allowlist check reports a table that became one.\n" +
			"    views:\n" + d.view.String())
	}
	if d.leftOut.Len() > 0 {
		b.WriteString("    # Known and not readable; allowlist check reports columns that are in neither list.\n" +
			"    left_out:\n" + d.leftOut.String())
	}
	return b.String()
}

// relation drafts one table or view.
func (d *draft) relation(r Relation) {
	key, what := key(r.Schema, r.Name), described(r)
	allowed, leftOut := columns(r)
	if off := d.off(r, allowed); off != "" {
		fmt.Fprintf(&d.allow, "      # left out, %s: %s; %s\n", what, remark(key), off)
		return
	}
	fmt.Fprintf(&d.allow, "      # %s\n      %s:\n%s", what, key, allowed)
	if leftOut != "" {
		fmt.Fprintf(&d.leftOut, "      %s:\n%s", key, leftOut)
	}
	if r.View {
		fmt.Fprintf(&d.view, "      - %s\n", key)
	}
	if d.tables == nil {
		d.tables = map[string]int{}
	}
	d.tables[r.Schema]++
}

// described says what a relation is, for a comment.
func described(r Relation) string {
	what := "table"
	if r.View {
		what = "VIEW"
	}
	if r.Rows != "" {
		what += ", about " + r.Rows + " rows"
	}
	if r.Comment != "" {
		what += "; " + remark(r.Comment)
	}
	return what
}

// item begins a line that lists a column.
const item = "        - "

// columns returns the lines of a relation's columns: those to allow and those to leave out.
func columns(r Relation) (allowed, leftOut string) {
	var in, out strings.Builder
	whole := !slices.ContainsFunc(r.Columns,
		func(c Column) bool { return c.Key && (sensitive(c) != "" || !nameable(c.Name)) })
	for _, c := range r.Columns {
		why := sensitive(c)
		c.Key = c.Key && whole // half a key tells no rows apart
		switch {
		case !nameable(c.Name) || privateName.MatchString(c.Name):
			fmt.Fprintf(&in, "        # the column %s cannot be listed: rename it, or read it through a view\n",
				strconv.Quote(c.Name))
		case why != "":
			fmt.Fprintf(&out, item+"%s # %s: %s\n", scalar(c.Name), remark(c.Type), why)
		default:
			fmt.Fprintf(&in, item+"%s\n", columnLine(c))
		}
	}
	return in.String(), out.String()
}

// off says why all of a relation is left out, or returns "".
func (d *draft) off(r Relation, allowed string) string {
	switch {
	case !nameable(r.Schema) || !nameable(r.Name):
		return "a name that cannot be listed"
	case r.View && !d.options.Views:
		return "a view reads with its definer's rights and may show columns under other names (--views turns views on)"
	case secretive(r.Name):
		return "its name says that it holds secrets"
	case !strings.Contains(allowed, item):
		return "every column looks sensitive, or none can be listed"
	}
	return ""
}

func columnLine(c Column) string {
	line := "{column: " + scalar(c.Name)
	if c.Type != "" {
		line += ", type: " + scalar(shown(c.Type))
	}
	if c.Key {
		line += ", key: true"
	}
	if c.Comment != "" {
		line += ", comment: " + scalar(shown(c.Comment))
	}
	return line + "}"
}

var (
	plainWord   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	plainType   = regexp.MustCompile(`^[a-z][a-z0-9_]*(\([0-9]+\))?( [a-z]+)*$`)
	plainKey    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\.[A-Za-z_][A-Za-z0-9_]*$`)
	privateName = regexp.MustCompile(`(?i)^_o[0-9]+$`) // printed statements use these themselves
)

// scalar writes text so that YAML reads the same text.
func scalar(text string) string {
	word := []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
	plain := plainWord.MatchString(text) || plainType.MatchString(text) || plainKey.MatchString(text)
	if plain && !slices.Contains(word, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(text)
}

// key writes schema.table as the configuration reads it.
func key(schema, table string) string { return scalar(part(schema) + "." + part(table)) }

func part(name string) string {
	if strings.ContainsAny(name, ".`") {
		return "`" + strings.ReplaceAll(name, "`", "``") + "`"
	}
	return name
}

// nameable reports whether a configuration can list the name.
func nameable(name string) bool {
	return name != "" && name != "*" && utf8.ValidString(name) && utf8.RuneCountInString(name) <= maxName &&
		strings.TrimSpace(name) == name &&
		!strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r > 0xFFFF })
}

// shown bounds what agents are told, as the configuration does.
func shown(text string) string {
	clean := []rune(strings.Join(strings.FieldsFunc(text, unicode.IsControl), " "))
	if len(clean) > maxShown {
		clean = append(clean[:maxShown-1], '…')
	}
	return string(clean)
}

// remark returns text as it can be written in a YAML comment: on one line, and not too long.
func remark(text string) string {
	clean := []rune(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }), " "))
	if len(clean) > 80 {
		clean = append(clean[:79], '…')
	}
	return string(clean)
}

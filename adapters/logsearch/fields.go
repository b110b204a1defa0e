package logsearch

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// fields looks for the fields that were asked for, and remembers which there are.
type fields struct {
	want map[string]string
	// known are the wanted fields that a line had, with any value.
	known map[string]bool
	// names counts those of the first lines, for one who asked for another.
	names  map[string]int
	sample int
}

// The bounds of what is remembered: lines, names, and bytes of a name.
const (
	sampleLines = 1000
	sampleNames = 200
	sampleName  = 64
)

// wanted reports whether lines are still of interest that do not match the agent's pattern: they may
// have a field that no line had so far.
func (f *fields) wanted() bool { return len(f.known) < len(f.want) }

// in reports whether the line, without its secrets, has every field with exactly that value, and whether
// its fields could be read.
func (f *fields) in(line []byte, format Format) (has, sound bool) {
	if len(f.want) == 0 {
		return true, true
	}
	each := func([]byte, func(name, value string)) bool { return false }
	switch format {
	case FormatJSON:
		each = jsonMembers
	case FormatLogfmt:
		each = logfmt
	}
	f.sample++
	equal := map[string]bool{}
	sound = each(line, func(name, value string) {
		f.see(name)
		if v, asked := f.want[name]; asked {
			f.known[name] = true
			equal[name] = equal[name] || v == value
		}
	})
	n := 0
	for _, e := range equal {
		if e {
			n++
		}
	}
	return n == len(f.want), sound
}

func (f *fields) see(name string) {
	if f.sample > sampleLines || len(name) > sampleName {
		return
	}
	if _, counted := f.names[name]; counted || len(f.names) < sampleNames {
		f.names[name]++
	}
}

// unknown returns an error about wanted fields that no line had.
func (f *fields) unknown() error {
	var missing []string
	for name := range f.want {
		if !f.known[name] {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	name := missing[0]
	detail := fmt.Sprintf("no line has the field %.64q", name)
	if near := f.nearest(name); len(near) > 0 {
		detail += "; there are " + strings.Join(near, ", ")
	}
	return fault.Because(fault.ExecutionFailed, "FIELD_UNKNOWN", detail)
}

// nearest returns a few names, those first that have a part in common with the name, then by how many
// lines have them.
func (f *fields) nearest(name string) []string {
	last := func(path string) string { return strings.ToLower(path[strings.LastIndexByte(path, '.')+1:]) }
	list := slices.SortedFunc(maps.Keys(f.names), func(a, b string) int {
		near := func(n string) int {
			switch have, want := last(n), last(name); {
			case have == want:
				return 0
			case strings.Contains(have, want) || strings.Contains(want, have):
				return 1
			}
			return 2
		}
		return cmp.Or(near(a)-near(b), f.names[b]-f.names[a], strings.Compare(a, b))
	})
	return list[:min(len(list), 8)]
}

// maxDepth is how deep members of members are looked at.
const maxDepth = 16

// jsonMembers calls each for the members of the object that the line is, and for those of objects in
// it by their path, log.level: strings by their text, numbers, true, false and null as they are written.
// A list has the name of its member, and each of its items is a value. It reports whether the line is
// no object, or a whole one.
func jsonMembers(line []byte, each func(name, value string)) bool {
	line = bytes.TrimLeft(line, " \t")
	if !bytes.HasPrefix(line, []byte("{")) {
		return true
	}
	var dec jsontext.Decoder
	dec.Reset(bytes.NewReader(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return members(&dec, "", 0, each) == nil
}

// members reads one value and calls each for what is in it.
func members(dec *jsontext.Decoder, path string, depth int, each func(name, value string)) error {
	kind := dec.PeekKind()
	if (kind == '{' || kind == '[') && depth == maxDepth {
		return dec.SkipValue()
	}
	t, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch kind {
	case '{':
		for dec.PeekKind() != '}' {
			name, err := dec.ReadToken()
			if err != nil {
				return err
			}
			inner := name.String()
			if path != "" {
				inner = path + "." + inner
			}
			if err := members(dec, inner, depth+1, each); err != nil {
				return err
			}
		}
	case '[':
		for dec.PeekKind() != ']' {
			if err := members(dec, path, depth+1, each); err != nil {
				return err
			}
		}
	default:
		each(path, t.String())
		return nil
	}
	_, err = dec.ReadToken() // its end
	return err
}

// logfmt calls each for the pairs key=value and key="quoted value", which blanks and tabs separate. It
// reports whether every quote is closed.
func logfmt(line []byte, each func(name, value string)) bool {
	rest := string(line)
	for {
		key, after, ok := strings.Cut(rest, "=")
		if !ok {
			return true
		}
		if i := strings.LastIndexAny(key, " \t"); i >= 0 {
			key = key[i+1:]
		}
		value, end := after, strings.IndexAny(after, " \t")
		switch {
		case strings.HasPrefix(after, `"`):
			var closed bool
			if value, rest, closed = quoted(after[1:]); !closed {
				return false
			}
		case end >= 0:
			value, rest = after[:end], after[end:]
		default:
			rest = ""
		}
		each(key, value)
	}
}

// quoted returns the text up to the quote that ends it, and what follows. Escapes are those of Go and
// JSON; others are left as they are.
func quoted(text string) (value, rest string, closed bool) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			value, rest = text[:i], text[i+1:]
			if v, err := strconv.Unquote(`"` + value + `"`); err == nil {
				return v, rest, true
			}
			u := unescaper{all: true}
			u.of([]byte(value))
			return string(u.text), rest, true
		}
	}
	return "", "", false
}

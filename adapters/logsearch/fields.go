package logsearch

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// hasFields reports whether the line has every field with exactly that value.
func (sr search) hasFields(line []byte) bool {
	want := sr.request.Fields
	if len(want) == 0 {
		return true
	}
	found := 0
	each := logfmt
	if sr.source.Format == FormatJSON {
		each = jsonMembers
	}
	seen := map[string]bool{}
	each(line, func(name, value string) {
		if v, asked := want[name]; asked && v == value && !seen[name] {
			seen[name] = true
			found++
		}
	})
	return found == len(want)
}

// jsonMembers calls each for the members of the object that the line is: strings by their
// text, numbers, true, false and null as they are written. Other values have no text.
func jsonMembers(line []byte, each func(name, value string)) {
	var dec jsontext.Decoder
	dec.Reset(strings.NewReader(string(line)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return
	}
	for {
		name, err := dec.ReadToken()
		if err != nil || name.Kind() != '"' {
			return
		}
		key := name.String()
		if k := dec.PeekKind(); k == '{' || k == '[' {
			if dec.SkipValue() != nil {
				return
			}
			continue
		}
		value, err := dec.ReadToken()
		if err != nil {
			return
		}
		each(key, value.String())
	}
}

// logfmt calls each for the pairs key=value and key="quoted value".
func logfmt(line []byte, each func(name, value string)) {
	rest := string(line)
	for {
		key, after, ok := strings.Cut(rest, "=")
		if !ok {
			return
		}
		if i := strings.LastIndexAny(key, " \t"); i >= 0 {
			key = key[i+1:]
		}
		value := after
		if quoted, err := strconv.QuotedPrefix(after); err == nil && strings.HasPrefix(after, `"`) {
			value, _ = strconv.Unquote(quoted)
			rest = after[len(quoted):]
		} else {
			value, rest, _ = strings.Cut(after, " ")
		}
		each(key, value)
	}
}

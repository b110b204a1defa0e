package strictyaml

import (
	"encoding"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Hinter is implemented by types with UnmarshalText. Hint returns the sentence that says what to
// write; the error of UnmarshalText is the end of the sentence "The value is …".
type Hinter interface {
	Hint() string
}

// word reads text that the tags enum and pattern restrict.
func (n Node) word(v reflect.Value, tag reflect.StructTag) {
	text, ok := n.Text()
	if !ok {
		return
	}
	if words := enum(tag); words != nil && !slices.Contains(words, text) {
		n.Unreadable("The value is not one of those that are allowed.", Suggest(text, words, "It is one of "))
		return
	}
	if pattern, ok := tag.Lookup("pattern"); ok && !regexp.MustCompile(pattern).MatchString(text) {
		n.Unreadable("The value has a form that is not allowed.", "Write "+tag.Get("form")+".")
		return
	}
	v.SetString(text)
}

// enum returns the words that the tag enum allows, nil without the tag.
func enum(tag reflect.StructTag) []string {
	list, ok := tag.Lookup("enum")
	if !ok {
		return nil
	}
	return strings.Split(list, "|")
}

func (n Node) boolean(v reflect.Value) {
	const fix = "Write true or false."
	if !n.scalar(fix) {
		return
	}
	if n.yaml.ShortTag() != "!!bool" {
		n.Unreadable("This is true or false, not "+n.Describe()+".", fix)
		return
	}
	v.SetBool(strings.EqualFold(n.yaml.Value, "true"))
}

func (n Node) integer(v reflect.Value, tag reflect.StructTag) {
	const fix = "Write a plain whole number, such as 8."
	if !n.scalar(fix) {
		return
	}
	i, err := decimal(n.yaml.Value)
	if n.yaml.ShortTag() != "!!int" || err != nil {
		n.Unreadable("The value is not a plain whole number.", fix)
		return
	}
	if n.within(i, tag, decimal) {
		v.SetInt(i)
	}
}

// decimal reads a whole number. Leading zeros and underscores are not allowed: YAML's versions
// disagree on what they mean.
func decimal(text string) (int64, error) {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" || (len(digits) > 1 && digits[0] == '0') {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(text, 10, 64)
}

func (n Node) duration(into *time.Duration, tag reflect.StructTag) {
	const fix = "Write a number with a unit, such as 500ms, 5s, 2m or 24h."
	if !n.scalar(fix) {
		return
	}
	d, err := time.ParseDuration(n.yaml.Value)
	if n.yaml.ShortTag() != "!!str" || err != nil {
		n.Unreadable("The value is not a duration.", fix)
		return
	}
	parse := func(bound string) (int64, error) { b, err := time.ParseDuration(bound); return int64(b), err }
	if n.within(int64(d), tag, parse) {
		*into = d
	}
}

// unmarshal reads a value whose type reads its own text; v is the value that into points to.
func (n Node) unmarshal(into encoding.TextUnmarshaler, v reflect.Value, tag reflect.StructTag) {
	fix := "See the description of the key."
	if h, ok := into.(Hinter); ok {
		fix = h.Hint()
	}
	if !n.scalar(fix) {
		return
	}
	if err := into.UnmarshalText([]byte(n.yaml.Value)); err != nil {
		n.Unreadable("The value is "+err.Error()+".", fix)
		return
	}
	if v.CanInt() {
		n.within(v.Int(), tag, func(bound string) (int64, error) {
			b := reflect.New(v.Type())
			err := b.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(bound))
			return b.Elem().Int(), err
		})
	}
}

// within reports whether a value is within the tags min and max, both inclusive; if not, it
// reports that too. parse reads the tags as the type reads its values.
func (n Node) within(value int64, tag reflect.StructTag, parse func(string) (int64, error)) bool {
	if least, ok := tag.Lookup("min"); ok && value < bound(least, parse) {
		n.Unreadable("The value is too small.", "Write at least "+least+".")
		return false
	}
	if most, ok := tag.Lookup("max"); ok && value > bound(most, parse) {
		n.Unreadable("The value is too large.", "Write at most "+most+".")
		return false
	}
	return true
}

// bound reads a min or max tag.
func bound(text string, parse func(string) (int64, error)) int64 {
	b, err := parse(text)
	if err != nil {
		panic("strictyaml: the min or max tag " + strconv.Quote(text) + " cannot be read: " + err.Error())
	}
	return b
}

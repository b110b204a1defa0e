package config

import (
	"encoding"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// scalar returns the node of a single value, or nil after it reported why there is none.
func (r *reader) scalar(at Place, n *yaml.Node, fix string) *yaml.Node {
	n = r.resolve(at, n)
	switch {
	case n == nil:
		at.unreadable("The value is empty.", fix+" Or remove the key.")
	case n.Kind != yaml.ScalarNode:
		at.unreadable("This is a single value, not "+describe(n)+".", fix)
	default:
		return n
	}
	return nil
}

// text reads a value that YAML takes for text.
func (r *reader) text(at Place, n *yaml.Node, into *string) bool {
	if n = r.scalar(at, n, "Write text."); n == nil {
		return false
	}
	if n.ShortTag() != "!!str" {
		at.unreadable("This is text, but YAML reads it as "+describe(n)+".", "Put it in quotes.")
		return false
	}
	*into = n.Value
	return true
}

// word reads text that the tags enum and pattern bound.
func (r *reader) word(at Place, n *yaml.Node, v reflect.Value, tag reflect.StructTag) {
	var text string
	if !r.text(at, n, &text) {
		return
	}
	if list, ok := tag.Lookup("enum"); ok && !slices.Contains(strings.Split(list, "|"), text) {
		at.unreadable("The value is none of those that are possible.", suggest(text, strings.Split(list, "|"), "It is one of "))
		return
	}
	if pattern, ok := tag.Lookup("pattern"); ok && !compiled(pattern).MatchString(text) {
		at.unreadable("The value has a form that is not allowed.", "Write "+tag.Get("form")+".")
		return
	}
	v.SetString(text)
}

func compiled(pattern string) *regexp.Regexp { return regexp.MustCompile(pattern) }

func (r *reader) boolean(at Place, n *yaml.Node, v reflect.Value) {
	const fix = "Write true or false."
	if n = r.scalar(at, n, fix); n == nil {
		return
	}
	if n.ShortTag() != "!!bool" {
		at.unreadable("This is true or false, not "+describe(n)+".", fix)
		return
	}
	v.SetBool(strings.EqualFold(n.Value, "true"))
}

func (r *reader) integer(at Place, n *yaml.Node, v reflect.Value, tag reflect.StructTag) {
	const fix = "Write a plain whole number, such as 8."
	if n = r.scalar(at, n, fix); n == nil {
		return
	}
	i, err := decimal(n.Value)
	if n.ShortTag() != "!!int" || err != nil {
		at.unreadable("The value is not a plain whole number.", fix)
		return
	}
	parse := func(bound string) int64 { b, err := decimal(bound); mustParse(err); return b }
	if within(at, i, tag, parse) {
		v.SetInt(i)
	}
}

func (r *reader) duration(at Place, n *yaml.Node, into *time.Duration, tag reflect.StructTag) {
	const fix = "Write a number with a unit, such as 500ms, 5s, 2m or 24h."
	if n = r.scalar(at, n, fix); n == nil {
		return
	}
	d, err := time.ParseDuration(n.Value)
	if n.ShortTag() != "!!str" || err != nil {
		at.unreadable("The value is not a duration.", fix)
		return
	}
	parse := func(bound string) int64 { b, err := time.ParseDuration(bound); mustParse(err); return int64(b) }
	if within(at, int64(d), tag, parse) {
		*into = d
	}
}

// unmarshal reads a value whose type reads its own text. Its error is the end of the sentence
// "The value is …", and its optional method hint says what to write.
func (r *reader) unmarshal(at Place, n *yaml.Node, into encoding.TextUnmarshaler, tag reflect.StructTag) {
	fix := "See the description of the key."
	if h, ok := into.(interface{ hint() string }); ok {
		fix = h.hint()
	}
	if n = r.scalar(at, n, fix); n == nil {
		return
	}
	if err := into.UnmarshalText([]byte(n.Value)); err != nil {
		at.unreadable("The value is "+err.Error()+".", fix)
		return
	}
	if size, ok := into.(*ByteSize); ok {
		parse := func(bound string) int64 { var b ByteSize; mustParse(b.UnmarshalText([]byte(bound))); return int64(b) }
		within(at, int64(*size), tag, parse)
	}
}

// within judges a value by the tags min and max, both inclusive.
func within(at Place, value int64, tag reflect.StructTag, parse func(string) int64) bool {
	if least, ok := tag.Lookup("min"); ok && value < parse(least) {
		at.unreadable("The value is too small.", "Write at least "+least+".")
		return false
	}
	if most, ok := tag.Lookup("max"); ok && value > parse(most) {
		at.unreadable("The value is too large.", "Write at most "+most+".")
		return false
	}
	return true
}

// mustParse panics on a tag that cannot be read, which is a programmer's error.
func mustParse(err error) {
	if err != nil {
		panic("config: bad min or max tag: " + err.Error())
	}
}

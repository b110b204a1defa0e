package mcpserver

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// cut is what a member of an object was, and the object without it.
type cut struct {
	// value is nil when the object has no such member.
	value jsontext.Value
	rest  json.RawMessage
	// twice reports whether the object has the member more than once; then rest is the whole object.
	twice bool
}

// splice takes the top-level member out of the object; every other byte of it stays as it was,
// one comma aside. What is no object has no members.
func splice(object json.RawMessage, name string) cut {
	whole := cut{rest: object}
	dec := lenient(object)
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return whole
	}
	found := whole
	for dec.PeekKind() == '"' {
		before := dec.InputOffset()
		token, err := dec.ReadToken()
		if err != nil {
			return whole
		}
		this := token.String() == name
		value, err := dec.ReadValue()
		if err != nil {
			return whole
		}
		if !this {
			continue
		}
		if found.value != nil {
			return cut{value: found.value, rest: object, twice: true}
		}
		found.value = value.Clone()
		found.rest = without(object, int(before), int(dec.InputOffset()))
	}
	return found
}

// without removes the member that ends at end and whose predecessor, an opening brace or a
// value, ends at before.
func without(object json.RawMessage, before, end int) json.RawMessage {
	from := before
	if object[before-1] == '{' {
		// The first member: the comma that follows it goes, and the space before it stays.
		from = before + leadingSpace(object[before:])
		if after := end + leadingSpace(object[end:]); object[after] == ',' {
			end = after + 1
		}
	}
	rest := make(json.RawMessage, 0, len(object))
	return append(append(rest, object[:from]...), object[end:]...)
}

func leadingSpace(data []byte) int {
	for i, c := range data {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return i
		}
	}
	return len(data)
}

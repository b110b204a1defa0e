package config

import (
	"reflect"
	"strings"
)

// field is one tagged field of a struct.
type field struct {
	index int
	name  string
	typ   reflect.Type
	tag   reflect.StructTag
}

func (f field) required() bool { return f.tag.Get("required") == "true" }

// secret reports whether the field is read from the keys name_env and name_file.
func (f field) secret() bool { return f.typ == reflect.TypeFor[Secret]() }

func (f field) doc() string { return f.tag.Get("doc") }

// fieldsOf returns the fields that have a key, in order.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		sf := t.Field(i)
		name, _, _ := strings.Cut(sf.Tag.Get("yaml"), ",")
		if sf.IsExported() && name != "" && name != "-" {
			fields = append(fields, field{index: i, name: name, typ: sf.Type, tag: sf.Tag})
		}
	}
	return fields
}

// keysOf returns the keys that the fields are read from.
func keysOf(fields []field) []string {
	keys := make([]string, 0, len(fields))
	for _, f := range fields {
		if f.secret() {
			keys = append(keys, f.name+"_env", f.name+"_file")
		} else {
			keys = append(keys, f.name)
		}
	}
	return keys
}

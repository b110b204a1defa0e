package strictyaml

import (
	"reflect"
	"strings"
)

// Tags are tags of a struct's fields, by key.
type Tags map[string]reflect.StructTag

// Tagger is implemented by structs with tags that are too long for the line of their field: Tags
// returns more of them. A tag beside the field takes precedence.
type Tagger interface {
	Tags() Tags
}

// field is one tagged field of a struct.
type field struct {
	index int
	name  string
	typ   reflect.Type
	tag   reflect.StructTag
}

func (f field) required() bool { return f.tag.Get("required") == "true" }

// secret reports whether the field is read from the keys name_env and name_file.
func (f field) secret() bool { return reflect.PointerTo(f.typ).Implements(reflect.TypeFor[Secret]()) }

func (f field) doc() string { return f.tag.Get("doc") }

// fieldsOf returns the fields that have a key, in order.
func fieldsOf(t reflect.Type) []field {
	var more Tags
	if tagger, ok := reflect.Zero(t).Interface().(Tagger); ok {
		more = tagger.Tags()
	}
	var fields []field
	used := 0
	for i := range t.NumField() {
		sf := t.Field(i)
		name, _, _ := strings.Cut(sf.Tag.Get("yaml"), ",")
		if !sf.IsExported() || name == "" || name == "-" {
			continue
		}
		f := field{index: i, name: name, typ: sf.Type, tag: sf.Tag}
		if tag, ok := more[name]; ok {
			used++
			f.tag += " " + tag
		}
		fields = append(fields, f)
	}
	if used != len(more) {
		panic("strictyaml: " + t.String() + ".Tags names a key that no field has")
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

// fieldOf returns the field that a key belongs to. The keys of a secret are its name with _env
// or _file, and, by mistake, its name.
func fieldOf(fields []field, key string) (field, bool) {
	for _, f := range fields {
		if key == f.name || f.secret() && (key == f.name+"_env" || key == f.name+"_file") {
			return f, true
		}
	}
	return field{}, false
}

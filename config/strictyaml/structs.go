package strictyaml

import (
	"encoding"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// NodeReader is implemented by the pointer to a type that reads its own form.
type NodeReader interface {
	// ReadYAML reads the node. Whatever is wrong is reported through it, or through places and
	// nodes below it.
	ReadYAML(n Node)
}

// Struct reads a section into the struct that into points to. A field without its key keeps its
// value, so set the defaults before. Keys named in skip are left to the caller.
//
// It panics on a field of a type that the package cannot read, and on a tag that cannot be
// read: both are errors of the program, not of the file.
func (n Node) Struct(into any, skip ...string) {
	v := reflect.ValueOf(into).Elem()
	fields := fieldsOf(v.Type())
	secrets := map[string]*secretRef{}
	unknown := map[string]Place{}
	given := map[string]bool{}
	for key, value := range n.Entries() {
		given[key] = true
		if slices.Contains(skip, key) {
			continue
		}
		f, known := fieldOf(fields, key)
		switch {
		case !known:
			unknown[key] = value.Place
		case !f.secret():
			value.read(v.Field(f.index), f.tag)
		case key == f.name:
			value.Problem("A secret must not be written in the configuration.",
				"Name the environment variable that holds it by "+key+"_env, or the file by "+key+"_file.")
			n.Key(key + "_env").MarkUnreadable()
		default:
			value.secretRef(secrets, f.name, key)
		}
	}
	n.unknownKeys(unknown, given, append(keysOf(fields), without(skip, fields)...))
	for _, f := range fields {
		switch {
		case f.secret():
			n.secret(f, secrets[f.name], v.Field(f.index))
		case f.required() && !given[f.name]:
			n.Key(f.name).Unreadable("The key is missing.", "Add "+f.name+": "+f.doc())
		}
	}
}

// without returns the names that no field has.
func without(names []string, fields []field) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(fields, func(f field) bool { return f.name == name })
	})
}

// unknownKeys reports keys that nothing reads. The key that was meant is not reported as
// missing too.
func (n Node) unknownKeys(unknown map[string]Place, given map[string]bool, known []string) {
	for _, word := range slices.Sorted(maps.Keys(unknown)) {
		place := unknown[word]
		near := nearest(word, known)
		if near == "" {
			place.Problem("There is no such key here.", "Remove it. The keys here are "+strings.Join(known, ", ")+".")
			continue
		}
		place.Problem("There is no such key here.", "Did you mean "+near+"?")
		if !given[near] {
			n.Key(near).MarkUnreadable()
		}
	}
}

// read fills v, whose field has the tag.
func (n Node) read(v reflect.Value, tag reflect.StructTag) {
	switch own := v.Addr().Interface().(type) {
	case NodeReader:
		own.ReadYAML(n)
		return
	case *time.Duration:
		n.duration(own, tag)
		return
	case encoding.TextUnmarshaler:
		n.unmarshal(own, v, tag)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		n.Struct(v.Addr().Interface())
	case reflect.Slice:
		n.list(v, tag)
	case reflect.Map:
		n.table(v, tag)
	case reflect.Bool:
		n.boolean(v)
	case reflect.Int, reflect.Int64:
		n.integer(v, tag)
	case reflect.String:
		n.word(v, tag)
	default:
		panic("strictyaml: no way to read " + v.Type().String())
	}
}

func (n Node) list(v reflect.Value, tag reflect.StructTag) {
	switch n.Kind() {
	case Empty:
	case List:
		// An unreadable item keeps its index, so that later paths are right.
		list := reflect.MakeSlice(v.Type(), len(n.yaml.Content), len(n.yaml.Content))
		for i, item := range n.Items() {
			item.read(list.Index(i), tag)
		}
		v.Set(list)
	default:
		n.Unreadable("This is a list, not "+n.Describe()+".", "Write it in brackets, or one item a line after a dash.")
	}
}

func (n Node) table(v reflect.Value, tag reflect.StructTag) {
	v.Set(reflect.MakeMap(v.Type()))
	for key, value := range n.Entries() {
		if pattern := tag.Get("keys"); pattern != "" && !regexp.MustCompile(pattern).MatchString(key) {
			value.Unreadable("The key has a form that is not allowed.", "Write "+tag.Get("form")+".")
			continue
		}
		item := reflect.New(v.Type().Elem()).Elem()
		value.read(item, tag)
		v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), item)
	}
}

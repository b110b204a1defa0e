package config

import (
	"encoding"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// reader fills tagged structs from YAML nodes and collects every problem on its way: the
// library's own decoder stops at the first kind of fault and knows no paths.
type reader struct {
	*report
	options
	// env and dir say where secrets and relative files are.
	env func(string) (string, bool)
	dir string
	// visits counts nodes, each time one is read: aliases make a small file large.
	visits int
}

// maxVisits is how many nodes are read; an allowlist of a thousand tables has some 50 000.
const maxVisits = 250_000

// nodeReader is a type with a form of its own.
type nodeReader interface {
	readNode(r *reader, at Place, n *yaml.Node)
}

// resolve follows an alias and returns nil for an empty value.
func (r *reader) resolve(at Place, n *yaml.Node) *yaml.Node {
	if n == nil {
		return nil
	}
	at.stands(n.Line)
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if r.visits++; r.visits > maxVisits {
		if r.visits == maxVisits+1 {
			Place{report: r.report}.unreadable("The file is too large once its aliases are expanded.", "Use fewer aliases.")
		}
		return nil
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return nil
	}
	return n
}

// describe names what a node is, never what it says.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a section with keys"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!timestamp":
		return "a date"
	case "!!str":
		return "text"
	default:
		return "a tagged value"
	}
}

// mapping calls each for every key of a section; an empty value has none.
func (r *reader) mapping(at Place, n *yaml.Node, each func(key string, at Place, value *yaml.Node)) {
	if n = r.resolve(at, n); n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		at.unreadable("This is a section with keys, not "+describe(n)+".", "Write its keys below it, indented.")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		place := at.Key(key.Value)
		switch {
		case key.Kind != yaml.ScalarNode:
			at.Problem("A key is a list, a section or an alias.", "Write keys as plain words.")
		case key.ShortTag() == "!!merge":
			place.stands(key.Line)
			place.Problem("Merge keys are not supported.", "Write the keys out.")
		case seen[key.Value]:
			duplicate := Problem{Path: place.path, Line: key.Line, Message: "The key is given twice.", Fix: "Remove one of the two."}
			r.problems = append(r.problems, duplicate)
		default:
			seen[key.Value] = true
			place.stands(key.Line)
			each(key.Value, place, value)
		}
	}
}

// structure fills the struct that into points to. Keys named in skip are the caller's.
func (r *reader) structure(at Place, n *yaml.Node, into any, skip ...string) {
	v := reflect.ValueOf(into).Elem()
	fields := fieldsOf(v.Type())
	secrets := map[string]*secretRef{}
	unknown := map[string]Place{}
	given := map[string]bool{}
	r.mapping(at, n, func(key string, place Place, value *yaml.Node) {
		given[key] = true
		if slices.Contains(skip, key) {
			return
		}
		for _, f := range fields {
			switch {
			case f.secret() && (key == f.name+"_env" || key == f.name+"_file"):
				r.secretRef(secrets, f.name, key, place, value)
				return
			case f.secret() && key == f.name:
				place.Problem("A secret does not stand in the configuration.", "Name the environment variable that holds it by "+key+"_env, or the file by "+key+"_file.")
				at.Key(key + "_env").broken()
				return
			case f.name == key:
				r.value(place, value, v.Field(f.index), f.tag)
				return
			}
		}
		unknown[key] = place
	})
	r.unknownKeys(at, unknown, given, append(keysOf(fields), skip...))
	for _, f := range fields {
		if f.secret() {
			v.Field(f.index).Set(reflect.ValueOf(r.secret(at, f, secrets[f.name])))
		} else if f.required() && !given[f.name] {
			at.Key(f.name).unreadable("The key is missing.", "Add "+f.name+": "+f.doc())
		}
	}
}

// unknownKeys reports keys that nothing reads. The key that was meant is not reported as
// missing too.
func (r *reader) unknownKeys(at Place, unknown map[string]Place, given map[string]bool, known []string) {
	for _, word := range slices.Sorted(maps.Keys(unknown)) {
		place := unknown[word]
		near := nearest(word, known)
		if near == "" {
			place.Problem("There is no such key here.", "Remove it. The keys here are "+strings.Join(known, ", ")+".")
			continue
		}
		place.Problem("There is no such key here.", "Did you mean "+near+"?")
		if !given[near] {
			at.Key(near).broken()
		}
	}
}

// value fills v, whose field carries the tag.
func (r *reader) value(at Place, n *yaml.Node, v reflect.Value, tag reflect.StructTag) {
	target := v.Addr().Interface()
	if own, ok := target.(nodeReader); ok {
		own.readNode(r, at, n)
		return
	}
	switch t := target.(type) {
	case *File:
		r.file(at, n, t)
		return
	case *time.Duration:
		r.duration(at, n, t, tag)
		return
	case encoding.TextUnmarshaler:
		r.unmarshal(at, n, t, tag)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		r.structure(at, n, target)
	case reflect.Slice:
		r.list(at, n, v, tag)
	case reflect.Map:
		r.table(at, n, v, tag)
	case reflect.Bool:
		r.boolean(at, n, v)
	case reflect.Int, reflect.Int64:
		r.integer(at, n, v, tag)
	case reflect.String:
		r.word(at, n, v, tag)
	default:
		panic("config: no way to read " + v.Type().String())
	}
}

func (r *reader) list(at Place, n *yaml.Node, v reflect.Value, tag reflect.StructTag) {
	if n = r.resolve(at, n); n == nil {
		return
	}
	if n.Kind != yaml.SequenceNode {
		at.unreadable("This is a list, not "+describe(n)+".", "Write it in brackets, or one item a line after a dash.")
		return
	}
	// An unreadable item keeps its place, so that later paths are right.
	list := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		r.value(at.Index(i), item, list.Index(i), tag)
	}
	v.Set(list)
}

func (r *reader) table(at Place, n *yaml.Node, v reflect.Value, tag reflect.StructTag) {
	v.Set(reflect.MakeMap(v.Type()))
	r.mapping(at, n, func(key string, place Place, value *yaml.Node) {
		if pattern := tag.Get("keys"); pattern != "" && !compiled(pattern).MatchString(key) {
			place.unreadable("The key has a form that is not allowed.", "Write "+tag.Get("form")+".")
			return
		}
		item := reflect.New(v.Type().Elem()).Elem()
		r.value(place, value, item, tag)
		v.SetMapIndex(reflect.ValueOf(key), item)
	})
}

func (r *reader) file(at Place, n *yaml.Node, into *File) {
	var name string
	if !r.text(at, n, &name) {
		return
	}
	if name == "" {
		at.unreadable("The name of the file is empty.", "Write the file's name, or remove the key.")
		return
	}
	*into = File(r.beside(name))
	if r.secrets {
		if message := unusable(string(*into)); message != "" {
			at.unreadable(message, "Check the name; a relative one is relative to the configuration file.")
		}
	}
}

// beside makes a relative name relative to the configuration file.
func (r *reader) beside(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.dir, name)
}

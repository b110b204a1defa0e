package strictyaml

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schemer is implemented by types that describe their own form.
type Schemer interface {
	// JSONSchema returns a new schema; the reader adds the description and the default.
	JSONSchema() *jsonschema.Schema
}

// Schema returns the JSON Schema (draft 2020-12) of the struct that sample points to, made from
// the tags that [Node.Struct] reads by. The values of sample are the defaults.
func Schema(sample any) *jsonschema.Schema {
	v := reflect.ValueOf(sample).Elem()
	s := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for _, f := range fieldsOf(v.Type()) {
		if f.secret() {
			addSecret(s, f)
			continue
		}
		p := valueSchema(v.Field(f.index), f.tag)
		p.Description = strings.TrimSpace(f.doc() + " " + p.Description)
		p.Default = defaultOf(v.Field(f.index))
		s.Properties[f.name] = p
		s.PropertyOrder = append(s.PropertyOrder, f.name)
		if f.required() {
			s.Required = append(s.Required, f.name)
		}
	}
	return s
}

// addSecret adds the two keys of a secret, of which a section has at most one.
func addSecret(s *jsonschema.Schema, f field) {
	env, file := f.name+"_env", f.name+"_file"
	s.Properties[env] = &jsonschema.Schema{
		Type: "string", Pattern: envForm, Description: f.doc() + ": name of the environment variable that holds it.",
	}
	s.Properties[file] = &jsonschema.Schema{
		Type: "string", MinLength: jsonschema.Ptr(1), Description: f.doc() + ": name of the file that holds it.",
	}
	s.PropertyOrder = append(s.PropertyOrder, env, file)
	if f.required() {
		either := []*jsonschema.Schema{{Required: []string{env}}, {Required: []string{file}}}
		s.AllOf = append(s.AllOf, &jsonschema.Schema{OneOf: either})
		return
	}
	s.AllOf = append(s.AllOf, &jsonschema.Schema{Not: &jsonschema.Schema{Required: []string{env, file}}})
}

const durationForm = `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`

// valueSchema describes the form of a value whose field has the tag.
func valueSchema(v reflect.Value, tag reflect.StructTag) *jsonschema.Schema {
	switch own := v.Addr().Interface().(type) {
	case Schemer:
		return own.JSONSchema()
	case *time.Duration:
		return durationSchema(tag)
	case encoding.TextUnmarshaler:
		return &jsonschema.Schema{}
	}
	switch v.Kind() {
	case reflect.Struct:
		return Schema(v.Addr().Interface())
	case reflect.Slice:
		return &jsonschema.Schema{Type: "array", Items: itemSchema(v, tag)}
	case reflect.Map:
		s := &jsonschema.Schema{Type: "object", AdditionalProperties: itemSchema(v, tag)}
		if keys, ok := tag.Lookup("keys"); ok {
			s.PropertyNames = &jsonschema.Schema{Pattern: keys}
		}
		return s
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return &jsonschema.Schema{Type: "integer", Minimum: numberTag(tag, "min"), Maximum: numberTag(tag, "max")}
	case reflect.String:
		return stringSchema(tag)
	default:
		panic("strictyaml: no way to describe " + v.Type().String())
	}
}

// durationSchema gives the bounds as examples: JSON Schema cannot compare durations.
func durationSchema(tag reflect.StructTag) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Pattern: durationForm}
	for _, name := range []string{"min", "max"} {
		if example, ok := tag.Lookup(name); ok {
			s.Examples = append(s.Examples, example)
		}
	}
	return s
}

// itemSchema describes the elements of a slice or map.
func itemSchema(v reflect.Value, tag reflect.StructTag) *jsonschema.Schema {
	return valueSchema(reflect.New(v.Type().Elem()).Elem(), tag)
}

func stringSchema(tag reflect.StructTag) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Pattern: tag.Get("pattern")}
	for _, word := range enum(tag) {
		s.Enum = append(s.Enum, word)
	}
	return s
}

func numberTag(tag reflect.StructTag, name string) *float64 {
	text, ok := tag.Lookup(name)
	if !ok {
		return nil
	}
	return jsonschema.Ptr(float64(bound(text, decimal)))
}

// defaultOf returns the value as it would be written in the file, or nil for none.
func defaultOf(v reflect.Value) json.RawMessage {
	if v.IsZero() || v.Kind() == reflect.Struct || v.Kind() == reflect.Map {
		return nil
	}
	value := v.Interface()
	if d, ok := value.(time.Duration); ok {
		value = shortDuration(d)
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic("strictyaml: a default cannot be written: " + err.Error())
	}
	return text
}

// shortDuration writes 24h where the standard library writes 24h0m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

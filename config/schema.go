package config

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemer is a type that describes its own form.
type schemer interface{ schema() *jsonschema.Schema }

// Schema returns the JSON Schema (draft 2020-12) of a configuration, indented, made from the
// same structs and tags that Load reads by. Options other than WithKinds change nothing.
func Schema(opts ...Option) ([]byte, error) {
	cfg := Default()
	s := structSchema(&cfg)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "toolboundary configuration"
	s.Defs = map[string]*jsonschema.Schema{}
	sources := s.Properties["data_sources"]
	*sources = *sourcesSchema(optionsOf(opts).kinds, s.Defs, sources.Description)
	return json.MarshalIndent(s, "", "  ")
}

// sourcesSchema describes data_sources: the struct of each kind stands in defs, and the key kind
// chooses among them.
func sourcesSchema(kinds []Kind, defs map[string]*jsonschema.Schema, description string) *jsonschema.Schema {
	choice := &jsonschema.Schema{Type: "object"}
	var names []any
	for _, k := range kinds {
		name := any(k.Name)
		names = append(names, name)
		def := structSchema(k.New())
		def.Description = k.Doc
		def.Properties["kind"] = &jsonschema.Schema{Const: &name, Description: "The kind of the data source; " + defaultKind + " when absent."}
		def.PropertyOrder = append([]string{"kind"}, def.PropertyOrder...)
		defs[k.Name] = def
		when := &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"kind": {Const: &name}}}
		if k.Name != defaultKind {
			when.Required = []string{"kind"}
		}
		choice.AllOf = append(choice.AllOf, &jsonschema.Schema{If: when, Then: &jsonschema.Schema{Ref: "#/$defs/" + k.Name}})
	}
	choice.Properties = map[string]*jsonschema.Schema{"kind": {Enum: names}}
	return &jsonschema.Schema{
		Type: "object", Description: description,
		PropertyNames:        &jsonschema.Schema{Pattern: sourceIDForm},
		AdditionalProperties: choice,
	}
}

// structSchema describes the struct that sample points to; its values are the defaults.
func structSchema(sample any) *jsonschema.Schema {
	v := reflect.ValueOf(sample).Elem()
	s := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for _, f := range fieldsOf(v.Type()) {
		if f.secret() {
			secretSchema(s, f)
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

func secretSchema(s *jsonschema.Schema, f field) {
	env, file := f.name+"_env", f.name+"_file"
	s.Properties[env] = &jsonschema.Schema{Type: "string", Pattern: envName.String(), Description: f.doc() + ": name of the environment variable that holds it."}
	s.Properties[file] = &jsonschema.Schema{Type: "string", MinLength: jsonschema.Ptr(1), Description: f.doc() + ": name of the file that holds it."}
	s.PropertyOrder = append(s.PropertyOrder, env, file)
	if f.required() {
		s.AllOf = append(s.AllOf, &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Required: []string{env}}, {Required: []string{file}}}})
		return
	}
	s.AllOf = append(s.AllOf, &jsonschema.Schema{Not: &jsonschema.Schema{Required: []string{env, file}}})
}

func valueSchema(v reflect.Value, tag reflect.StructTag) *jsonschema.Schema {
	if own, ok := v.Interface().(schemer); ok {
		return own.schema()
	}
	switch v.Addr().Interface().(type) {
	case *time.Duration:
		return &jsonschema.Schema{Type: "string", Pattern: `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`, Examples: []any{tag.Get("min"), tag.Get("max")}}
	case encoding.TextUnmarshaler, *Sources:
		return &jsonschema.Schema{}
	}
	switch v.Kind() {
	case reflect.Struct:
		return structSchema(v.Addr().Interface())
	case reflect.Slice:
		return &jsonschema.Schema{Type: "array", Items: valueSchema(reflect.New(v.Type().Elem()).Elem(), tag)}
	case reflect.Map:
		s := &jsonschema.Schema{Type: "object", AdditionalProperties: valueSchema(reflect.New(v.Type().Elem()).Elem(), tag)}
		if keys, ok := tag.Lookup("keys"); ok {
			s.PropertyNames = &jsonschema.Schema{Pattern: keys}
		}
		return s
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return &jsonschema.Schema{Type: "integer", Minimum: numberTag(tag, "min"), Maximum: numberTag(tag, "max")}
	default:
		return stringSchema(tag)
	}
}

func stringSchema(tag reflect.StructTag) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Pattern: tag.Get("pattern")}
	if list, ok := tag.Lookup("enum"); ok {
		for _, word := range strings.Split(list, "|") {
			s.Enum = append(s.Enum, word)
		}
	}
	return s
}

func numberTag(tag reflect.StructTag, name string) *float64 {
	text, ok := tag.Lookup(name)
	if !ok {
		return nil
	}
	n, err := decimal(text)
	mustParse(err)
	return jsonschema.Ptr(float64(n))
}

// defaultOf returns the value as it would stand in the file, or nil for none.
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
		panic("config: a default cannot be written: " + err.Error())
	}
	return text
}

// shortDuration writes 24h, where the standard library writes 24h0m0s.
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

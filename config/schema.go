package config

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

// Schema returns the JSON Schema (draft 2020-12) of a configuration, indented, made from the
// same structs and tags that Load reads by. Options other than WithKinds change nothing.
func Schema(opts ...Option) ([]byte, error) {
	cfg := Default()
	s := strictyaml.Schema(&cfg)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "toolboundary configuration"
	s.Defs = map[string]*jsonschema.Schema{}
	sources := s.Properties[dataSources]
	sources.PropertyNames = &jsonschema.Schema{Pattern: sourceIDForm}
	sources.AdditionalProperties = sourceSchema(optionsOf(opts).kinds, s.Defs)
	return json.MarshalIndent(s, "", "  ")
}

// JSONSchema implements strictyaml.Schemer. [Schema] adds the kinds.
func (Sources) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "object"} }

// sourceSchema describes one data source: it puts the struct of each kind into defs, and the
// key kind chooses among them.
func sourceSchema(kinds []Kind, defs map[string]*jsonschema.Schema) *jsonschema.Schema {
	source := &jsonschema.Schema{Type: "object"}
	var names []any
	for _, k := range kinds {
		name := any(k.Name)
		names = append(names, name)
		def := strictyaml.Schema(k.New())
		def.Description = k.Doc
		def.Properties["kind"] = &jsonschema.Schema{
			Const: &name, Description: "The kind of the data source; " + defaultKind + " when absent.",
		}
		def.PropertyOrder = append([]string{"kind"}, def.PropertyOrder...)
		defs[k.Name] = def
		when := &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"kind": {Const: &name}}}
		if k.Name != defaultKind {
			when.Required = []string{"kind"}
		}
		then := &jsonschema.Schema{Ref: "#/$defs/" + k.Name}
		source.AllOf = append(source.AllOf, &jsonschema.Schema{If: when, Then: then})
	}
	source.Properties = map[string]*jsonschema.Schema{"kind": {Enum: names}}
	return source
}

package config

import (
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

// Functions are the SQL functions that queries may call.
type Functions struct {
	// Default is the guard's own list.
	Default bool
	// Names is an explicit list, in any letter case; the guard refuses names it does not know.
	Names []string
}

const functionForm = "^[A-Za-z_][A-Za-z0-9_]{0,63}$"

var functionName = regexp.MustCompile(functionForm)

// ReadYAML implements strictyaml.NodeReader.
func (f *Functions) ReadYAML(n strictyaml.Node) {
	switch {
	case n.Kind() == strictyaml.Empty || n.Raw() == "default":
		return
	case n.Kind() != strictyaml.List:
		n.Unreadable("The functions are the word default or a list of names, not "+n.Describe()+".",
			"Write functions: default, or a list of names such as [COUNT, SUM].")
		return
	}
	*f = Functions{Names: []string{}}
	seen := map[string]bool{}
	for _, item := range n.Items() {
		name, ok := item.Text()
		if !ok {
			continue
		}
		switch key := strings.ToUpper(name); {
		case !functionName.MatchString(name):
			item.Problem("This is not the name of a function.",
				"Write the bare name without parentheses, such as COUNT.")
		case seen[key]:
			item.Problem("The function is listed twice.", "Remove one of the two.")
		default:
			seen[key] = true
			f.Names = append(f.Names, name)
		}
	}
}

// JSONSchema implements strictyaml.Schemer.
func (Functions) JSONSchema() *jsonschema.Schema {
	word := any("default")
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Const: &word},
		{Type: "array", Items: &jsonschema.Schema{Type: "string", Pattern: functionForm}},
	}}
}

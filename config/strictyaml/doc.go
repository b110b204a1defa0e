// Package strictyaml reads a YAML file into tagged structs, strictly, and reports everything
// that is wrong with it at once: each problem has the path and the line of the setting, one
// sentence that says what is wrong, and one that says what to do.
//
// It refuses to guess. These are problems: unknown and duplicate keys, merge keys, a second
// document, a missing required key, a value of the wrong type or out of its range, an empty
// value where a single one is meant, octal and hexadecimal numbers, numbers with underscores,
// durations and sizes without a clear unit, the secret itself in place of its origin. A problem
// that only follows from another one is not reported. No message contains a value of the file.
//
// Text becomes nodes by go.yaml.in/yaml; its decoder is not used, because it knows no paths and
// reports one sort of fault at a time. The package knows no key of any product.
//
// # Use
//
// [Parse] returns the root [Node] and a [Report]. [Node.Struct] fills a struct whose fields have
// their defaults already, further checks report through [Place.Problem] and [Place.Warn], and
// [Report.Err] returns everything as a [*Problems]. [Schema] makes a JSON Schema of the same
// struct. The example of the package shows all of it.
//
// # Types of fields
//
// A field is a struct, a slice, a map with text keys, a bool, an int, an int64, a string, a
// time.Duration, a [ByteSize], a [File], or of a type that reads itself: by UnmarshalText (with
// [Hinter] for what to write), by [NodeReader], or as a [Secret], which is a field of a struct,
// not an element of a list. Struct types do not contain themselves. [Schemer] describes types
// that read themselves. Exported fields without a yaml tag are left alone.
//
// # Tags
//
// yaml names the key. Only the part before a comma counts; "-" means that there is no key.
//
//	Listen string `yaml:"listen"`
//
// doc describes the key: in the schema, and in the fix of a missing key. The doc of a secret has
// no full stop, because ": name of the environment variable that holds it." follows.
//
//	Listen string `yaml:"listen" doc:"host:port of the API."`
//
// required makes a missing key a problem. "true" is the only value. A secret needs one of its
// two keys.
//
//	Listen string `yaml:"listen" required:"true" doc:"host:port of the API."`
//
// min and max limit numbers, durations and sizes, both inclusive. They are written as the value
// is. A type with UnmarshalText can have them when its kind is an integer.
//
//	Workers int           `yaml:"workers" min:"1" max:"64"`
//	Timeout time.Duration `yaml:"timeout" min:"10ms" max:"1h"`
//	Body    ByteSize      `yaml:"body" max:"16MiB"`
//
// enum lists the words that a string may be, separated by bars.
//
//	Level string `yaml:"level" enum:"info|debug"`
//
// pattern is the RE2 pattern that a string must match, and form says it in words: "Write <form>."
//
//	ID string `yaml:"id" pattern:"^[a-z]{1,8}$" form:"1 to 8 small letters"`
//
// keys is the pattern of the keys of a map; form says it in words.
//
//	Quota map[string]int64 `yaml:"quota" keys:"^[a-z]+$" form:"a tool's name" min:"0"`
//
// On a slice or a map, min, max, enum and pattern are about the elements. Tags that are too long
// for the line of their field are returned by the struct's method Tags, see [Tagger].
//
// # Files
//
//	parse.go    Options and Parse: bytes to one document
//	node.go     Node: a value at its place; aliases, and how many nodes they may become
//	structs.go  Node.Struct: sections, lists, maps, unknown and missing keys
//	fields.go   the tags of a struct's fields
//	values.go   single values and their limits; size.go, files.go: ByteSize, File
//	secrets.go  secrets from environment variables and files
//	place.go    Place: where problems are reported; report.go: Problem, Problems, Report
//	near.go     which word was meant
//	schema.go   the JSON Schema
package strictyaml

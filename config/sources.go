package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Source is the configuration of one data source: a pointer to a struct whose fields carry the
// tags of this package. Its kind's file is all that knows it.
type Source interface {
	// Validate reports what the tags cannot say, through places below at. It is called after the
	// struct was filled; what is reported about a value that could not be read is dropped.
	Validate(at Place)
}

// Kind is one kind of data source.
type Kind struct {
	// Name is the value of the key kind: [a-z][a-z0-9_-]{0,63}.
	Name string
	// Doc is one sentence for the JSON Schema.
	Doc string
	// New returns the kind's configuration with its defaults set.
	New func() Source
}

// defaultKind is the kind of a source that names none.
const defaultKind = KindMySQL

// builtinKinds lists the kinds of this repository: one line each.
func builtinKinds() []Kind {
	return []Kind{
		{Name: KindLogs, Doc: "Log files below one directory.", New: func() Source { return newLogs() }},
		{Name: KindMySQL, Doc: "A MySQL or MariaDB server, read with SELECT only.", New: func() Source { return newMySQL() }},
		{Name: KindPrometheus, Doc: "A server of the Prometheus HTTP API.", New: func() Source { return newPrometheus() }},
	}
}

// Sources are the data sources by id.
type Sources map[string]Source

// SourcesOf returns the data sources of one type, such as *MySQL, by id.
func SourcesOf[T Source](sources Sources) map[string]T {
	found := map[string]T{}
	for id, s := range sources {
		if typed, ok := s.(T); ok {
			found[id] = typed
		}
	}
	return found
}

// IDs returns the ids, sorted.
func (s Sources) IDs() []string { return slices.Sorted(maps.Keys(s)) }

const sourceIDForm = "^[a-z][a-z0-9_-]{0,63}$"

var sourceID = regexp.MustCompile(sourceIDForm)

func (s *Sources) readNode(r *reader, at Place, n *yaml.Node) {
	*s = Sources{}
	r.mapping(at, n, func(id string, at Place, value *yaml.Node) {
		if !sourceID.MatchString(id) {
			at.Problem("The id of a data source must be 1 to 64 lower-case letters, digits, dashes or underscores, a letter first.", "Rename the data source.")
		}
		if source := r.source(at, value); source != nil {
			(*s)[id] = source
		}
	})
}

// source reads one data source as the struct of its kind, or returns nil.
func (r *reader) source(at Place, n *yaml.Node) Source {
	n = r.resolve(at, n)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		at.unreadable("A data source is a section with keys, not "+describe(n)+".", "Write its address, credentials and allow list below its id.")
		return nil
	}
	kind := r.kindOf(at.Key("kind"), n)
	i := slices.IndexFunc(r.kinds, func(k Kind) bool { return k.Name == kind })
	if i < 0 {
		at.broken()
		return nil
	}
	source := r.kinds[i].New()
	r.structure(at, n, source, "kind")
	source.Validate(at)
	return source
}

// kindOf returns the kind that a data source names, or "" when it names none that is known.
func (r *reader) kindOf(at Place, n *yaml.Node) string {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != "kind" {
			continue
		}
		at.stands(n.Content[i].Line)
		var kind string
		if !r.text(at, n.Content[i+1], &kind) {
			return ""
		}
		names := r.kindNames()
		if !slices.Contains(names, kind) {
			at.unreadable("There is no kind of data source with this name.", suggest(kind, names, "The kinds are "))
			return ""
		}
		return kind
	}
	return defaultKind
}

func (r *reader) kindNames() []string {
	names := make([]string, 0, len(r.kinds))
	for _, k := range r.kinds {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	return names
}

// fold maps ASCII capitals to small letters and nothing else, as MySQL compares column names.
func fold(name string) string {
	return strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			return c + ('a' - 'A')
		}
		return c
	}, name)
}

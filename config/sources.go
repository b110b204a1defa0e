package config

import (
	"maps"
	"regexp"
	"slices"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

// Source is the configuration of one data source: a pointer to a struct whose fields have the
// tags of package strictyaml. Only the file of its kind knows it.
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

// The kinds of this repository.
const (
	kindLogs       = "logs"
	kindMySQL      = "mysql"
	kindPrometheus = "prometheus"
)

// defaultKind is the kind of a source that names none.
const defaultKind = kindMySQL

// builtinKinds lists the kinds of this repository: one line each.
func builtinKinds() []Kind {
	return []Kind{
		{kindLogs, "Log files below one directory.", func() Source { return newLogs() }},
		{kindMySQL, "A MySQL or MariaDB server, read with SELECT only.", func() Source { return newMySQL() }},
		{kindPrometheus, "A server of the Prometheus HTTP API.", func() Source { return newPrometheus() }},
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

// dataSources is the key of the data sources.
const dataSources = "data_sources"

const sourceIDForm = "^[a-z][a-z0-9_-]{0,63}$"

var sourceID = regexp.MustCompile(sourceIDForm)

// readSources reads the data sources, each as the struct of its kind.
func readSources(n strictyaml.Node, kinds []Kind) Sources {
	sources := Sources{}
	for id, value := range n.Entries() {
		if !sourceID.MatchString(id) {
			value.Problem("The id of a data source must be 1 to 64 lower-case letters, digits, dashes or underscores, "+
				"a letter first.", "Rename the data source.")
		}
		if source := readSource(value, kinds); source != nil {
			sources[id] = source
		}
	}
	return sources
}

// readSource reads one data source as the struct of its kind, or returns nil.
func readSource(n strictyaml.Node, kinds []Kind) Source {
	switch n.Kind() {
	case strictyaml.Empty:
		return nil
	case strictyaml.Mapping:
	default:
		n.Unreadable("A data source is a section with keys, not "+n.Describe()+".",
			"Write its address, credentials and allow list below its id.")
		return nil
	}
	kind := kindOf(n, kinds)
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == kind })
	if i < 0 {
		n.MarkUnreadable()
		return nil
	}
	source := kinds[i].New()
	n.Struct(source, "kind")
	source.Validate(n.Place)
	return source
}

// kindOf returns the kind that a data source names, or "" when it names none that is known.
func kindOf(n strictyaml.Node, kinds []Kind) string {
	value, ok := n.Entry("kind")
	if !ok {
		return defaultKind
	}
	kind, ok := value.Text()
	if !ok {
		return ""
	}
	names := make([]string, 0, len(kinds))
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	if slices.Sort(names); !slices.Contains(names, kind) {
		value.Unreadable("There is no kind of data source with this name.",
			strictyaml.Suggest(kind, names, "The kinds are "))
		return ""
	}
	return kind
}

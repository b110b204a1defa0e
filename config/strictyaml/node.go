package strictyaml

import (
	"iter"

	"go.yaml.in/yaml/v4"
)

// maxVisits is how many nodes are read; an allowlist of a thousand tables has some 50 000.
// Aliases are followed, and can make a small file large. Past it every node is empty, also one
// that was reached before, so that nothing is left to expand.
const maxVisits = 250_000

// reader is what the nodes of one file share.
type reader struct {
	Options
	// visits counts nodes, each time one is reached.
	visits int
}

// Node is a value in the file, at its place. Aliases are followed.
type Node struct {
	Place
	reader *reader
	yaml   *yaml.Node // nil for an empty value
}

// Kind is the form of a node.
type Kind string

// The kinds of nodes.
const (
	// Empty is a key without a value, or with null.
	Empty Kind = "empty"
	// Scalar is a single value: text, a number, true or false.
	Scalar Kind = "scalar"
	// List is a sequence.
	List Kind = "list"
	// Mapping is a section with keys.
	Mapping Kind = "mapping"
)

// newNode follows aliases and counts the visit.
func newNode(at Place, r *reader, n *yaml.Node) Node {
	node := Node{Place: at, reader: r}
	if n == nil {
		return node
	}
	at.setLine(n.Line)
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if r.visits++; r.visits > maxVisits {
		if r.visits == maxVisits+1 {
			at.report.Root().Unreadable("The file is too large once its aliases are expanded.", "Use fewer aliases.")
		}
		return node
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return node
	}
	node.yaml = n
	return node
}

// Kind returns the form of the node.
func (n Node) Kind() Kind {
	switch {
	case n.yaml == nil || n.reader.visits > maxVisits:
		return Empty
	case n.yaml.Kind == yaml.MappingNode:
		return Mapping
	case n.yaml.Kind == yaml.SequenceNode:
		return List
	default:
		return Scalar
	}
}

// Describe names what the node is, such as "a list"; it never shows the value.
func (n Node) Describe() string {
	switch n.Kind() {
	case Empty:
		return "an empty value"
	case Mapping:
		return "a section with keys"
	case List:
		return "a list"
	}
	switch n.yaml.ShortTag() {
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

// Raw returns a single value as it is written in the file, without quotes; "" for other kinds.
func (n Node) Raw() string {
	if n.Kind() != Scalar {
		return ""
	}
	return n.yaml.Value
}

// Entries yields the keys of a section and their values, in the order of the file; an empty
// value has none. Keys that are given twice or are not plain words are reported, not yielded.
// A node that is not a section is reported and becomes unreadable.
func (n Node) Entries() iter.Seq2[string, Node] {
	return func(yield func(string, Node) bool) {
		switch n.Kind() {
		case Empty:
			return
		case Mapping:
			n.entries(yield)
		default:
			n.Unreadable("This is a section with keys, not "+n.Describe()+".", "Write its keys below it, indented.")
		}
	}
}

func (n Node) entries(yield func(string, Node) bool) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.yaml.Content); i += 2 {
		key, value := n.yaml.Content[i], n.yaml.Content[i+1]
		place := n.Key(key.Value)
		switch {
		case key.Kind != yaml.ScalarNode:
			n.Problem("A key is a list, a section or an alias.", "Write keys as plain words.")
		case key.ShortTag() == "!!merge":
			place.setLine(key.Line)
			place.Problem("Merge keys are not supported.", "Write the keys out.")
		case seen[key.Value]:
			// On the line of the second one, where the place has the line of the first.
			n.report.problems = append(n.report.problems, Problem{
				Path: place.path, Line: key.Line, Message: "The key is given twice.", Fix: "Remove one of the two.",
			})
		default:
			seen[key.Value] = true
			place.setLine(key.Line)
			if !yield(key.Value, newNode(place, n.reader, value)) {
				return
			}
		}
	}
}

// Entry returns the value of one key of a section, and whether the section has the key. It
// reports nothing: [Node.Struct] or [Node.Entries] reads the section as a whole.
func (n Node) Entry(key string) (Node, bool) {
	if n.Kind() != Mapping {
		return Node{}, false
	}
	for i := 0; i+1 < len(n.yaml.Content); i += 2 {
		if k := n.yaml.Content[i]; k.Kind == yaml.ScalarNode && k.Value == key {
			place := n.Key(key)
			place.setLine(k.Line)
			return newNode(place, n.reader, n.yaml.Content[i+1]), true
		}
	}
	return Node{}, false
}

// Items returns the elements of a list, nil for other kinds.
func (n Node) Items() []Node {
	if n.Kind() != List {
		return nil
	}
	items := make([]Node, len(n.yaml.Content))
	for i, item := range n.yaml.Content {
		items[i] = newNode(n.Index(i), n.reader, item)
	}
	return items
}

// Text returns a value that YAML takes for text. Any other value, even a number, is reported
// and becomes unreadable.
func (n Node) Text() (text string, ok bool) {
	if !n.scalar("Write text.") {
		return "", false
	}
	if n.yaml.ShortTag() != "!!str" {
		n.Unreadable("This is text, but YAML reads it as "+n.Describe()+".", "Put it in quotes.")
		return "", false
	}
	return n.yaml.Value, true
}

// scalar reports whether the node is a single value; if not, it reports why not.
func (n Node) scalar(fix string) bool {
	switch n.Kind() {
	case Scalar:
		return true
	case Empty:
		n.Unreadable("The value is empty.", fix+" Or remove the key.")
	default:
		n.Unreadable("This is a single value, not "+n.Describe()+".", fix)
	}
	return false
}

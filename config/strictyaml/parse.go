package strictyaml

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// MaxBytes is the size of the largest file that [Parse] reads.
const MaxBytes = 4 << 20

// Options say what a file may refer to.
type Options struct {
	// Env looks up environment variables, as os.LookupEnv does; nil means that none is set.
	Env func(name string) (value string, found bool)
	// Dir is the directory that relative file names are relative to; empty means the working
	// directory of the process.
	Dir string
	// NoLookup looks at neither the environment variables nor the files that the text names:
	// secrets get their origin, but no value.
	NoLookup bool
	// IfEmpty is the sentence that says what to write into an empty file.
	IfEmpty string
}

// Parse returns the root of the only document in data, and the report that everything below
// the root writes to. Text that is not one YAML document gives an empty root, and the report
// says why; nothing that is checked later adds to it.
func Parse(data []byte, o Options) (Node, *Report) {
	report := NewReport()
	return newNode(report.Root(), &reader{Options: o}, document(report.Root(), data, o)), report
}

// document returns the root node of the only document, or nil after it reported why not.
func document(root Place, data []byte, o Options) *yaml.Node {
	switch {
	case len(data) > MaxBytes:
		root.Unreadable("The configuration is larger than 4MiB.", "Shorten it.")
		return nil
	case !utf8.Valid(data):
		root.Unreadable("The configuration is not UTF-8 text.", "Save it as UTF-8.")
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		root.Unreadable("The configuration cannot be read.", "Check that it is YAML.")
		return nil
	}
	var doc, more yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF):
		root.Unreadable("The configuration is empty.", cmp.Or(o.IfEmpty, "Write at least one key."))
		return nil
	case err != nil:
		syntax(root, err)
		return nil
	}
	switch err := loader.Load(&more); {
	case err == nil:
		root.setLine(more.Line)
		root.Unreadable("There is a second document.", "Remove the line --- and what follows it.")
		return nil
	case !errors.Is(err, io.EOF):
		syntax(root, err)
		return nil
	}
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		return doc.Content[0]
	}
	return &doc
}

// syntax reports what the YAML library says; its sentences contain no part of the file but the
// names of anchors and tags.
func syntax(root Place, err error) {
	var one *yaml.LoadError
	var several *yaml.LoadErrors
	if errors.As(err, &several) && len(several.Errors) > 0 {
		one = several.Errors[0]
	}
	if one == nil && !errors.As(err, &one) {
		root.Unreadable("The configuration is not valid YAML.", "Check quotes, brackets and indentation.")
		return
	}
	if one.Mark.Line > 0 {
		root.setLine(one.Mark.Line)
	}
	root.Unreadable("The configuration is not valid YAML: "+printable(one.Message)+".",
		"Check quotes, brackets and indentation near this line.")
}

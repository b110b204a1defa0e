package config

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// maxFile bounds a configuration file, in bytes.
const maxFile = 4 << 20

// options are what the callers of Load and Parse choose.
type options struct {
	secrets bool
	serve   bool
	kinds   []Kind
}

// Option changes what Load and Parse demand.
type Option func(*options)

// ForServe demands what the HTTP service cannot do without: a harness key and a token key.
func ForServe() Option { return func(o *options) { o.serve = true } }

// WithoutSecrets reads neither environment variables nor files that the configuration names:
// secrets stay unset, and are not judged. For commands that need no credentials.
func WithoutSecrets() Option { return func(o *options) { o.secrets = false } }

// WithKinds adds kinds of data sources; one with the name of a known kind replaces it.
func WithKinds(kinds ...Kind) Option {
	return func(o *options) {
		for _, k := range kinds {
			o.kinds = append(slices.DeleteFunc(o.kinds, func(old Kind) bool { return old.Name == k.Name }), k)
		}
	}
}

func optionsOf(list []Option) options {
	o := options{secrets: true, kinds: builtinKinds()}
	for _, apply := range list {
		apply(&o)
	}
	return o
}

// Load reads the file. Its error is always *Problems, with everything that is wrong; env looks
// up environment variables, as os.LookupEnv does.
func Load(path string, env func(string) (string, bool), opts ...Option) (Config, error) {
	data, message := readFile(path)
	if message != "" {
		return Config{}, &Problems{File: path, List: []Problem{{Message: message, Fix: "Check the name given by --config."}}}
	}
	return parse(data, path, filepath.Dir(path), env, opts)
}

// Parse is Load for a configuration in memory; relative file names are relative to the
// process's working directory.
func Parse(data []byte, env func(string) (string, bool), opts ...Option) (Config, error) {
	return parse(data, "", "", env, opts)
}

func readFile(path string) (data []byte, message string) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "The file does not exist."
	case errors.Is(err, fs.ErrPermission):
		return nil, "The file may not be read by this account."
	case err != nil:
		return nil, "The file cannot be opened."
	}
	defer func() { _ = f.Close() }()
	// One byte more than allowed is enough for Parse to refuse the file.
	if data, err = io.ReadAll(io.LimitReader(f, maxFile+1)); err != nil {
		return nil, "The file cannot be read; it may be a directory."
	}
	return data, ""
}

func parse(data []byte, file, dir string, env func(string) (string, bool), opts []Option) (Config, error) {
	r := &reader{report: newReport(), options: optionsOf(opts), env: env, dir: dir}
	root := Place{report: r.report}
	cfg := Default()
	if n := document(root, data); n != nil {
		r.structure(root, n, &cfg)
		cfg.validate(root, r.options)
	}
	byLine(r.problems)
	byLine(r.warnings)
	if len(r.problems) > 0 {
		return Config{}, &Problems{File: file, List: r.problems, Warnings: r.warnings}
	}
	cfg.warnings, cfg.lines = r.warnings, r.lines
	return cfg, nil
}

// document returns the root node of the only document, or nil after it reported why not.
func document(root Place, data []byte) *yaml.Node {
	switch {
	case len(data) > maxFile:
		root.Problem("The configuration is larger than 4MiB.", "Shorten it.")
		return nil
	case !utf8.Valid(data):
		root.Problem("The configuration is not UTF-8 text.", "Save it as UTF-8.")
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		root.Problem("The configuration cannot be read.", "Check that it is YAML.")
		return nil
	}
	var doc yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF):
		root.Problem("The configuration is empty.", "Write at least one data source.")
		return nil
	case err != nil:
		syntax(root, err)
		return nil
	}
	var more yaml.Node
	switch err := loader.Load(&more); {
	case err == nil:
		root.stands(more.Line)
		root.Problem("There is a second document.", "Remove the line --- and what follows it.")
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

// syntax reports what the YAML library says; its sentences hold no part of the file but the
// names of anchors and tags.
func syntax(root Place, err error) {
	var one *yaml.LoadError
	var several *yaml.LoadErrors
	if errors.As(err, &several) && len(several.Errors) > 0 {
		one = several.Errors[0]
	}
	if one == nil && !errors.As(err, &one) {
		root.Problem("The configuration is not valid YAML.", "Check quotes, brackets and indentation.")
		return
	}
	if one.Mark.Line > 0 {
		root.stands(one.Mark.Line)
	}
	root.Problem("The configuration is not valid YAML: "+printable(one.Message)+".", "Check quotes, brackets and indentation near this line.")
}

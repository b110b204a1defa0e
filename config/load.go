package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

// options are what the callers of Load and Parse choose.
type options struct {
	noSecrets bool
	serve     bool
	kinds     []Kind
}

// Option changes what Load and Parse demand.
type Option func(*options)

// ForServe demands what the HTTP service cannot do without: a harness key and a token key.
func ForServe() Option { return func(o *options) { o.serve = true } }

// WithoutSecrets reads neither environment variables nor files that the configuration names:
// secrets have no value, and are not checked. It is for commands that need no credentials.
func WithoutSecrets() Option { return func(o *options) { o.noSecrets = true } }

// WithKinds adds kinds of data sources; one with the name of a known kind replaces it.
func WithKinds(kinds ...Kind) Option {
	return func(o *options) {
		for _, k := range kinds {
			o.kinds = append(slices.DeleteFunc(o.kinds, func(old Kind) bool { return old.Name == k.Name }), k)
		}
	}
}

func optionsOf(list []Option) options {
	o := options{kinds: builtinKinds()}
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
		problem := Problem{Message: message, Fix: "Check the name given by --config."}
		return Config{}, &Problems{File: path, List: []Problem{problem}}
	}
	return parse(data, path, filepath.Dir(path), env, opts)
}

// Parse is Load for a configuration in memory; relative file names are relative to the working
// directory of the process. It is for tests of kinds and of programs that write configurations.
func Parse(data []byte, env func(string) (string, bool), opts ...Option) (Config, error) {
	return parse(data, "", "", env, opts)
}

// readFile returns the content of the file, or what is wrong. Of a file that is too large it
// returns one byte more than strictyaml allows, which is enough to refuse it.
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
	if data, err = io.ReadAll(io.LimitReader(f, strictyaml.MaxBytes+1)); err != nil {
		return nil, "The file cannot be read; it may be a directory."
	}
	return data, ""
}

func parse(data []byte, file, dir string, env func(string) (string, bool), opts []Option) (Config, error) {
	o := optionsOf(opts)
	root, report := strictyaml.Parse(data, strictyaml.Options{
		Env: env, Dir: dir, NoLookup: o.noSecrets, IfEmpty: "Write at least one data source.",
	})
	cfg := Default()
	root.Struct(&cfg, dataSources)
	if sources, ok := root.Entry(dataSources); ok {
		cfg.DataSources = readSources(sources, o.kinds)
	}
	cfg.validate(root.Place, o)
	if err := report.Err(file); err != nil {
		return Config{}, err
	}
	cfg.report = report
	return cfg, nil
}

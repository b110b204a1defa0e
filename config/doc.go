// Package config reads the service's YAML configuration strictly.
//
// It promises: an unknown or duplicate key, a value of the wrong type or out of its range, a
// missing secret and settings that contradict each other are problems; all of them are
// reported at once, each with its path, its line and what to do; what is not in the file has
// the default that [Default] shows. Secrets never stand in the file: a secret "key" is read
// from the environment variable that key_env names or the file that key_file names, and
// [Secret] masks it from then on. Relative file names are relative to the configuration file.
//
// It refuses to guess: YAML merge keys, second documents, empty values of scalars, octal
// numbers, durations and sizes without a unit that could be read two ways.
//
// Names and defaults of the keys are a compatibility surface. A kind of data source is one
// file with one struct that implements [Source], and one line in builtinKinds, or the
// [WithKinds] option for kinds from outside this repository.
package config

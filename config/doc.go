// Package config is what the product configures: one YAML file, read strictly.
//
// It promises: an unknown or duplicate key, a value of the wrong type or out of its range, a
// missing secret and settings that contradict each other are problems; all of them are
// reported at once, each with its path, its line and what to do; what is not in the file has
// the default that [Default] shows. Secrets are never in the file: a secret "key" is read from
// the environment variable that key_env names or the file that key_file names, and [Secret]
// masks it from then on. Relative file names are relative to the configuration file.
//
// How a file is read is the business of package strictyaml; this package declares the keys by
// tagged structs and checks what no single value shows.
//
// The names and defaults of the keys are a compatibility surface. The defaults of the tools'
// bounds are also those of the adapters' zero values; test/defaults compares the two.
//
// A kind of data source is one file with one struct that implements [Source], and one line in
// builtinKinds, or the [WithKinds] option for kinds from outside this repository.
//
// The files, in the order of reading:
//
//	config.go      Config, its defaults, and what is checked across sections
//	load.go        Load and Parse
//	schema.go      the JSON Schema
//	secret.go      Secret, which masks itself in every format
//	server.go, auth.go, store.go, limits.go, runs.go, mcp.go
//	               one section each: the struct, its tags, its checks
//	sources.go     data sources and their kinds
//	mysql.go, prometheus.go, logs.go
//	               one kind each
//	allowlist.go   tables and columns that may be read; functions.go: SQL functions
//	address.go     host:port; tls.go: TLS modes
//	query.go       the query command's connection, and secrets that flags name
package config

// Package logsearch is the tool log_search: matching lines of allowlisted log files, with
// context and counts over time.
//
// Which files are read is the configuration's to say, by patterns below one directory; the
// agent can only choose among them. No symbolic link is ever followed, neither the last part
// of a name nor a directory on the way, and a file that is exchanged between looking and
// opening is refused. Rotated and gzipped files are files like others.
//
// Secrets are masked before the agent's pattern sees a line: a pattern can neither show nor
// guess what a mask covers. Masks see one line at a time.
//
// Files stream: memory depends on the number of lines that are kept, not on the files. The
// newest matches are kept, every match is counted. What was searched is part of the answer, so
// that an empty one is a finding; when a file could not be read, an empty answer is none.
//
// Where things are: executor.go (Prepare, Execute), request.go (the request), files.go (which files,
// opened safely), lines.go and search.go (one file, line by line), times.go, fields.go and needle.go
// (when and whether a line matches), mask.go (secrets), counts.go (counts over time), response.go
// (the raw response), projector.go (the agent result), source.go (the configuration).
package logsearch

// Package logsearch is the tool log_search: matching lines of allowlisted log files, with
// context and counts over time.
//
// Which files are read is the configuration's to say, by patterns below one directory; the
// agent can only choose among them. No symbolic link is ever followed, neither the last part
// of a name nor a directory on the way, and a file that is exchanged between looking and
// opening is refused. Rotated and compressed files are files like others.
//
// Secrets are masked before the agent's pattern sees a line: a pattern can neither show nor
// guess what a mask covers. Masks see one line at a time, as it is written and as its escapes
// mean it.
//
// Files stream: memory depends on the number of lines that are kept and on the compression,
// not on the files. The newest matches are kept, every match is counted.
//
// What was searched is part of the answer, so that an empty one is a finding. It is one only
// when everything that was asked for was read and could have matched; gaps collects what was
// not, and docs/negatives.md lists the ways.
package logsearch

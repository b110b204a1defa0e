// Package e2e runs the binary's commands as an operator would, against real servers: scenarios
// in testdata/script, planted faults and drifts, and the transcript of docs/quickstart.md.
//
// Everything that a command prints or is started with goes past a witness: no secret of a test
// may be in it.
package e2e

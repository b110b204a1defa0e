// Package application holds the use cases. Service is the front door: every inbound adapter
// calls it and nothing else of this package. Everything that decides is in domain; everything
// that does I/O is behind ports.
//
// Where things are, in the order in which a tool call meets them:
//
//	service.go    Service: the methods that inbound adapters call
//	caller.go     who calls: harness keys, agent tokens, the run context of a call
//	runs.go       open, find and end runs; the run contexts of harnesses
//	boundary.go   one tool call: admit, preflight, begin, execute, project, settle
//	preflight.go  every check that needs no I/O
//	inflight.go   the calls that this process executes
//	watch.go      ends the calls of runs that ended elsewhere; stops the service
//	outcome.go    what a call came to: the Result, and its one log line and observation
//	results.go    read results and records again; judge references
//	catalogue.go  the closed set of tools
package application

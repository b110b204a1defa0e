// Package toolset is what somebody who adds tools to the service works with: what a builder is
// given, and what it returns. It knows neither the service's configuration nor its keys.
//
// A builder makes the tools of one kind of data source. It is registered, with the kind, in the
// main package: bootstrap.WithKind. See docs/adapters.md.
package toolset

import (
	"context"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/ports"
)

// Entry is one tool: its executor, with the projector of its raw responses.
type Entry struct {
	Executor  ports.Executor
	Projector ports.Projector
}

// Set is what a builder returns: tools, and what the service must know to watch and close them.
type Set struct {
	Entries []Entry
	// Unready, when set, returns the ids of the data sources that cannot be reached now, in any
	// order. It returns promptly after ctx ends.
	Unready func(ctx context.Context) []string
	// Close, when set, is called once, after the last tool call has ended.
	Close func(ctx context.Context) error
}

// Deps are what the service gives to every builder.
type Deps struct {
	// Clock is the process's clock; use it instead of time.Now.
	Clock ports.Clock
	// Log is named by the service; write neither requests nor answers to it.
	Log *zap.Logger
}

// Build makes the tools that read the configured data sources of one kind, which are never
// empty; S is the kind's own configuration, by data source id. It opens no connection: a data
// source that cannot be reached must not keep the service from starting.
//
// The error is shown to the operator who wrote the configuration. Join all problems, and name
// the data source of each.
type Build[S any] func(sources map[string]S, deps Deps) (Set, error)

package mysql

import "github.com/toolboundary/toolboundary/adapters/mysql/server"

// Pool returns the sessions of a data source, for tests that look at them.
func (t *Executor) Pool(id string) *server.Pool { return t.sources[id].Pool }

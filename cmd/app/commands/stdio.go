package commands

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/adapters/mcpserver"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
)

// endTimeout bounds the end of a stdio process's run.
const endTimeout = 5 * time.Second

// stdio is the caller that a stdio process acts as: it opens its client's run itself.
var stdio = application.Caller{Harness: "stdio"}

// Stdio serves one MCP client over standard input and output.
type Stdio struct {
	Service   *application.Service
	Catalogue *application.Catalogue
	Server    *mcpserver.Server
	// Run is the run that is opened for the client.
	Run config.MCPRun
	Log *zap.Logger
}

// Serve opens the run, serves it until the client goes away or ctx ends, and ends it. A run that
// cannot be opened is a usage error, unless the store is to blame.
func (x Stdio) Serve(ctx context.Context, s cli.Streams) error {
	r, err := x.open(ctx)
	if err != nil {
		return err
	}
	x.Log.Info("run opened", zap.String("run_id", string(r.ID)), zap.Time("deadline", r.Deadline))
	served := x.Server.ServeStdio(ctx, s.In, s.Out, application.ContextOf(r))
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if _, err := x.Service.End(ending, stdio, r.ID, run.Completed); err != nil {
		x.Log.Warn("the run could not be ended", zap.String("code", string(fault.CodeOf(err))))
	}
	return served
}

// open opens the run with the configured grants, or with all that there is.
func (x Stdio) open(ctx context.Context) (run.Run, error) {
	grants := x.Catalogue.All()
	if len(x.Run.Tools) > 0 {
		grants.Tools = x.Run.Tools
	}
	if len(x.Run.DataSources) > 0 {
		grants.DataSources = x.Run.DataSources
	}
	id := run.ID(x.Run.IDPrefix + "-" + application.NewToken())
	r, _, err := x.Service.Open(ctx, stdio, application.OpenRequest{RunID: id, Grants: grants})
	if err == nil {
		return r, nil
	}
	f := fault.Of(err)
	err = fmt.Errorf("mcp.run: the run cannot be opened: %s %s", f.Error(), f.Detail)
	if f.Code.Again() {
		return r, err
	}
	return r, cli.UsageError{Err: err}
}

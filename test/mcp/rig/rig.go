// Package rig puts an MCP server on top of the real boundary, with the memory store and scripted
// tools, for the tests of the MCP adapter: in process, over HTTP, and as a stdio child process.
package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/agenttoken"
	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/adapters/mcpserver"
	"github.com/toolboundary/toolboundary/adapters/memory"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/domain/tool"
)

// HarnessKey is the harness key of every rig.
const HarnessKey = "harness-key-of-the-rig"

// The names of the rig's tools.
const (
	QueryTool  = "demo_query"
	SchemaTool = "demo_schema"
)

// Rig is one service with an MCP server.
type Rig struct {
	Service *application.Service
	Server  *mcpserver.Server
	Store   *memory.Store
	Clock   *fake.Clock
	Query   *fake.Tool
	Schema  *fake.Tool
}

// Options configure a rig. The zero value is good.
type Options struct {
	MCP mcpserver.Options
	Log *zap.Logger
	// Entries are served besides the two scripted tools.
	Entries []application.Entry
	Budget  run.Budget
}

// New returns a rig.
func New(opt Options) (*Rig, error) {
	if opt.Log == nil {
		opt.Log = zap.NewNop()
	}
	if opt.Budget.MaxCalls == 0 {
		opt.Budget = run.Budget{MaxCalls: 1000, MaxBytes: 32 << 20, MaxRefusals: 25}
	}
	clock := fake.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	r := &Rig{
		Store: memory.New(clock), Clock: clock,
		Query: fake.NewTool(tool.Description{
			Name: QueryTool, Title: "Query", Text: "Scripted query.", ReadOnly: true,
			InputSchema:  json.RawMessage(`{"type":"object","properties":{"data_source":{"type":"string"},"answer":{}},"additionalProperties":true}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"items":{"type":"array"},"truncated":{"type":"boolean"}},"required":["items","truncated"]}`),
			DataSources:  []string{"archive", "shop"},
		}, tool.Plan{}),
		Schema: fake.NewTool(tool.Description{
			Name: SchemaTool, Title: "Schema", Text: "Scripted schema.", ReadOnly: true,
			InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(`{"type":"object"}`),
		}, tool.Plan{}),
	}
	entries := append([]application.Entry{{Tool: r.Query, Projector: fake.Projector{}}, {Tool: r.Schema, Projector: fake.Projector{}}}, opt.Entries...)
	catalogue, err := application.NewCatalogue(entries...)
	if err != nil {
		return nil, err
	}
	tokens, err := agenttoken.New(clock, agenttoken.Key{ID: "k1", Secret: bytes.Repeat([]byte("k"), 32)})
	if err != nil {
		return nil, err
	}
	ceilings := application.Ceilings{MaxTTL: time.Hour, RecordTTL: 24 * time.Hour, Budget: opt.Budget}
	r.Service = &application.Service{
		Catalogue: catalogue,
		Boundary:  application.NewBoundary(catalogue, r.Store, clock, opt.Log, application.Options{}),
		Runs:      application.NewRuns(catalogue, r.Store, r.Store, tokens, ceilings),
		Auth:      application.NewAuthenticator([]application.HarnessKey{{Name: "tests", Key: HarnessKey}}, tokens),
	}
	r.Server, err = mcpserver.New(r.Service, opt.Log, opt.MCP)
	return r, err
}

// Open opens a run with every grant, or with the given ones, and returns its agent token.
func (r *Rig) Open(ctx context.Context, id run.ID, grants ...run.Grants) (string, error) {
	g := r.Service.Catalogue.All()
	if len(grants) > 0 {
		g = grants[0]
	}
	_, token, err := r.Service.Runs.Open(ctx, application.OpenRequest{RunID: id, Grants: g})
	if err != nil {
		return "", fmt.Errorf("open %s: %w", id, err)
	}
	return token, nil
}

// RunContext returns the run context of an open run.
func (r *Rig) RunContext(ctx context.Context, id run.ID) (application.RunContext, error) {
	return r.Service.Runs.Context(ctx, id)
}

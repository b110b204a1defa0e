package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
)

// callTool invokes the call in the caller's run and returns its bounded result: structured
// content, and the same JSON as text. Refusals and failures are results, which the model reads.
func (s *Server) callTool(ctx context.Context, in inbound) (*mcp.CallToolResult, error) {
	res := s.invoke(ctx, in)
	rendered := render(res, in.stdio)
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: string(rendered)}},
		StructuredContent: rendered,
		IsError:           res.Fault != nil,
	}, nil
}

// unknownTool refuses a call of a tool that there is not: a protocol error, as the protocol has
// it, with the same body. The boundary counts the refusal.
func (s *Server) unknownTool(ctx context.Context, in inbound) (mcp.Result, error) {
	res := s.invoke(ctx, in)
	message := fault.ToolUnknown.Sentence()
	if res.Fault != nil {
		message = res.Fault.Code.Sentence()
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message, Data: render(res, in.stdio)}
}

func (s *Server) invoke(ctx context.Context, in inbound) application.Result {
	if trace := traceID(in.message, in.header); trace != "" {
		ctx = application.WithTraceID(ctx, trace)
	}
	call := application.Call{RunID: in.caller.Agent.RunID, ToolName: in.name}
	var err error
	if call.ToolCallID, call.Request, err = s.identify(in.message, in.header, in.requestID); err != nil {
		return refusal(call.RunID, s.svc.Refuse(ctx, in.caller, application.Call{RunID: call.RunID, ToolName: in.name},
			err))
	}
	if sent := splice(in.meta, RunKey).value; sent != nil {
		call.RunID = run.ID(quoted("", sent).id) // a value that is not a string names no run
	}
	return s.svc.Invoke(ctx, in.caller, call)
}

func refusal(id run.ID, err error) application.Result {
	return application.Result{
		RunID: id, Status: invocation.Error, EvidenceStatus: evidence.Error, Fault: fault.Of(err),
	}
}

// body is what an agent gets of a call, on every inbound adapter alike.
type body struct {
	RunID          run.ID            `json:"run_id,omitempty"`
	ToolCallID     string            `json:"tool_call_id"`
	Status         invocation.Status `json:"status"`
	EvidenceStatus evidence.Status   `json:"evidence_status"`
	Error          *failure          `json:"error,omitempty"`
}

type failure struct {
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`
	Reason  string     `json:"reason,omitempty"`
	Detail  string     `json:"detail,omitempty"`
}

// restart is the message of every fault that says that the run of a stdio server is over: the
// run belongs to the process, and only a new process opens another.
const restart = "The run of this MCP server is over: restart the server to get a new one."

// render returns the body of a result. Ids that are not safe are not shown.
func render(res application.Result, stdio bool) json.RawMessage {
	b := body{Status: res.Status, EvidenceStatus: res.EvidenceStatus}
	if res.RunID.Check() == nil {
		b.RunID = res.RunID
	}
	if invocation.CheckToolCallID(res.ToolCallID) == nil {
		b.ToolCallID = res.ToolCallID
	}
	if f := res.Fault; f != nil {
		b.Error = &failure{f.Code, f.Code.Sentence(), f.Reason, f.Detail}
		switch f.Code {
		case fault.RunInactive, fault.RunNotFound, fault.RunDeadlineExceeded:
			if stdio {
				b.Error.Message = restart
			}
		}
	}
	rendered := marshal(b)
	if res.AgentResult == nil {
		return rendered
	}
	// The answer goes in as it is: an encoder would write it anew.
	rendered = append(rendered[:len(rendered)-1], `,"agent_result":`...)
	return append(append(rendered, res.AgentResult...), '}')
}

// marshal encodes v, which holds nothing that cannot be, without escaping HTML.
func marshal(v any) json.RawMessage {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return json.RawMessage(`{"status":"ERROR","evidence_status":"ERROR","error":{"code":"INTERNAL"}}`)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

package mcpserver

import (
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolboundary/toolboundary/domain/tool"
)

// listTools answers with the tools that the caller's run was granted, sorted by name. All of
// them fit one page, so every cursor is one that was never handed out.
func (s *Server) listTools(in inbound, req mcp.Request) (mcp.Result, error) {
	if params, ok := req.GetParams().(*mcp.ListToolsParams); ok && params != nil && params.Cursor != "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such page: the list has one"}
	}
	list := &mcp.ListToolsResult{Tools: []*mcp.Tool{}, Cacheable: mcp.Cacheable{CacheScope: "private"}}
	for _, about := range s.svc.Tools(in.caller) {
		list.Tools = append(list.Tools, s.describe(about))
	}
	return list, nil
}

func (s *Server) describe(about tool.Description) *mcp.Tool {
	closed := false
	return &mcp.Tool{
		Name: about.Name, Title: about.Title, Description: description(about),
		InputSchema: s.inputSchema(about.InputSchema), OutputSchema: outputSchema(about.OutputSchema),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &closed},
	}
}

// description is the tool's own text and the data sources that the run was granted.
func description(about tool.Description) string {
	if len(about.DataSources) == 0 {
		return about.Text
	}
	return about.Text + " Data sources: " + strings.Join(about.DataSources, ", ") + "."
}

// argumentSchema is the schema of the argument tool_call_id.
const argumentSchema = `{"type":"string","description":"your framework's own id of this call"}`

// inputSchema returns the tool's schema, with the argument tool_call_id when it is switched on.
// It is not required, since the id may also come another way.
func (s *Server) inputSchema(schema json.RawMessage) json.RawMessage {
	if !s.opt.Argument {
		return schema
	}
	var top, properties map[string]json.RawMessage
	if json.Unmarshal(schema, &top) != nil {
		return schema
	}
	if top["properties"] != nil && json.Unmarshal(top["properties"], &properties) != nil {
		return schema
	}
	if properties == nil {
		properties = map[string]json.RawMessage{}
	}
	properties[argumentName] = json.RawMessage(argumentSchema)
	top["properties"] = marshal(properties)
	return marshal(top)
}

// outputSchema describes the result of the tool's calls: the bounded answer or the error. The
// tool's own schema is embedded, so it must not refer to its root.
func outputSchema(answer json.RawMessage) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"tool_call_id":{"type":"string"},` +
		`"status":{"enum":["READY","ERROR"]},"evidence_status":{"enum":["EVIDENCE_FOUND","NO_EVIDENCE","ERROR"]},` +
		`"agent_result":` + string(answer) + `,"error":{"type":"object"}},"required":["status","evidence_status"]}`)
}

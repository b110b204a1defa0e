package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
)

// protocolError is a JSON-RPC error response. The SDK makes none for requests whose id could
// not be read: JSON-RPC wants "id":null there.
func protocolError(id json.RawMessage, protocol *jsonrpc.Error, f *fault.Error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	withData := *protocol
	if f != nil {
		withData.Data = render(application.Result{Status: invocation.Error, EvidenceStatus: evidence.Error, Fault: f},
			false)
	}
	return marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", id, &withData})
}

// refuse counts an invalid message as a refusal of the caller's run, and returns the protocol
// error and the fault to answer: the given one, or what overrides it. A method that is not
// served is not counted: clients probe for what there is.
func (s *Server) refuse(ctx context.Context, caller application.Caller, cause error) (*jsonrpc.Error, *fault.Error) {
	protocol := errNotMessage
	errors.As(cause, &protocol)
	if protocol == errNoMethod {
		return protocol, nil
	}
	own := fault.Because(fault.RequestInvalid, "MESSAGE", protocol.Message)
	if protocol == errTooLarge {
		own = fault.New(fault.RequestTooLarge)
	}
	f := fault.Of(s.svc.Refuse(ctx, caller, application.Call{RunID: caller.Agent.RunID}, own))
	if f.Code != own.Code {
		return &jsonrpc.Error{Code: protocol.Code, Message: f.Code.Sentence()}, f
	}
	return protocol, f
}

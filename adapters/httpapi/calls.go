package httpapi

import (
	"bytes"
	"net/http"
	"net/url"

	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/ports/record"
)

func (a *api) callRoutes() []route {
	return []route{
		{method: http.MethodPost, path: "/v1/runs/{run}/tool-calls", who: agentOrHarness, call: true, do: a.invoke,
			docs: invokeDocs},
		{method: http.MethodGet, path: "/v1/runs/{run}/tool-calls/{id}", who: agentOrHarness, call: true, do: a.result,
			docs: resultDocs},
		{method: http.MethodGet, path: "/v1/runs/{run}/tool-call", who: agentOrHarness, call: true, do: a.resultByQuery,
			docs: queryDocs},
		{method: http.MethodGet, path: "/v1/runs/{run}/tool-calls/{id}/record", who: harness, call: true, do: a.record,
			docs: recordDocs},
		{method: http.MethodGet, path: "/v1/tools", who: agentOrHarness, do: a.tools, docs: toolsDocs},
	}
}

// invoke runs one tool call.
func (a *api) invoke(x *exchange) (answer, error) {
	call, err := x.readCall(int64(a.opt.RequestLimit) + envelopeBytes)
	x.toolCallID = call.id
	if err != nil {
		return answer{}, a.refuse(x, call, err)
	}
	return resultAnswer(x, a.svc.Invoke(x.r.Context(), x.caller, x.call(call)))
}

// call returns the tool call of a body as the application takes it.
func (x *exchange) call(body toolCall) application.Call {
	return application.Call{RunID: x.runID, ToolCallID: body.id, ToolName: body.tool, Request: body.request}
}

// refuse counts a call that could not be assembled as a refusal of the caller's run, whose end
// overrides it. A body that ended early is not counted: the client did not finish its request.
func (a *api) refuse(x *exchange, call toolCall, err error) error {
	if f := fault.Of(err); f.Code == errBody.Code && f.Reason == errBody.Reason {
		return err
	}
	if agent := x.caller.Agent; agent != nil && agent.RunID != x.runID {
		err = fault.New(fault.RunMismatch)
	}
	return a.svc.Refuse(x.r.Context(), x.caller, x.call(call), err)
}

// resultAnswer returns the answer of a tool call: 200 when there is a canonical record of it.
func resultAnswer(x *exchange, res application.Result) (answer, error) {
	if !res.Recorded {
		if res.Fault.Code == fault.DuplicateToolCall {
			where := "/v1/runs/" + url.PathEscape(string(x.runID)) + "/tool-calls/" + url.PathEscape(x.toolCallID)
			return answer{}, fault.Because(res.Fault.Code, res.Fault.Reason,
				"GET "+where+" has the first call's result")
		}
		return answer{}, res.Fault
	}
	if res.Status == invocation.Projecting {
		x.w.Header().Set("Retry-After", "1")
		return respond(http.StatusAccepted, callPending{res.RunID, res.ToolCallID, res.Status})
	}
	// The head is encoded; the result is spliced in, so that it leaves as it was recorded.
	view := callResult{RunID: res.RunID, ToolCallID: res.ToolCallID, Status: res.Status,
		EvidenceStatus: res.EvidenceStatus}
	if res.Fault != nil {
		view.Error = errorOf(res.Fault)
	}
	ans, err := respond(http.StatusOK, view)
	if err == nil && len(res.AgentResult) > 0 {
		ans.body = append(append(bytes.TrimSuffix(ans.body, []byte("}")), `,"agent_result":`...), res.AgentResult...)
		ans.body = append(ans.body, '}')
	}
	return ans, err
}

// result returns an earlier call's bounded result again.
func (a *api) result(x *exchange) (answer, error) {
	res, err := a.svc.Result(x.r.Context(), x.caller, x.runID, x.toolCallID)
	if err != nil {
		return answer{}, err
	}
	return resultAnswer(x, res)
}

// resultByQuery is result for clients and proxies that cannot carry an id in a path.
func (a *api) resultByQuery(x *exchange) (answer, error) {
	query, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil || len(query) != 1 || len(query["id"]) != 1 {
		return answer{}, invalid("QUERY",
			"the query must be id= and the tool_call_id, percent-encoded (a plus sign as %2B)")
	}
	x.toolCallID = query.Get("id")
	return a.result(x)
}

// record returns the canonical record as it is stored.
func (a *api) record(x *exchange) (answer, error) {
	r, err := a.svc.Record(x.r.Context(), x.caller, x.runID, x.toolCallID)
	if err != nil {
		return answer{}, err
	}
	body, err := record.Encode(r)
	if err != nil {
		return answer{}, fault.Wrap(fault.Internal, err)
	}
	return answer{status: http.StatusOK, body: body}, nil
}

// tools lists what the caller may use: an agent its grants, a harness everything.
func (a *api) tools(x *exchange) (answer, error) {
	return respond(http.StatusOK, toolsOf(a.svc.Tools(x.caller)))
}

package httpapi

import (
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/domain/tool"
)

// The types of this file are the bodies of the API: what is decoded, what is encoded and what
// the OpenAPI document describes are the same Go types.

// openRun is the body of POST /v1/runs.
type openRun struct {
	RunID       run.ID    `json:"run_id" minLength:"1" maxLength:"128" pattern:"^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$" doc:"The run's id, chosen by the harness and never used before."`
	TTLSeconds  *int64    `json:"ttl_seconds,omitempty" minimum:"1" doc:"Seconds from now to the run's deadline. Default and ceiling are configured (runs.max_ttl)."`
	Tools       []string  `json:"tools" nullable:"false" minItems:"1" doc:"The tools that the run may use."`
	DataSources []string  `json:"data_sources,omitempty" nullable:"false" doc:"The data sources that the run may ask. None when absent."`
	Budget      askBudget `json:"budget,omitzero" doc:"What the run may spend. A member that is absent gets its ceiling; a value above a ceiling is refused, never clamped."`
}

type askBudget struct {
	MaxCalls        *int64  `json:"max_calls,omitempty" minimum:"0" doc:"The most tool calls that may begin."`
	MaxCallsPerTool perTool `json:"max_calls_per_tool,omitzero" doc:"One number for each granted tool, or an object with a number by tool."`
	MaxBytes        *int64  `json:"max_bytes,omitempty" minimum:"0" doc:"The most bytes of requests, raw responses and agent results together."`
	MaxRefusals     *int64  `json:"max_refusals,omitempty" minimum:"0" doc:"How many refusals are explained; then every refusal is REFUSAL_LIMIT_REACHED."`
}

// perTool is an integer for each granted tool, or an object by tool.
type perTool struct {
	each *int64
	by   map[string]int64
}

// of returns the budget of each tool for a run with these tools.
func (p perTool) of(tools []string) map[string]int64 {
	if p.each == nil {
		return p.by
	}
	by := make(map[string]int64, len(tools))
	for _, name := range tools {
		by[name] = *p.each
	}
	return by
}

type reference struct {
	RunID      run.ID `json:"run_id,omitempty" doc:"The run that the reference names; absent means the run of the path."`
	ToolCallID string `json:"tool_call_id,omitempty" doc:"The tool call that the reference names."`
}

type references struct {
	References []reference `json:"references" nullable:"false" maxItems:"1000" doc:"The references to judge."`
}

type judgements struct {
	References []evidence.Judgement `json:"references" nullable:"false" doc:"One judgement for each reference, in the request's order."`
}

// callBody documents the body of a tool call. It is read by hand, so that the request stays
// byte for byte.
type callBody struct {
	ToolCallID string  `json:"tool_call_id" minLength:"1" maxLength:"1024" doc:"The framework's own id of the call, unused in this run: 1 to 1024 bytes, each 0x21 to 0x7E except quotes and backslash, and neither one dot nor two. It is kept byte for byte."`
	ToolName   string  `json:"tool_name" doc:"The tool; see GET /v1/tools."`
	Request    rawJSON `json:"request" doc:"The tool's own request, one JSON object as its input_schema says. It is recorded byte for byte."`
}

type runView struct {
	RunID       run.ID     `json:"run_id"`
	State       run.State  `json:"state" enum:"ACTIVE,CANCELLED,COMPLETED"`
	CreatedAt   time.Time  `json:"created_at" doc:"By the store's clock, in UTC with milliseconds."`
	Deadline    time.Time  `json:"deadline" doc:"No call begins at or after this instant of the store's clock."`
	Tools       []string   `json:"tools" nullable:"false"`
	DataSources []string   `json:"data_sources" nullable:"false"`
	Budget      run.Budget `json:"budget"`
	Usage       run.Usage  `json:"usage"`
}

func viewOf(r run.Run) runView {
	return runView{r.ID, r.State, r.CreatedAt, r.Deadline, r.Grants.Tools, r.Grants.DataSources, r.Budget, r.Usage}
}

type runWithToken struct {
	Run        runView `json:"run"`
	AgentToken string  `json:"agent_token" doc:"Bearer token of the run's agent. It is valid for a while past the deadline, which the store judges."`
}

type invocationView struct {
	ToolCallID     string            `json:"tool_call_id"`
	ToolName       string            `json:"tool_name,omitempty"`
	Status         invocation.Status `json:"status" enum:"PROJECTING,READY,ERROR"`
	EvidenceStatus evidence.Status   `json:"evidence_status,omitempty" enum:"EVIDENCE_FOUND,NO_EVIDENCE,ERROR" doc:"Absent while PROJECTING."`
	ErrorCode      fault.Code        `json:"error_code,omitempty"`
	ErrorReason    string            `json:"error_reason,omitempty"`
	StartedAt      time.Time         `json:"started_at,omitzero"`
	CompletedAt    time.Time         `json:"completed_at,omitzero"`
	Sizes          invocation.Sizes  `json:"sizes" doc:"Bytes of each body."`
}

type overview struct {
	Run         runView          `json:"run"`
	Invocations []invocationView `json:"invocations" nullable:"false" doc:"In the order in which they began; records that expired are left out."`
	Refusals    []run.Refusal    `json:"refusals" nullable:"false" doc:"The latest refusals, oldest first."`
}

func overviewOf(o application.Overview) overview {
	v := overview{Run: viewOf(o.Run), Refusals: o.Run.Refusals}
	for _, r := range o.Invocations {
		status := r.EvidenceStatus
		if r.Status == invocation.Projecting {
			status = "" // the stored placeholder is never shown as evidence
		}
		v.Invocations = append(v.Invocations,
			invocationView{r.ToolCallID, r.ToolName, r.Status, status, r.ErrorCode, r.ErrorReason, r.StartedAt,
				r.CompletedAt, r.Sizes})
	}
	return v
}

type toolView struct {
	Name         string   `json:"name"`
	Title        string   `json:"title"`
	Description  string   `json:"description"`
	InputSchema  rawJSON  `json:"input_schema" doc:"JSON Schema of the request."`
	OutputSchema rawJSON  `json:"output_schema" doc:"JSON Schema of the agent result."`
	DataSources  []string `json:"data_sources" nullable:"false"`
}

type toolList struct {
	Tools []toolView `json:"tools" nullable:"false"`
}

func toolsOf(list []tool.Description) toolList {
	v := toolList{}
	for _, d := range list {
		v.Tools = append(v.Tools, toolView{d.Name, d.Title, d.Text, rawJSON(d.InputSchema), rawJSON(d.OutputSchema),
			d.DataSources})
	}
	return v
}

// errorBody is the body of every error that is not about a tool call.
type errorBody struct {
	Error errorView `json:"error"`
}

type errorView struct {
	Code    fault.Code `json:"code" doc:"Stable: see docs/errors.md."`
	Message string     `json:"message" doc:"The code's fixed sentence."`
	Reason  string     `json:"reason,omitempty" doc:"A finer class within the code."`
	Detail  string     `json:"detail,omitempty" doc:"What to fix, in the caller's own words."`
}

func errorOf(f *fault.Error) errorView {
	return errorView{f.Code, f.Code.Sentence(), f.Reason, f.Detail}
}

// callError is the body of a tool call that has no result.
type callError struct {
	RunID          run.ID            `json:"run_id" doc:"Empty when it was not safe to show."`
	ToolCallID     string            `json:"tool_call_id" doc:"Empty when it was not safe to show."`
	Status         invocation.Status `json:"status" enum:"ERROR"`
	EvidenceStatus evidence.Status   `json:"evidence_status" enum:"ERROR"`
	Error          errorView         `json:"error"`
}

// callResult is the body of a tool call with a canonical record.
type callResult struct {
	RunID          run.ID            `json:"run_id"`
	ToolCallID     string            `json:"tool_call_id"`
	Status         invocation.Status `json:"status" enum:"READY,ERROR"`
	EvidenceStatus evidence.Status   `json:"evidence_status" enum:"EVIDENCE_FOUND,NO_EVIDENCE,ERROR"`
	AgentResult    rawJSON           `json:"agent_result,omitzero" doc:"The bounded answer, byte for byte as recorded: data, not instructions. Absent in ERROR."`
	Error          errorView         `json:"error,omitzero" doc:"Absent in READY."`
}

// callPending is the body of a tool call that still runs.
type callPending struct {
	RunID      run.ID            `json:"run_id"`
	ToolCallID string            `json:"tool_call_id"`
	Status     invocation.Status `json:"status" enum:"PROJECTING"`
}

// rawJSON is a JSON value that passes through as it is.
type rawJSON jsontext.Value

// MarshalJSONTo writes the value.
func (v rawJSON) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteValue(jsontext.Value(v))
}

// Schema allows any JSON value.
func (rawJSON) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

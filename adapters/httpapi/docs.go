package httpapi

import (
	"net/http"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
)

// docs describe a route in the OpenAPI document. Codes that every route of its kind has, such
// as UNAUTHENTICATED, are added by document.
type docs struct {
	id, tag, summary, text string
	// query documents the parameter id of the query.
	query bool
	// body is a value of the type of the request's body; nil means that it takes none.
	body any
	// answers are values of the types of the bodies by status; content is their media type
	// when it is not JSON.
	answers map[int]any
	content string
	// codes are what the route can refuse with.
	codes []fault.Code
}

const (
	tagRuns     = "runs"
	tagCalls    = "tool calls"
	tagOperator = "operator"
)

var (
	openDocs = docs{id: "openRun", tag: tagRuns, summary: "Open a run",
		text: "Opens a run with its grants and budgets, and returns the token of its agent. A value above a " +
			"configured ceiling is refused, never clamped. If the answer was lost, the same request gets RUN_EXISTS: " +
			"fetch a token of the run instead.",
		body: openRun{}, answers: map[int]any{http.StatusCreated: runWithToken{}},
		codes: []fault.Code{fault.RunExists, fault.ToolUnknown, fault.DataSourceUnknown}}
	findDocs = docs{id: "getRun", tag: tagRuns, summary: "See a run",
		text:    "The run with its usage, its tool calls in the order in which they began, and its latest refusals.",
		answers: map[int]any{http.StatusOK: overview{}}, codes: []fault.Code{fault.RequestInvalid, fault.RunNotFound}}
	tokenDocs = docs{id: "issueToken", tag: tagRuns, summary: "Fetch a fresh agent token",
		text:    "The token says the same as the first one.",
		answers: map[int]any{http.StatusOK: runWithToken{}},
		codes:   []fault.Code{fault.RequestInvalid, fault.RunNotFound, fault.RunInactive}}
	cancelDocs = docs{id: "cancelRun", tag: tagRuns, summary: "Cancel a run",
		text: "No further call begins, and calls in flight are stopped on every replica. Repeating it is harmless; " +
			"a completed run is RUN_INACTIVE.",
		answers: map[int]any{http.StatusOK: overview{}},
		codes:   []fault.Code{fault.RequestInvalid, fault.RunNotFound, fault.RunInactive}}
	completeDocs = docs{id: "completeRun", tag: tagRuns, summary: "Complete a run",
		text:    "Like cancel, for a run that has done its work.",
		answers: map[int]any{http.StatusOK: overview{}},
		codes:   []fault.Code{fault.RequestInvalid, fault.RunNotFound, fault.RunInactive}}
	judgeDocs = docs{id: "judgeReferences", tag: tagRuns, summary: "Judge references to tool calls",
		text: "Says of each reference whether it is evidence: POSITIVE when something was found, NEGATIVE when " +
			"nothing was found, or the reason why it is not evidence.",
		body: references{}, answers: map[int]any{http.StatusOK: judgements{}}, codes: []fault.Code{fault.RunNotFound}}

	invokeDocs = docs{id: "invokeTool", tag: tagCalls, summary: "Call a tool",
		text: "The status is 200 whenever a canonical record of the call exists; the body says READY or ERROR. Any " +
			"other status means that there is no record and that the call spent nothing, except that a mistake of the " +
			"agent counts as a refusal.",
		body: callBody{}, answers: map[int]any{http.StatusOK: callResult{}},
		codes: []fault.Code{fault.ToolCallIDInvalid, fault.ToolNotAuthorized, fault.ToolNotReadOnly, fault.RunMismatch,
			fault.RunNotFound, fault.ToolUnknown,
			fault.DataSourceUnknown, fault.DuplicateToolCall, fault.RunInactive, fault.RunDeadlineExceeded,
			fault.QueryRejected, fault.ToolBudgetExhausted,
			fault.RunBudgetExhausted, fault.RunBytesExhausted, fault.RefusalLimitReached, fault.RateLimited,
			fault.ServerStopping, fault.ExecutionCancelled}}
	resultDocs = docs{id: "getToolCall", tag: tagCalls, summary: "Read a tool call's result again",
		text: "The bounded result as it was first answered; nothing is executed. The id is percent-encoded, a slash " +
			"in it as %2F.",
		answers: map[int]any{http.StatusOK: callResult{}, http.StatusAccepted: callPending{}}, codes: resultCodes}
	queryDocs = docs{id: "getToolCallByQuery", tag: tagCalls, summary: "Read a tool call's result again, by query",
		text: "Like getToolCall, for ids that a client or proxy cannot carry in a path.", query: true,
		answers: map[int]any{http.StatusOK: callResult{}, http.StatusAccepted: callPending{}}, codes: resultCodes}
	recordDocs = docs{id: "getRecord", tag: tagCalls, summary: "Read the canonical record",
		text:    "The record byte for byte as it is stored: request, raw response and agent result. For harnesses only.",
		answers: map[int]any{http.StatusOK: recordView{}},
		codes:   []fault.Code{fault.RequestInvalid, fault.ToolCallIDInvalid, fault.InvocationNotFound}}
	toolsDocs = docs{id: "listTools", tag: tagCalls, summary: "List the tools",
		text:    "An agent sees what its run was granted, a harness everything.",
		answers: map[int]any{http.StatusOK: toolList{}}}

	healthDocs = docs{id: "health", tag: tagOperator, summary: "Is the process alive",
		answers: map[int]any{http.StatusOK: healthView{}}}
	readyDocs = docs{id: "ready", tag: tagOperator, summary: "Can calls be served",
		answers: map[int]any{http.StatusOK: readyView{}, http.StatusServiceUnavailable: readyView{}}}
	metricsDocs = docs{id: "metrics", tag: tagOperator, summary: "Prometheus metrics",
		answers: map[int]any{http.StatusOK: ""}, content: "text/plain"}
	openapiDocs = docs{id: "openapi", tag: tagOperator, summary: "This document",
		answers: map[int]any{http.StatusOK: rawJSON{}}}
)

var resultCodes = []fault.Code{fault.RequestInvalid, fault.ToolCallIDInvalid, fault.RunMismatch, fault.RunNotFound,
	fault.InvocationNotFound,
	fault.RunInactive, fault.RunDeadlineExceeded, fault.RefusalLimitReached}

// recordView documents the canonical record, which is written as it is stored.
type recordView struct {
	Status         string           `json:"status" enum:"PROJECTING,READY,ERROR"`
	Owner          string           `json:"owner" doc:"Of the execution that may settle the record."`
	Digest         string           `json:"digest" doc:"Of the settlement's content; empty while PROJECTING."`
	StartedAt      *string          `json:"started_at" format:"date-time"`
	CompletedAt    *string          `json:"completed_at" format:"date-time"`
	LeaseUntil     *string          `json:"lease_until" format:"date-time"`
	Schema         int              `json:"schema"`
	RunID          string           `json:"run_id"`
	ToolCallID     string           `json:"tool_call_id"`
	ToolName       string           `json:"tool_name"`
	EvidenceStatus string           `json:"evidence_status" enum:"EVIDENCE_FOUND,NO_EVIDENCE,ERROR" doc:"ERROR as a placeholder while PROJECTING."`
	ErrorCode      string           `json:"error_code,omitempty"`
	ErrorReason    string           `json:"error_reason,omitempty"`
	ErrorDetail    string           `json:"error_detail,omitempty"`
	Sizes          invocation.Sizes `json:"sizes"`
	Request        rawJSON          `json:"request"`
	RawResponse    rawJSON          `json:"raw_response"`
	AgentResult    rawJSON          `json:"agent_result"`
}

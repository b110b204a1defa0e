package fault

// Code is a stable, append-only name of a refusal or failure. Codes are never renamed.
type Code string

// The closed list of codes; docs/errors.md explains each.
const (
	ToolCallIDInvalid     Code = "TOOL_CALL_ID_INVALID"
	RunMismatch           Code = "RUN_MISMATCH"
	RunNotFound           Code = "RUN_NOT_FOUND"
	RunExists             Code = "RUN_EXISTS"
	RunInactive           Code = "RUN_INACTIVE"
	RunDeadlineExceeded   Code = "RUN_DEADLINE_EXCEEDED"
	Unauthenticated       Code = "UNAUTHENTICATED"
	Forbidden             Code = "FORBIDDEN"
	InvocationNotFound    Code = "INVOCATION_NOT_FOUND"
	RouteNotFound         Code = "ROUTE_NOT_FOUND"
	MethodNotAllowed      Code = "METHOD_NOT_ALLOWED"
	RateLimited           Code = "RATE_LIMITED"
	ServerStopping        Code = "SERVER_STOPPING"
	ToolUnknown           Code = "TOOL_UNKNOWN"
	ToolNotAuthorized     Code = "TOOL_NOT_AUTHORIZED"
	ToolNotReadOnly       Code = "TOOL_NOT_READ_ONLY"
	RequestInvalid        Code = "REQUEST_INVALID"
	RequestTooLarge       Code = "REQUEST_TOO_LARGE"
	DuplicateToolCall     Code = "DUPLICATE_TOOL_CALL"
	ToolBudgetExhausted   Code = "TOOL_BUDGET_EXHAUSTED"
	RunBudgetExhausted    Code = "RUN_BUDGET_EXHAUSTED"
	RunBytesExhausted     Code = "RUN_BYTES_EXHAUSTED"
	RefusalLimitReached   Code = "REFUSAL_LIMIT_REACHED"
	DataSourceUnknown     Code = "DATA_SOURCE_UNKNOWN"
	QueryRejected         Code = "QUERY_REJECTED"
	DataSourceUnavailable Code = "DATA_SOURCE_UNAVAILABLE"
	DataSourceBusy        Code = "DATA_SOURCE_BUSY"
	ExecutionFailed       Code = "EXECUTION_FAILED"
	ExecutionTimeout      Code = "EXECUTION_TIMEOUT"
	ExecutionCancelled    Code = "EXECUTION_CANCELLED"
	ExecutionLost         Code = "EXECUTION_LOST"
	ResultTooLarge        Code = "RESULT_TOO_LARGE"
	ProjectionFailed      Code = "PROJECTION_FAILED"
	StoreUnavailable      Code = "STORE_UNAVAILABLE"
	Internal              Code = "INTERNAL"
)

// meaning says in one plain sentence what happened and what to do, and whether a new
// call (under a new tool_call_id) makes sense without changing anything.
type meaning struct {
	sentence string
	again    bool
}

var meanings = map[Code]meaning{
	ToolCallIDInvalid: {"The tool_call_id is missing or unsafe: " +
		"send the framework's own id, 1 to 1024 visible ASCII bytes without quotes or backslash.", false},
	RunMismatch: {"The call names a run other than the one it is authorised for: " +
		"use the run of your token.", false},
	RunNotFound:         {"There is no such run: open one first.", false},
	RunExists:           {"A run with this run_id already exists: choose another run_id.", false},
	RunInactive:         {"The run was cancelled or completed: open a new run to go on.", false},
	RunDeadlineExceeded: {"The run's deadline has passed: open a new run to go on.", false},
	Unauthenticated: {"The credentials are missing or not valid: " +
		"send a harness key or the run's agent token as a bearer token.", false},
	Forbidden:          {"These credentials may not make this call: use a harness key.", false},
	InvocationNotFound: {"There is no record of this tool call in the run.", false},
	RouteNotFound:      {"There is no such path: see /openapi.json.", false},
	MethodNotAllowed:   {"This path does not accept this method: see /openapi.json.", false},
	RateLimited:        {"Too many requests at once: wait a moment and call again.", true},
	ServerStopping:     {"The service is stopping: call again in a moment.", true},
	ToolUnknown:        {"There is no such tool: list the tools that this run may use.", false},
	ToolNotAuthorized:  {"The run was not granted this tool: list the tools that it may use.", false},
	ToolNotReadOnly:    {"The tool is not read-only, and only read-only tools are served.", false},
	RequestInvalid:     {"The request is not valid: fix what the detail names and call again.", false},
	RequestTooLarge:    {"The request is larger than the limit: send a smaller one.", false},
	DuplicateToolCall: {"This tool_call_id has already been used in this run: " +
		"read the first call's result, or send a new id.", false},
	ToolBudgetExhausted: {"The run has used up its calls of this tool: work with what was found.", false},
	RunBudgetExhausted:  {"The run has used up its tool calls: work with what was found.", false},
	RunBytesExhausted:   {"The run has used up its bytes: work with what was found, or ask for less.", false},
	RefusalLimitReached: {"The run has had too many refused calls; no more reasons are given.", false},
	DataSourceUnknown: {"There is no such data source for this run: " +
		"list the tools to see which ones it may read.", false},
	QueryRejected:         {"The query is not allowed: fix what the detail names and call again.", false},
	DataSourceUnavailable: {"The data source cannot be reached right now.", true},
	DataSourceBusy:        {"The data source has no free connection right now: call again in a moment.", true},
	ExecutionFailed: {"The data source could not run the query: " +
		"fix what the reason names, or ask differently.", false},
	ExecutionTimeout:   {"The query ran longer than its time limit and was stopped: ask for less.", false},
	ExecutionCancelled: {"The call was cancelled before it ended.", false},
	ExecutionLost: {"The process that ran the call ended before it answered: " +
		"nothing is known of its result.", true},
	ResultTooLarge:   {"The result is larger than its limit and was not kept: ask for less.", false},
	ProjectionFailed: {"The result could not be made safe to show.", false},
	StoreUnavailable: {"The record store cannot be reached, and what is not recorded is not returned: " +
		"call again later.", true},
	Internal: {"Something failed inside the service; " +
		"the operator can find it by the run and the tool_call_id.", false},
}

// Codes returns every code, in no particular order.
func Codes() []Code {
	all := make([]Code, 0, len(meanings))
	for c := range meanings {
		all = append(all, c)
	}
	return all
}

// Known reports whether the code is on the list.
func (c Code) Known() bool { _, ok := meanings[c]; return ok }

// Sentence returns the code's fixed sentence: what happened and what to do.
func (c Code) Sentence() string {
	if m, ok := meanings[c]; ok {
		return m.sentence
	}
	return meanings[Internal].sentence
}

// Again reports whether a new call with the same request can succeed without any change.
func (c Code) Again() bool { return meanings[c].again }

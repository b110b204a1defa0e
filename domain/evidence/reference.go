package evidence

// Observation is what a reference may be used for.
type Observation string

// A reference to evidence found is positive; one to nothing found is negative only (S12).
const (
	Positive Observation = "POSITIVE"
	Negative Observation = "NEGATIVE"
)

// RefusedReference says why a reference is not evidence (S17).
type RefusedReference string

// The reasons for which a reference is refused.
const (
	ReferenceIDInvalid   RefusedReference = "ID_INVALID"
	ReferenceRunMismatch RefusedReference = "RUN_MISMATCH"
	ReferenceNotFound    RefusedReference = "NOT_FOUND"
	ReferenceProjecting  RefusedReference = "PROJECTING"
	ReferenceError       RefusedReference = "ERROR"
)

// Judgement is the answer to one reference.
type Judgement struct {
	ToolCallID   string           `json:"tool_call_id"`
	Referencable bool             `json:"referencable"`
	Observation  Observation      `json:"observation,omitempty"`
	Reason       RefusedReference `json:"reason,omitempty"`
}

// Observe returns the judgement on a reference to a READY record with this status; any other
// status than Found and None is not evidence.
func Observe(toolCallID string, s Status) Judgement {
	switch s {
	case Found:
		return Judgement{ToolCallID: toolCallID, Referencable: true, Observation: Positive}
	case None:
		return Judgement{ToolCallID: toolCallID, Referencable: true, Observation: Negative}
	default:
		return Refuse(toolCallID, ReferenceError)
	}
}

// Refuse returns the judgement on a reference that is not evidence.
func Refuse(toolCallID string, why RefusedReference) Judgement {
	return Judgement{ToolCallID: toolCallID, Reason: why}
}

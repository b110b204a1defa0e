package evidence

// Observation is what a reference may be used for.
type Observation string

// A reference to evidence found is positive; one to nothing found is negative only (S12).
const (
	Positive Observation = "POSITIVE"
	Negative Observation = "NEGATIVE"
)

// NotEvidenceReason says why a reference is not evidence (S17).
type NotEvidenceReason string

// The reasons for which a reference is refused.
const (
	ReferenceIDInvalid   NotEvidenceReason = "ID_INVALID"
	ReferenceRunMismatch NotEvidenceReason = "RUN_MISMATCH"
	ReferenceNotFound    NotEvidenceReason = "NOT_FOUND"
	ReferenceProjecting  NotEvidenceReason = "PROJECTING"
	ReferenceError       NotEvidenceReason = "ERROR"
)

// Judgement is the answer to one reference.
type Judgement struct {
	ToolCallID   string            `json:"tool_call_id"`
	Referencable bool              `json:"referencable"`
	Observation  Observation       `json:"observation,omitempty"`
	Reason       NotEvidenceReason `json:"reason,omitempty"`
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
		return NotEvidence(toolCallID, ReferenceError)
	}
}

// NotEvidence returns the judgement on a reference that is not evidence.
func NotEvidence(toolCallID string, why NotEvidenceReason) Judgement {
	return Judgement{ToolCallID: toolCallID, Reason: why}
}

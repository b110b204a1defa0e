package evidence_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
)

func TestS12_NothingFoundIsNegativeOnly(t *testing.T) {
	for status, want := range map[evidence.Status]evidence.Judgement{
		evidence.Found: {ToolCallID: "c", Referencable: true, Observation: evidence.Positive},
		evidence.None:  {ToolCallID: "c", Referencable: true, Observation: evidence.Negative},
		evidence.Error: {ToolCallID: "c", Reason: evidence.ReferenceError},
		"FOUND":        {ToolCallID: "c", Reason: evidence.ReferenceError},
		"":             {ToolCallID: "c", Reason: evidence.ReferenceError},
	} {
		t.Run(string(status), func(t *testing.T) { require.Equal(t, want, evidence.Observe("c", status)) })
	}
}

func TestS13_ProjectionCheck(t *testing.T) {
	require.NoError(t, evidence.Projection{AgentResult: json.RawMessage(`{}`), Status: evidence.None}.Check())
	for reason, p := range map[string]evidence.Projection{
		"EVIDENCE_STATUS": {AgentResult: json.RawMessage(`{}`), Status: evidence.Error},
		"RESULT_JSON":     {AgentResult: json.RawMessage(`{]`), Status: evidence.Found},
	} {
		t.Run(reason, func(t *testing.T) {
			f := fault.Of(p.Check())
			require.Equal(t, fault.Because(fault.ProjectionFailed, reason, ""), f)
		})
	}
	require.Equal(t, fault.ProjectionFailed, fault.CodeOf(evidence.Projection{Status: evidence.Found}.Check()))
}

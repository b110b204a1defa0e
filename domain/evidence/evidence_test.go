package evidence_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
)

func TestS12_NothingFoundIsNegativeOnly(t *testing.T) {
	require.Equal(t, evidence.Judgement{ToolCallID: "c", Referencable: true, Observation: evidence.Positive}, evidence.Observe("c", evidence.Found))
	require.Equal(t, evidence.Judgement{ToolCallID: "c", Referencable: true, Observation: evidence.Negative}, evidence.Observe("c", evidence.None))
	for _, s := range []evidence.Status{evidence.Error, "", "FOUND"} {
		require.Equal(t, evidence.Judgement{ToolCallID: "c", Reason: evidence.ReferenceError}, evidence.Observe("c", s))
	}
}

func TestS13_ProjectionCheck(t *testing.T) {
	require.NoError(t, evidence.Projection{AgentResult: json.RawMessage(`{}`), Status: evidence.None}.Check())
	for _, p := range []evidence.Projection{{AgentResult: json.RawMessage(`{}`), Status: evidence.Error}, {Status: evidence.Found}, {AgentResult: json.RawMessage(`{]`), Status: evidence.Found}} {
		require.Equal(t, fault.ProjectionFailed, fault.CodeOf(p.Check()))
	}
}

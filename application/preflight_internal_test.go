package application

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/domain/tool"
)

// TestS05_AToolThatIsNotReadOnlyIsNeverRun puts into the catalogue what NewCatalogue refuses: the
// check before each call does not rely on the one at the start.
func TestS05_AToolThatIsNotReadOnlyIsNeverRun(t *testing.T) {
	writer := tool.Description{Name: "writer", ReadOnly: false}
	c := &Catalogue{entries: map[string]catalogued{"writer": {about: writer}}}
	rc := RunContext{RunID: "r1", Grants: run.Grants{Tools: []string{"writer"}}}
	call := Call{RunID: "r1", ToolCallID: "call_1", ToolName: "writer", Request: []byte(`{}`)}
	_, _, err := preflight(c, rc, call, limits.Default().Request)
	require.Equal(t, fault.ToolNotReadOnly, fault.CodeOf(err))
}

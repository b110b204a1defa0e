package evidence_test

import (
	"encoding/json"
	"fmt"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
)

// A projector says whether something was found. It cannot say anything else.
func ExampleProjection_Check() {
	rows := json.RawMessage(`{"rows":[],"truncated":false}`)
	fmt.Println(evidence.Projection{AgentResult: rows, Status: evidence.None}.Check())
	fmt.Println(fault.CodeOf(evidence.Projection{AgentResult: rows, Status: evidence.Error}.Check()))
	fmt.Println(fault.CodeOf(evidence.Projection{AgentResult: rows[:8], Status: evidence.Found}.Check()))
	// Output:
	// <nil>
	// PROJECTION_FAILED
	// PROJECTION_FAILED
}

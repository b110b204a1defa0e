package executortest_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/executortest"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// An executor is tested with executortest.Test. Violations shows what a tool breaks: the fake is not
// described as read-only here, and it has no source that Break could make unreachable.
func ExampleViolations() {
	object := json.RawMessage(`{"type":"object"}`)
	description := tool.Description{
		Name: "fake", Text: "It does as it is told.", DataSources: []string{"s1"}, InputSchema: object,
		OutputSchema: object,
	}
	executor := fake.NewExecutor(description, tool.Plan{})
	broken := executortest.Violations(context.Background(), executortest.Subject{
		New:   func(kit.T) ports.Executor { return executor },
		Scope: tool.Scope{DataSources: []string{"s1"}},
		Echo: func(text string) json.RawMessage {
			return fake.Script{DataSource: "s1", Answer: json.RawMessage(`"` + text + `"`)}.JSON()
		},
		Large:     fake.Script{DataSource: "s1", Do: fake.Flood, Bytes: 300 << 20}.JSON(),
		Slow:      fake.Script{DataSource: "s1", Do: fake.Block}.JSON(),
		Failing:   fake.Script{DataSource: "s1", Do: fake.Fail, Code: fault.ExecutionFailed}.JSON(),
		FailsWith: fault.ExecutionFailed,
		Refused: []executortest.Refused{
			{Why: "another type", Request: json.RawMessage(`{"do":7}`), Code: fault.RequestInvalid},
		},
		Running: func(kit.T) int { return executor.Running() },
		Calls:   func(kit.T) int { return executor.Executions() },
	})
	for _, name := range kit.Names(broken) {
		fmt.Println(name)
	}
	// Output:
	// Describe/IsConstant
	// Execute/SourceIsUnreachable
}

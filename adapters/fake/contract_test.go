package fake_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/clocktest"
	"github.com/toolboundary/toolboundary/test/contract/executortest"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/contract/projectortest"
)

func TestS26_ToolContract(t *testing.T) {
	var current *fake.Executor
	scope := tool.Scope{DataSources: []string{"s1"}}
	executortest.Test(t, executortest.Subject{
		New: func(t kit.T) ports.Executor {
			current = fake.NewExecutor(tool.Description{
				Name: "fake", Text: "It does as it is told.", ReadOnly: true, DataSources: []string{"s1"},
				InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(`{"type":"object"}`),
			}, tool.Plan{})
			return current
		},
		Scope: scope,
		Echo: func(text string) json.RawMessage {
			return fake.Script{DataSource: "s1", Do: fake.Answer,
				Answer: json.RawMessage(`{"text":"` + text + `"}`)}.JSON()
		},
		Large:     fake.Script{DataSource: "s1", Do: fake.Flood, Bytes: 300 << 20}.JSON(),
		Slow:      fake.Script{DataSource: "s1", Do: fake.Block}.JSON(),
		Failing:   fake.Script{DataSource: "s1", Do: fake.Fail, Code: fault.ExecutionFailed}.JSON(),
		FailsWith: fault.ExecutionFailed,
		Refused: []executortest.Refused{
			{
				Why:     "asked to",
				Request: fake.Script{Refuse: &fake.Refusal{Code: fault.QueryRejected}}.JSON(),
				Code:    fault.QueryRejected,
			},
			{Why: "another type", Request: json.RawMessage(`{"do":7}`), Code: fault.RequestInvalid},
		},
		Running: func(kit.T) int { return current.Running() },
		Calls:   func(kit.T) int { return current.Executions() },
		Exceptions: map[string]string{
			"Execute/SourceIsUnreachable": "the fake has no source; a script makes it fail",
		},
	})
}

func TestS26_ProjectorContract(t *testing.T) {
	answer := func(values ...string) json.RawMessage {
		b, err := json.Marshal(slices.Concat([]string{}, values))
		require.NoError(t, err)
		return b
	}
	projectortest.Test(t, projectortest.Subject{
		Projector: fake.Projector{},
		Answer:    answer,
		Empty: func(asked string) json.RawMessage {
			b, err := json.Marshal(map[string]string{"asked": asked})
			require.NoError(t, err)
			return b
		},
		Sensitive:  func(text string) json.RawMessage { return answer(text) },
		Malformed:  []json.RawMessage{json.RawMessage(`[`)},
		Exceptions: map[string]string{"Project/HidesSensitiveValues": "the fake's answers have no sensitive part"},
	})
}

func TestClockContract(t *testing.T) {
	clocktest.Test(t, clocktest.Subject{New: func(kit.T) clocktest.Instance {
		c := fake.NewClock(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
		return clocktest.Instance{Clock: c, Unit: time.Minute, Advance: func(d time.Duration) { c.Advance(d) }}
	}})
}

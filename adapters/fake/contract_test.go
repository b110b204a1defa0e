package fake_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/test/contract/projectortest"
)

func TestS26_ProjectorContract(t *testing.T) {
	answer := func(values ...string) json.RawMessage {
		b, err := json.Marshal(slices.Concat([]string{}, values))
		require.NoError(t, err)
		return b
	}
	projectortest.Run(t, projectortest.Harness{
		Projector:  fake.Projector{},
		Answer:     answer,
		Sensitive:  func(text string) json.RawMessage { return answer(text) },
		Malformed:  []json.RawMessage{json.RawMessage(`[`)},
		Exceptions: map[string]string{"Project/HidesSensitiveValues": "the fake's answers have no sensitive part"},
	})
}

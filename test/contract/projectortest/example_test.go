package projectortest_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/contract/projectortest"
)

// A projector is tested with projectortest.Test. Violations shows what one breaks: the fake's answers
// have no sensitive part, so a value that ought to be hidden is shown. Its own test declares that as
// an exception, with the reason.
func ExampleViolations() {
	answer := func(items ...string) json.RawMessage {
		raw, _ := json.Marshal(append([]string{}, items...)) // strings have a JSON form
		return raw
	}
	broken := projectortest.Violations(context.Background(), projectortest.Subject{
		Projector: fake.Projector{},
		Answer:    answer,
		Empty: func(asked string) json.RawMessage {
			raw, _ := json.Marshal(map[string]string{"asked": asked})
			return raw
		},
		Sensitive: func(text string) json.RawMessage { return answer(text) },
		Malformed: []json.RawMessage{json.RawMessage(`[`)},
	})
	fmt.Println(kit.Names(broken))
	// Output: [Project/HidesSensitiveValues]
}

// Package projectortest holds the contract of ports.Projector.
//
// It knows nothing of a projector's raw format: the subject makes raw answers of it. What it
// does know of the result is that it is a JSON object that says in the member truncated
// whether anything was cut.
package projectortest

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// Subject is what a projector provides to be tested.
type Subject struct {
	// Projector is the projector under test.
	Projector ports.Projector
	// Answer returns a raw answer that holds each of the texts as one item of its own; the
	// projector must show them as JSON strings.
	Answer func(texts ...string) json.RawMessage
	// Sensitive returns a raw answer in which the text stands where it must never be shown.
	Sensitive func(text string) json.RawMessage
	// Malformed are raw texts that are no answer of the format.
	Malformed []json.RawMessage
	// Exceptions maps cases that the projector is known to break to the reason.
	Exceptions map[string]string
}

// Suite is the contract.
func Suite() kit.Suite[Subject] {
	return kit.Suite[Subject]{Cases: append(boundCases(), answerCases()...), Parallel: true}
}

// Test tests a projector.
func Test(t *testing.T, h Subject) {
	t.Helper()
	Suite().Test(t, h, h.Exceptions)
}

// Violations returns the cases that a projector breaks.
func Violations(ctx context.Context, h Subject) map[string][]string {
	return Suite().Violations(ctx, h)
}

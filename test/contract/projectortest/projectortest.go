// Package projectortest holds the contract of ports.Projector.
//
// It knows nothing of a projector's raw format: the subject makes raw responses of it. What it
// does know of the result is that it is a JSON object that says in the member truncated whether
// anything was cut, in truncated_by what caused it, and, when it is empty, in scope what was asked.
package projectortest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// Subject is what a projector provides to be tested.
type Subject struct {
	// Projector is the projector under test.
	Projector ports.Projector
	// Answer returns a raw response with one item for each of the texts; the projector must show
	// them as JSON strings.
	Answer func(texts ...string) json.RawMessage
	// Empty returns a raw response without items, of a call that asked for the text; the projector
	// must show the text as a JSON string within the member scope.
	Empty func(asked string) json.RawMessage
	// Sensitive returns a raw response with the text in a place that must never be shown.
	Sensitive func(text string) json.RawMessage
	// Malformed are texts that are not of the raw format.
	Malformed []json.RawMessage
	// Exceptions maps cases that the projector is known to break to the reason.
	Exceptions map[string]string
}

// Suite is the contract.
func Suite() kit.Suite[Subject] {
	return kit.Suite[Subject]{Cases: slices.Concat(boundCases, answerCases), Parallel: true}
}

// Test tests a projector.
func Test(t *testing.T, subject Subject) {
	t.Helper()
	Suite().Test(t, subject, subject.Exceptions)
}

// Violations returns the cases that a projector breaks.
func Violations(ctx context.Context, subject Subject) map[string][]string {
	return Suite().Violations(ctx, subject)
}

// Package executortest holds the contract of ports.Executor.
//
// It knows nothing of a tool's requests: the subject makes them. What it asks of the source
// behind the tool, how many executions run there and how often it was called, the subject
// must find out at the source itself, not from the tool.
package executortest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// Subject is what a tool provides to be tested.
type Subject struct {
	// New returns the tool; it must be ready, and end with t.
	New func(t kit.T) ports.Executor
	// Scope grants what the requests below use.
	Scope tool.Scope

	// Echo returns a request whose raw answer contains the text, which is letters and digits.
	Echo func(text string) json.RawMessage
	// Large is a request whose raw answer would have hundreds of MiB.
	Large json.RawMessage
	// Slow is a request that runs for half a minute or longer unless it is stopped.
	Slow json.RawMessage
	// Failing is a request that passes Prepare and fails at the source, and FailsWith the code.
	Failing   json.RawMessage
	FailsWith fault.Code
	// Refused are requests that Prepare must refuse, with the code.
	Refused []Refused

	// Running returns how many executions of Slow and Large the source is working on.
	Running func(t kit.T) int
	// Calls returns how often the source was called so far, in any unit.
	Calls func(t kit.T) int
	// Secrets are texts that no error may carry: coordinates, credentials, the source's words.
	Secrets []string
	// Patience is how long the source may take to show that something began or ended; zero
	// means 10 s. A stop takes milliseconds, and what is not stopped goes on for long.
	Patience time.Duration
	// Break makes the source unreachable until heal is called. Where nothing lies between the tool and
	// its source it is nil, and the case that needs it is an exception.
	Break func(t kit.T) (heal func())
	// Exceptions maps cases that the tool is known to break to the reason.
	Exceptions map[string]string
}

func (subject Subject) patience() time.Duration {
	if subject.Patience == 0 {
		return 10 * time.Second
	}
	return subject.Patience
}

// Refused is a request that is refused and the code that it is refused with.
type Refused struct {
	Why     string
	Request json.RawMessage
	Code    fault.Code
}

// Suite is the contract. Its cases count what runs at the source, so they run one by one.
func Suite() kit.Suite[Subject] {
	return kit.Suite[Subject]{Cases: slices.Concat(prepareCases, executeCases)}
}

// Test tests a tool.
func Test(t *testing.T, subject Subject) {
	t.Helper()
	Suite().Test(t, subject, subject.Exceptions)
}

// Violations returns the cases that a tool breaks.
func Violations(ctx context.Context, subject Subject) map[string][]string {
	return Suite().Violations(ctx, subject)
}

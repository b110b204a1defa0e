// Package inboundtest is the contract of inbound adapters as an agent sees it: whatever the
// transport, the same call has the same outcome, code and bytes, and leaves the same behind.
//
// An adapter brings a Caller, which makes one tool call over its transport; a Service, which
// package test/rig provides, stands behind it. The service has the scripted tools of
// adapters/fake under the names Probe and Other with the data sources s1 and s2; every run is
// granted Probe and s1 only.
package inboundtest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// The tools of the service. Runs are granted Probe only.
const (
	Probe = "probe"
	Other = "other"
)

// RunRequest asks for a run; nil and zero members take the service's generous defaults.
type RunRequest struct {
	ID                                         run.ID
	MaxCalls, MaxProbes, MaxBytes, MaxRefusals *int64
	TTL                                        time.Duration
}

// Service is the service behind the adapter; a case drives and inspects it.
type Service interface {
	// Open opens a run and returns its agent's token; Cancel ends it; Find returns it.
	Open(t kit.T, r RunRequest) (token string)
	Cancel(t kit.T, id run.ID)
	Find(t kit.T, id run.ID) run.Run
	// Record returns the canonical record, and whether there is one.
	Record(t kit.T, id run.ID, toolCallID string) (invocation.Record, bool)
	// Advance moves the store's clock.
	Advance(d time.Duration)
	// StoreDown makes the store fail, or work again.
	StoreDown(down bool)
	// Executions returns how many calls began to execute.
	Executions() int
	// AwaitRunning returns nil once n calls are executing; Release lets those go on that hold.
	AwaitRunning(ctx context.Context, n int) error
	Release()
	// RequestLimit is the most bytes of a request.
	RequestLimit() int
	// MaxConcurrent is how many calls the service executes at once.
	MaxConcurrent() int
	// Logs returns everything that was logged at info level and above.
	Logs() string
}

// Call is one tool call. Request is sent byte for byte.
type Call struct {
	Token      string
	RunID      run.ID
	ToolCallID string
	Tool       string
	Request    []byte
}

// Outcome is what the agent is told.
type Outcome struct {
	Status         invocation.Status
	EvidenceStatus evidence.Status
	// Code, Reason and Detail are those of the error.
	Code           fault.Code
	Reason, Detail string
	// AgentResult is nil unless Status is READY.
	AgentResult json.RawMessage
	// Said is everything that the agent received, headers and all.
	Said string
}

// Caller makes one tool call over the adapter's transport. An error means that there was no
// answer: the caller's context ended, or the adapter broke off.
type Caller func(ctx context.Context, c Call) (Outcome, error)

// Subject is what an inbound adapter provides to be tested.
type Subject struct {
	// New starts the adapter before a fresh service. The adapter ends with t.
	New func(t kit.T) (Service, Caller)
	// Exceptions maps cases that the adapter is known to break to the reason.
	Exceptions map[string]string
}

// Suite is the contract. Its cases are of no port: they prove the same outcome for each transport.
func Suite() kit.Suite[Subject] {
	return kit.Suite[Subject]{Cases: slices.Concat(answers, requests, runs, budgets, failures)}
}

// Test tests an adapter.
func Test(t *testing.T, subject Subject) {
	t.Helper()
	Suite().Test(t, subject, subject.Exceptions)
}

// Violations returns the cases that an adapter breaks.
func Violations(ctx context.Context, subject Subject) map[string][]string {
	return Suite().Violations(ctx, subject)
}

// scene is one case's service with an open run r1.
type scene struct {
	kit.T
	Service
	call  Caller
	token string
}

// begin starts a scene with the run.
func begin(t kit.T, subject Subject, r RunRequest) scene {
	t.Helper()
	service, call := subject.New(t)
	r.ID = "r1"
	return scene{t, service, call, service.Open(t, r)}
}

// tries makes the call; a panic is an error.
func (s scene) tries(ctx context.Context, c Call) (out Outcome, err error) {
	err = kit.Catch(func() (err error) {
		out, err = s.call(ctx, c)
		return err
	})
	return out, err
}

// ask makes a call of Probe in r1 and returns the outcome.
func (s scene) ask(id, request string) Outcome {
	s.Helper()
	return s.send(s.asking(id, request))
}

// asking is a call of Probe in r1.
func (s scene) asking(id, request string) Call {
	return Call{Token: s.token, RunID: "r1", ToolCallID: id, Tool: Probe, Request: []byte(request)}
}

// send makes the call, which must be answered.
func (s scene) send(c Call) Outcome {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	out, err := s.tries(ctx, c)
	require.NoError(s, err, "the call must be answered")
	ready, failed := out.Status == invocation.Ready, out.Status == invocation.Error
	require.Equal(s, ready, out.AgentResult != nil, "a result if and only if READY: %s", out.Said)
	require.Equal(s, failed, out.Code != "", "a code if and only if ERROR: %s", out.Said)
	require.Equal(s, failed, out.EvidenceStatus == evidence.Error, "no evidence in ERROR: %s", out.Said)
	return out
}

// later makes a call of Probe in r1 beside the test; the channel tells its outcome.
func (s scene) later(id, request string) <-chan Outcome {
	done := make(chan Outcome, 1)
	go func() {
		ctx, cancel := context.WithTimeout(s.Context(), patience)
		defer cancel()
		out, err := s.tries(ctx, s.asking(id, request))
		if err != nil {
			out.Said = err.Error()
		}
		done <- out
	}()
	return done
}

// wait returns the outcome of a call that goes on beside the test.
func (s scene) wait(done <-chan Outcome) Outcome {
	s.Helper()
	select {
	case out := <-done:
		return out
	case <-time.After(2 * patience):
		require.Fail(s, "the call was not answered")
		return Outcome{}
	}
}

// running waits until n calls of Probe are executing.
func (s scene) running(n int) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	require.NoError(s, s.AwaitRunning(ctx, n), "%d calls must be executing", n)
}

// refused makes a call of Probe that must be refused with the code and leave nothing behind.
func (s scene) refused(code fault.Code, id, request string) Outcome {
	s.Helper()
	return s.refuses(code, s.asking(id, request))
}

func (s scene) refuses(code fault.Code, c Call) Outcome {
	s.Helper()
	before, usage := s.Executions(), s.Find(s, "r1").Usage
	out := s.send(c)
	require.Equal(s, code, out.Code, "%.300s", out.Said)
	require.Equal(s, before, s.Executions(), "a refused call is not executed")
	after := s.Find(s, "r1").Usage
	require.Equal(s, usage.Calls, after.Calls, "a refusal spends no call")
	require.Equal(s, usage.Bytes, after.Bytes, "a refusal spends no bytes")
	return out
}

// record returns the record of a call of r1 that must exist.
func (s scene) record(id string) invocation.Record {
	s.Helper()
	r, ok := s.Record(s, "r1", id)
	require.True(s, ok, "there must be a record of %s", id)
	return r
}

// noRecord requires that r1 has no record of the call.
func (s scene) noRecord(id string) {
	s.Helper()
	_, ok := s.Record(s, "r1", id)
	require.False(s, ok, "there must be no record of %s", id)
}

// settled waits until the record is terminal.
func (s scene) settled(id string) invocation.Record {
	s.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if r, ok := s.Record(s, "r1", id); ok && r.Status != invocation.Projecting {
			return r
		}
	}
	require.Fail(s, "the record was not settled")
	return invocation.Record{}
}

// patience bounds every wait, so that each case ends whatever the adapter does.
const patience = 10 * time.Second

func only(n int64) *int64 { return &n }

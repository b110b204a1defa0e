package inboundtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/test/contract/inboundtest"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/rig"
)

// direct is an adapter without a transport: the least that keeps the contract.
func direct(g *rig.Rig) inboundtest.Caller {
	return func(ctx context.Context, c inboundtest.Call) (inboundtest.Outcome, error) {
		caller, err := g.Authenticate(c.Token)
		if err != nil {
			failed := application.Result{Status: invocation.Error, EvidenceStatus: evidence.Error, Fault: fault.Of(err)}
			return outcome(failed), nil
		}
		return outcome(g.Invoke(ctx, caller, asked(c))), nil
	}
}

// asked returns the call as the application takes it.
func asked(c inboundtest.Call) application.Call {
	return application.Call{RunID: c.RunID, ToolCallID: c.ToolCallID, ToolName: c.Tool, Request: c.Request}
}

func outcome(res application.Result) inboundtest.Outcome {
	out := inboundtest.Outcome{
		Status: res.Status, EvidenceStatus: res.EvidenceStatus, AgentResult: res.AgentResult,
		Said: string(res.AgentResult),
	}
	if f := res.Fault; f != nil {
		out.Code, out.Reason, out.Detail = f.Code, f.Reason, f.Detail
		out.Said += fmt.Sprintf("%s %s %s", f.Code, f.Reason, f.Detail)
	}
	return out
}

func subject(around func(*rig.Rig, inboundtest.Caller) inboundtest.Caller) inboundtest.Subject {
	return inboundtest.Subject{New: func(t kit.T) (inboundtest.Service, inboundtest.Caller) {
		g := rig.New(t, application.Options{})
		return g, around(g, direct(g))
	}}
}

func TestDirectCallsKeepTheContract(t *testing.T) {
	inboundtest.Test(t, subject(func(_ *rig.Rig, call inboundtest.Caller) inboundtest.Caller { return call }))
}

// TestBrokenAdaptersAreFound pins each adapter that is broken on purpose to the cases that it
// must fail, so that no case passes whatever the adapter does.
func TestBrokenAdaptersAreFound(t *testing.T) {
	after := func(change func(*inboundtest.Outcome)) func(*rig.Rig, inboundtest.Caller) inboundtest.Caller {
		return func(_ *rig.Rig, call inboundtest.Caller) inboundtest.Caller {
			return func(ctx context.Context, c inboundtest.Call) (inboundtest.Outcome, error) {
				out, err := call(ctx, c)
				change(&out)
				return out, err
			}
		}
	}
	before := func(change func(*inboundtest.Call)) func(*rig.Rig, inboundtest.Caller) inboundtest.Caller {
		return func(_ *rig.Rig, call inboundtest.Caller) inboundtest.Caller {
			return func(ctx context.Context, c inboundtest.Call) (inboundtest.Outcome, error) {
				change(&c)
				return call(ctx, c)
			}
		}
	}
	for name, broken := range map[string]struct {
		around func(*rig.Rig, inboundtest.Caller) inboundtest.Caller
		fails  []string
	}{
		"decodes requests into Go values": {before(func(c *inboundtest.Call) {
			var v any
			if json.Unmarshal(c.Request, &v) == nil {
				c.Request, _ = json.Marshal(v)
			}
		}), []string{
			"Answer/KeepsTwentyDigits", "Answer/PassesBytesAsTheyAre", "Answer/RecordsTheRequestAsItIs",
			"Request/DuplicateMemberIsRefused", "Request/InvalidUTF8IsRefused",
		}},
		"encodes results again": {after(func(o *inboundtest.Outcome) {
			var v any
			if json.Unmarshal(o.AgentResult, &v) == nil {
				o.AgentResult, _ = json.Marshal(v)
			}
		}), []string{"Answer/KeepsTwentyDigits", "Answer/PassesBytesAsTheyAre"}},
		"trims ids": {before(func(c *inboundtest.Call) {
			c.ToolCallID = strings.TrimSpace(c.ToolCallID)
		}), []string{"ID/UnsafeIsRefused"}},
		"cuts ids": {before(func(c *inboundtest.Call) {
			c.ToolCallID = c.ToolCallID[:min(len(c.ToolCallID), 64)]
		}), []string{"ID/SafeIsKept", "ID/UnsafeIsRefused"}},
		"invents ids": {before(func(c *inboundtest.Call) {
			if c.ToolCallID == "" {
				c.ToolCallID = "generated"
			}
		}), []string{"ID/UnsafeIsRefused"}},
		"drops members that it does not know": {before(func(c *inboundtest.Call) {
			var v map[string]json.RawMessage
			if json.Unmarshal(c.Request, &v) == nil && v["answer"] != nil && v["do"] == nil {
				c.Request = []byte(`{"answer":` + string(v["answer"]) + `}`)
			}
		}), []string{
			"Request/DuplicateMemberIsRefused", "Request/LimitIsExact", "Request/UnknownMembersAreRefused",
			"Tool/SourcesNotGrantedDoNotExist",
		}},
		"takes the run from the token": {func(g *rig.Rig, call inboundtest.Caller) inboundtest.Caller {
			return func(ctx context.Context, c inboundtest.Call) (inboundtest.Outcome, error) {
				if rc, err := g.Tokens.Verify(c.Token); err == nil {
					c.RunID = rc.RunID
				}
				return call(ctx, c)
			}
		}, []string{"Run/ForeignTokenIsRefused"}},
		"trusts whoever calls": {func(g *rig.Rig, _ inboundtest.Caller) inboundtest.Caller {
			return func(ctx context.Context, c inboundtest.Call) (inboundtest.Outcome, error) {
				return outcome(g.Invoke(ctx, application.Caller{Harness: "any"}, asked(c))), nil
			}
		}, []string{"Run/ForeignTokenIsRefused", "Run/ForgedTokenIsRefused"}},
		"hides reasons": {after(func(o *inboundtest.Outcome) { o.Reason, o.Detail = "", "" }),
			[]string{
				"Budget/OfRefusals", "Duplicate/IsRefusedAndFree", "Duplicate/OfARunningCall", "Failure/OfTheExecutor",
				"Request/RefusalTellsWhy",
			}},
		"shows empty results as evidence": {after(func(o *inboundtest.Outcome) {
			if o.EvidenceStatus == evidence.None {
				o.EvidenceStatus = evidence.Found
			}
		}), []string{"Answer/NothingFoundIsNoEvidence"}},
		"loses the caller's end": {func(_ *rig.Rig, call inboundtest.Caller) inboundtest.Caller {
			return func(ctx context.Context, c inboundtest.Call) (inboundtest.Outcome, error) {
				if strings.Contains(string(c.Request), `"block"`) {
					// Nobody waits for the answer of a call that nobody stops.
					go func() { _, _ = call(context.WithoutCancel(ctx), c) }()
					<-ctx.Done()
					return inboundtest.Outcome{}, ctx.Err()
				}
				return call(ctx, c)
			}
		}, []string{"Failure/CallerGoesAway", "Run/CancelStopsItsCalls"}},
		"repeats the request": {func(_ *rig.Rig, call inboundtest.Caller) inboundtest.Caller {
			return func(ctx context.Context, c inboundtest.Call) (inboundtest.Outcome, error) {
				out, err := call(ctx, c)
				out.Said += string(c.Request) + c.ToolCallID
				return out, err
			}
		}, []string{
			"Budget/OfRefusals", "Failure/KeepsSecrets", "Failure/OfTheProjector", "Failure/StoreIsDownAfter",
			"ID/UnsafeIsRefused",
		}},
		"does not answer": {func(*rig.Rig, inboundtest.Caller) inboundtest.Caller {
			return func(context.Context, inboundtest.Call) (inboundtest.Outcome, error) {
				return inboundtest.Outcome{}, errors.New("no answer")
			}
		}, every()},
		"panics": {func(_ *rig.Rig, call inboundtest.Caller) inboundtest.Caller {
			return func(ctx context.Context, c inboundtest.Call) (inboundtest.Outcome, error) {
				if strings.Contains(string(c.Request), `"hold"`) {
					panic("beside the others")
				}
				return call(ctx, c)
			}
		}, []string{"Duplicate/OfARunningCall", "Failure/OfAFullService", "Failure/StoreIsDownAfter"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := violationsOf(t, subject(broken.around))
			require.Equal(t, broken.fails, kit.Names(got), "%v", got)
		})
	}
}

// violationsOf runs the suite in a bubble, whose time passes only when everybody waits: what never
// comes is not waited for, and a busy machine changes nothing.
func violationsOf(t *testing.T, subject inboundtest.Subject) (broken map[string][]string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		broken = inboundtest.Violations(t.Context(), subject)
		time.Sleep(time.Minute) // calls that nobody stopped reach the tool's timeout
	})
	return broken
}

// every returns the names of all cases, sorted.
func every() (names []string) {
	for _, c := range inboundtest.Suite().Cases {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return names
}

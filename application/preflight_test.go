package application_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/adapters/memory"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports/toolset"
)

// TestPreflightRefusals makes every preflight refusal: nothing is executed, no record exists, no
// call is spent (S42).
func TestPreflightRefusals(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65)
	for _, c := range []struct {
		name   string
		change func(c *application.Call)
		code   fault.Code
		reason string
	}{
		{"S01 blank id", func(c *application.Call) { c.ToolCallID = "" }, fault.ToolCallIDInvalid, ""},
		{"S01 unsafe id", func(c *application.Call) { c.ToolCallID = "a b" }, fault.ToolCallIDInvalid, ""},
		{"S02 another run", func(c *application.Call) { c.RunID = "r2" }, fault.RunMismatch, ""},
		{"S03 no object", func(c *application.Call) { c.Request = json.RawMessage(`[1]`) }, fault.RequestInvalid,
			"NOT_AN_OBJECT"},
		{"S03 empty", func(c *application.Call) { c.Request = nil }, fault.RequestInvalid, "NOT_AN_OBJECT"},
		{"S03 duplicate member", func(c *application.Call) { c.Request = json.RawMessage(`{"answer":1,"answer":2}`) },
			fault.RequestInvalid, "DUPLICATE_MEMBER"},
		{"S03 duplicate within", func(c *application.Call) {
			c.Request = json.RawMessage(`{"answer":{"a":1,"\u0061":2}}`)
		}, fault.RequestInvalid, "DUPLICATE_MEMBER"},
		{"S03 invalid UTF-8", func(c *application.Call) { c.Request = json.RawMessage("{\"answer\":\"\xff\"}") },
			fault.RequestInvalid, "JSON"},
		{"S03 trailing data", func(c *application.Call) { c.Request = json.RawMessage(`{} {}`) }, fault.RequestInvalid,
			"TRAILING_DATA"},
		{"S03 nesting", func(c *application.Call) { c.Request = json.RawMessage(deep) }, fault.RequestInvalid,
			"NESTING"},
		{"S03 cut", func(c *application.Call) { c.Request = json.RawMessage(`{"answer":`) }, fault.RequestInvalid,
			"JSON"},
		{"S04 not authorized", func(c *application.Call) { c.ToolName = "other" }, fault.ToolNotAuthorized, ""},
		{"S04 unknown member", func(c *application.Call) { c.Request = json.RawMessage(`{"authorized":true}`) },
			fault.RequestInvalid, "SCRIPT"},
		{"unknown tool", func(c *application.Call) { c.ToolName = "none" }, fault.ToolUnknown, ""},
		{"S09 too large", func(c *application.Call) {
			c.Request = json.RawMessage(`{"answer":"` + strings.Repeat("x", int(testLimits.Request)) + `"}`)
		}, fault.RequestTooLarge, ""},
		{"S33 unknown source", func(c *application.Call) { c.Request = json.RawMessage(`{"data_source":"hr"}`) },
			fault.DataSourceUnknown, ""},
		{"S32 refused by the tool", func(c *application.Call) {
			c.Request = fake.Script{Refuse: &fake.Refusal{Code: fault.QueryRejected, Reason: "WRITE"}}.JSON()
		}, fault.QueryRejected, "WRITE"},
		{"Prepare panics", func(c *application.Call) { c.Request = fake.Script{PreparePanic: "canary"}.JSON() },
			fault.Internal, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			rc := f.open("r1")
			f.open("r2")
			call := application.Call{RunID: "r1", ToolCallID: "call_1", ToolName: "fake", Request: answer(`[1]`)}
			c.change(&call)
			res := f.svc.Invoke(t.Context(), application.Caller{Agent: &rc}, call)
			requireFault(t, c.code, res)
			require.Equal(t, c.reason, res.Fault.Reason)
			require.Equal(t, evidence.Error, res.EvidenceStatus)
			require.False(t, res.Recorded)
			require.Nil(t, res.AgentResult)
			require.Zero(t, f.tool.Executions())
			require.Zero(t, f.store.begins)
			require.Equal(t, 1, f.store.refusals, "one round trip")
			o, err := f.svc.Find(t.Context(), harness, "r1")
			require.NoError(t, err)
			require.Zero(t, o.Run.Usage.Calls)
			require.Empty(t, o.Invocations)
			require.Len(t, o.Run.Refusals, 1, "logged in the caller's own run")
			require.Equal(t, c.code, o.Run.Refusals[0].Code)
			require.Equal(t, run.CountsAsRefusal(c.code), o.Run.Usage.Refusals == 1, "what the agent got wrong counts")
			f.requireNoCanary()
		})
	}
}

func TestS22_RequestExactlyAtItsLimit(t *testing.T) {
	f := newFixture(t)
	rc := f.open("r1")
	at := json.RawMessage(`{"answer":"é` + strings.Repeat("x", int(testLimits.Request)-len(`{"answer":"é"}`)) + `"}`)
	require.Len(t, at, int(testLimits.Request))
	require.Nil(t, f.call(rc, "call_1", at).Fault)
}

func TestS06_AnEndedRunIsNoOracle(t *testing.T) {
	refused := fake.Script{Refuse: &fake.Refusal{
		Code: fault.QueryRejected, Reason: "UNKNOWN_COLUMN", Detail: "customers.ssn is not available",
	}}.JSON()
	for name, c := range map[string]struct {
		end  func(f *fixture)
		code fault.Code
	}{
		"cancelled": {func(f *fixture) { f.end("r1", run.Cancelled) }, fault.RunInactive},
		"completed": {func(f *fixture) { f.end("r1", run.Completed) }, fault.RunInactive},
		"deadline":  {func(*fixture) { time.Sleep(time.Minute) }, fault.RunDeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the minute passes on the bubble's clock
				f := newFixture(t)
				rc := f.open("r1", func(r *application.OpenRequest) { r.TTL = ptr(time.Minute) })
				c.end(f)
				for id, request := range map[string]json.RawMessage{
					"call_1": refused, "bad id": answer(`1`), "call_2": answer(`[1]`),
				} {
					got := requireFault(t, c.code, f.call(rc, id, request), id)
					require.Empty(t, got.Reason+got.Detail)
				}
				require.Zero(t, f.tool.Executions())
			})
		})
	}
	f := newFixture(t)
	unknown := application.RunContext{RunID: "nowhere", Incarnation: "x", Grants: run.Grants{Tools: []string{"fake"}}}
	require.Equal(t, fault.RunNotFound, f.code(unknown, "call_1", refused))
	require.Zero(t, f.tool.Executions())
}

func TestRefusalLimitHidesTheReasons(t *testing.T) {
	f := newFixture(t)
	rc := f.open("r1", func(r *application.OpenRequest) { r.MaxRefusals = ptr[int64](2) })
	refused := fake.Script{Refuse: &fake.Refusal{Code: fault.QueryRejected, Reason: "UNKNOWN_COLUMN"}}.JSON()
	f.call(rc, "call_1", answer(`[1]`))
	for range 3 {
		require.Equal(t, fault.DuplicateToolCall, f.code(rc, "call_1", answer(`[1]`)), "duplicates do not count")
	}
	for range 2 {
		require.Equal(t, fault.QueryRejected, f.code(rc, "call_2", refused))
	}
	res := f.call(rc, "call_2", refused)
	requireFault(t, fault.RefusalLimitReached, res)
	require.Empty(t, res.Fault.Reason)
	require.Nil(t, f.call(rc, "call_3", answer(`[1]`)).Fault, "a valid call still runs")
}

func TestS17_References(t *testing.T) {
	f := newFixture(t)
	rc := f.open("r1")
	f.call(rc, "found", answer(`[1]`))
	f.call(rc, "none", answer(`[]`))
	f.call(rc, "failed", fake.Script{Do: fake.Fail, Code: fault.ExecutionFailed}.JSON())
	go f.call(rc, "running", fake.Script{Do: fake.Block}.JSON())
	require.NoError(t, f.tool.Await(t.Context(), func(t *fake.Executor) bool { return t.Running() == 1 }))

	judged, err := f.svc.References(t.Context(), harness, "r1", []application.Reference{
		{ToolCallID: "found"}, {ToolCallID: "none"}, {ToolCallID: "failed"}, {ToolCallID: "running"},
		{ToolCallID: "never"},
		{ToolCallID: ""}, {ToolCallID: "a b"}, {RunID: "r2", ToolCallID: "found"}, {RunID: "r1", ToolCallID: "found"},
	})
	require.NoError(t, err)
	require.Equal(t, []evidence.Judgement{
		evidence.Observe("found", evidence.Found), evidence.Observe("none", evidence.None),
		evidence.NotEvidence("failed", evidence.ReferenceError),
		evidence.NotEvidence("running", evidence.ReferenceProjecting),
		evidence.NotEvidence("never", evidence.ReferenceNotFound),
		evidence.NotEvidence("", evidence.ReferenceIDInvalid),
		evidence.NotEvidence("a b", evidence.ReferenceIDInvalid),
		evidence.NotEvidence("found", evidence.ReferenceRunMismatch),
		evidence.Observe("found", evidence.Found),
	}, judged)
	_, err = f.svc.References(t.Context(), harness, "r9", nil)
	require.Equal(t, fault.RunNotFound, fault.CodeOf(err))
	_, err = f.svc.References(t.Context(), harness, "r1", make([]application.Reference, application.MaxReferences+1))
	require.Equal(t, fault.RequestInvalid, fault.CodeOf(err))
	f.end("r1", run.Cancelled) // ends the running call
}

func TestOpenRefusesWhatPassesACeiling(t *testing.T) {
	f := newFixture(t, func(o *application.Options) { o.Ceilings.Budget.MaxCallsPerTool = map[string]int64{"fake": 5} })
	grants := run.Grants{Tools: []string{"fake"}, DataSources: []string{"shop"}}
	for name, c := range map[string]struct {
		req  application.OpenRequest
		code fault.Code
	}{
		"run id":   {application.OpenRequest{RunID: "a b", Grants: grants}, fault.RequestInvalid},
		"no tools": {application.OpenRequest{RunID: "r"}, fault.RequestInvalid},
		"unknown tool": {application.OpenRequest{RunID: "r", Grants: run.Grants{Tools: []string{"x"}}},
			fault.ToolUnknown},
		"unknown source": {application.OpenRequest{RunID: "r",
			Grants: run.Grants{Tools: []string{"fake"}, DataSources: []string{"x"}}}, fault.DataSourceUnknown},
		"ttl over": {application.OpenRequest{RunID: "r", Grants: grants, TTL: ptr(time.Hour + 1)},
			fault.RequestInvalid},
		"ttl zero": {application.OpenRequest{RunID: "r", Grants: grants, TTL: ptr(time.Duration(0))},
			fault.RequestInvalid},
		"calls over": {application.OpenRequest{RunID: "r", Grants: grants, MaxCalls: ptr[int64](51)},
			fault.RequestInvalid},
		"calls negative": {application.OpenRequest{RunID: "r", Grants: grants, MaxCalls: ptr[int64](-1)},
			fault.RequestInvalid},
		"bytes over": {application.OpenRequest{RunID: "r", Grants: grants, MaxBytes: ptr[int64](2 << 20)},
			fault.RequestInvalid},
		"refusals over": {application.OpenRequest{RunID: "r", Grants: grants, MaxRefusals: ptr[int64](26)},
			fault.RequestInvalid},
		"per tool, not its": {application.OpenRequest{RunID: "r", Grants: grants,
			MaxCallsPerTool: map[string]int64{"other": 1}}, fault.RequestInvalid},
		"per tool over": {application.OpenRequest{RunID: "r", Grants: grants,
			MaxCallsPerTool: map[string]int64{"fake": 6}}, fault.RequestInvalid},
		"per tool negative": {application.OpenRequest{RunID: "r", Grants: grants,
			MaxCallsPerTool: map[string]int64{"fake": -1}}, fault.RequestInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := f.svc.Open(t.Context(), harness, c.req)
			require.Equal(t, c.code, fault.CodeOf(err))
		})
	}
	f.open("r1")
	_, _, err := f.svc.Open(t.Context(), harness, application.OpenRequest{RunID: "r1", Grants: grants})
	require.Equal(t, fault.RunExists, fault.CodeOf(err))
	_, token, err := f.svc.Token(t.Context(), harness, "r1")
	require.NoError(t, err)
	require.Equal(t, "token-of-r1", token)
	f.end("r1", run.Completed)
	_, _, err = f.svc.Token(t.Context(), harness, "r1")
	require.Equal(t, fault.RunInactive, fault.CodeOf(err), "an ended run gets no more tokens")
}

func TestCatalogueRefusesWhatCannotBeServed(t *testing.T) {
	good := tool.Description{Name: "a", ReadOnly: true, InputSchema: json.RawMessage(`{}`),
		OutputSchema: json.RawMessage(`{}`)}
	entry := func(change func(*tool.Description)) toolset.Entry {
		d := good
		change(&d)
		return toolset.Entry{Executor: fake.NewExecutor(d, tool.Plan{}), Projector: fake.Projector{}}
	}
	_, err := application.NewCatalogue(
		entry(func(*tool.Description) {}), entry(func(*tool.Description) {}),
		entry(func(d *tool.Description) { d.Name = "B" }),
		entry(func(d *tool.Description) { d.Name = "c"; d.ReadOnly = false }),
		entry(func(d *tool.Description) { d.Name = "d"; d.InputSchema = nil }),
		toolset.Entry{Executor: fake.NewExecutor(
			tool.Description{Name: "e", ReadOnly: true, InputSchema: good.InputSchema, OutputSchema: good.OutputSchema},
			tool.Plan{})},
	)
	for _, want := range []string{"two tools have this name", `"B"`, "not read-only", "must be JSON", "no projector"} {
		require.ErrorContains(t, err, want)
	}
}

func TestAuthenticate(t *testing.T) {
	f := newFixture(t)
	c, err := f.svc.Authenticate("harness-key")
	require.NoError(t, err)
	require.Equal(t, "h", c.Harness)
	require.NoError(t, c.RequireHarness())
	for _, bearer := range []string{"", "harness-ke", "harness-key ", "token"} {
		_, err := f.svc.Authenticate(bearer)
		require.Equal(t, fault.Unauthenticated, fault.CodeOf(err))
	}
	require.Equal(t, fault.Forbidden, fault.CodeOf(
		application.Caller{Agent: &application.RunContext{}}.RequireHarness()))
}

// TestAnEarlierIncarnationReadsNothing plays a token of a run whose id was given to another run.
func TestAnEarlierIncarnationReadsNothing(t *testing.T) {
	f := newFixture(t)
	rc := f.open("r1")
	require.Nil(t, f.call(rc, "call_1", answer(`[1]`)).Fault)
	old := rc
	old.Incarnation = "an-earlier-one"
	_, err := f.svc.Result(t.Context(), application.Caller{Agent: &old}, "r1", "call_1")
	require.Equal(t, fault.RunNotFound, fault.CodeOf(err))
	res, err := f.svc.Result(t.Context(), application.Caller{Agent: &rc}, "r1", "call_1")
	require.NoError(t, err)
	require.NotEmpty(t, res.AgentResult)
	_, err = f.svc.Result(t.Context(), application.Caller{Harness: "h"}, "nowhere", "call_1")
	require.Equal(t, fault.RunNotFound, fault.CodeOf(err))
}

// TestAHarnessIsNotToldOfAnEarlierIncarnation opens a run anew behind the cache's back. The call
// succeeds, and it is reported once: also a refusal, and a run that is gone for good.
func TestAHarnessIsNotToldOfAnEarlierIncarnation(t *testing.T) {
	refused := fake.Script{Refuse: &fake.Refusal{Code: fault.QueryRejected}}.JSON()
	for name, c := range map[string]struct {
		reopened bool
		request  json.RawMessage
		code     fault.Code
	}{
		"an answer":       {true, answer(`[1]`), ""},
		"a refusal":       {true, refused, fault.QueryRejected},
		"no run any more": {false, answer(`[1]`), fault.RunNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			var outcomes []application.Outcome
			f := newFixture(t, func(o *application.Options) {
				o.Observe = func(o application.Outcome) { outcomes = append(outcomes, o) }
			})
			f.open("r1")
			f.store.Store = memory.New(wall{}) // everything is gone, as after a flush
			if c.reopened {
				_, err := f.store.Open(t.Context(), run.Run{
					ID: "r1", Incarnation: "new", State: run.Active, TTL: time.Hour, RecordTTL: time.Hour,
					Grants: run.Grants{Tools: []string{"fake"}},
					Budget: run.Budget{MaxCalls: 1, MaxBytes: 1000, MaxRefusals: 1},
				})
				require.NoError(t, err)
			}
			call := application.Call{RunID: "r1", ToolCallID: "call_1", ToolName: "fake", Request: c.request}
			require.Equal(t, c.code, codeOf(f.svc.Invoke(t.Context(), harness, call)))
			require.Len(t, f.logs.FilterMessage("invocation").All(), 1)
			require.Len(t, outcomes, 1)
			require.Equal(t, c.code, outcomes[0].Code)
		})
	}
}

// TestAgentsMayNotDoWhatHarnessesMay asks for everything that is a harness's with an agent's token.
func TestAgentsMayNotDoWhatHarnessesMay(t *testing.T) {
	f := newFixture(t)
	rc := f.open("r1")
	require.Nil(t, f.call(rc, "call_1", answer(`[1]`)).Fault)
	agent, ctx := application.Caller{Agent: &rc}, t.Context()
	for name, ask := range map[string]func() error{
		"open": func() error {
			_, _,
				err := f.svc.Open(ctx, agent, application.OpenRequest{RunID: "r2"})
			return err
		},
		"token":      func() error { _, _, err := f.svc.Token(ctx, agent, "r1"); return err },
		"find":       func() error { _, err := f.svc.Find(ctx, agent, "r1"); return err },
		"end":        func() error { _, err := f.svc.End(ctx, agent, "r1", run.Cancelled); return err },
		"record":     func() error { _, err := f.svc.Record(ctx, agent, "r1", "call_1"); return err },
		"references": func() error { _, err := f.svc.References(ctx, agent, "r1", nil); return err },
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, fault.Forbidden, fault.CodeOf(ask())) })
	}
	require.Nil(t, f.call(rc, "call_2", answer(`[1]`)).Fault, "the run goes on")
}

// TestS02_AnAgentReadsItsOwnRunOnly asks for a result of another run: it is refused and counted in
// the agent's own run.
func TestS02_AnAgentReadsItsOwnRunOnly(t *testing.T) {
	f := newFixture(t)
	f.open("r2")
	rc := f.open("r1")
	_, err := f.svc.Result(t.Context(), application.Caller{Agent: &rc}, "r2", "call_1")
	require.Equal(t, fault.RunMismatch, fault.CodeOf(err))
	o, err := f.svc.Find(t.Context(), harness, "r1")
	require.NoError(t, err)
	require.EqualValues(t, 1, o.Run.Usage.Refusals)
}

// TestContextsAreBounded opens more runs than the cache of run contexts holds.
func TestContextsAreBounded(t *testing.T) {
	f := newFixture(t)
	for i := range 2 * application.MaxContexts {
		f.open(run.ID(fmt.Sprintf("r%d", i)))
		require.LessOrEqual(t, f.svc.Contexts(), application.MaxContexts)
	}
}

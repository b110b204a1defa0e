package application_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/adapters/memory"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/domain/tool"
)

// refusals is every preflight refusal: nothing runs, no record exists, no call is spent (S42).
func TestPreflightRefusals(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65)
	for _, c := range []struct {
		name   string
		change func(e *application.Envelope)
		code   fault.Code
		reason string
	}{
		{"S01 blank id", func(e *application.Envelope) { e.ToolCallID = "" }, fault.ToolCallIDInvalid, ""},
		{"S01 unsafe id", func(e *application.Envelope) { e.ToolCallID = "a b" }, fault.ToolCallIDInvalid, ""},
		{"S02 another run", func(e *application.Envelope) { e.RunID = "r2" }, fault.RunMismatch, ""},
		{"S03 no object", func(e *application.Envelope) { e.Request = json.RawMessage(`[1]`) }, fault.RequestInvalid, "NOT_AN_OBJECT"},
		{"S03 empty", func(e *application.Envelope) { e.Request = nil }, fault.RequestInvalid, "NOT_AN_OBJECT"},
		{"S03 duplicate member", func(e *application.Envelope) { e.Request = json.RawMessage(`{"answer":1,"answer":2}`) }, fault.RequestInvalid, "DUPLICATE_MEMBER"},
		{"S03 duplicate within", func(e *application.Envelope) { e.Request = json.RawMessage(`{"answer":{"a":1,"\u0061":2}}`) }, fault.RequestInvalid, "DUPLICATE_MEMBER"},
		{"S03 invalid UTF-8", func(e *application.Envelope) { e.Request = json.RawMessage("{\"answer\":\"\xff\"}") }, fault.RequestInvalid, "JSON"},
		{"S03 trailing data", func(e *application.Envelope) { e.Request = json.RawMessage(`{} {}`) }, fault.RequestInvalid, "TRAILING_DATA"},
		{"S03 nesting", func(e *application.Envelope) { e.Request = json.RawMessage(deep) }, fault.RequestInvalid, "NESTING"},
		{"S03 cut", func(e *application.Envelope) { e.Request = json.RawMessage(`{"answer":`) }, fault.RequestInvalid, "JSON"},
		{"S04 not authorized", func(e *application.Envelope) { e.ToolName = "other"; e.Authorized = false }, fault.ToolNotAuthorized, ""},
		{"S04 unknown member", func(e *application.Envelope) { e.Request = json.RawMessage(`{"authorized":true}`) }, fault.RequestInvalid, "SCRIPT"},
		{"S05 not read-only", func(e *application.Envelope) { e.ReadOnly = false }, fault.ToolNotReadOnly, ""},
		{"unknown tool", func(e *application.Envelope) { e.ToolName = "none" }, fault.ToolUnknown, ""},
		{"S09 too large", func(e *application.Envelope) {
			e.Request = json.RawMessage(`{"answer":"` + strings.Repeat("x", int(testLimits.Request)) + `"}`)
		}, fault.RequestTooLarge, ""},
		{"S33 unknown source", func(e *application.Envelope) { e.Request = json.RawMessage(`{"data_source":"hr"}`) }, fault.DataSourceUnknown, ""},
		{"S32 refused by the tool", func(e *application.Envelope) {
			e.Request = fake.Script{Refuse: &fake.Refusal{Code: fault.QueryRejected, Reason: "WRITE"}}.JSON()
		}, fault.QueryRejected, "WRITE"},
		{"Prepare panics", func(e *application.Envelope) { e.Request = fake.Script{PreparePanic: "canary"}.JSON() }, fault.Internal, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			rc := f.open("r1")
			f.open("r2")
			e := f.svc.Catalogue.Envelope(rc, "r1", "call_1", "fake", answer(`[1]`))
			c.change(&e)
			res := f.svc.Boundary.Invoke(t.Context(), rc, e)
			require.Equal(t, c.code, res.Fault.Code)
			require.Equal(t, c.reason, res.Fault.Reason)
			require.Equal(t, evidence.Error, res.EvidenceStatus)
			require.False(t, res.Recorded)
			require.Nil(t, res.AgentResult)
			require.Zero(t, f.tool.Executions())
			require.Zero(t, f.store.begins)
			require.Equal(t, 1, f.store.refusals, "one round trip")
			o, err := f.svc.Runs.Overview(t.Context(), "r1")
			require.NoError(t, err)
			require.Zero(t, o.Run.Usage.Calls)
			require.Empty(t, o.Invocations)
			require.Equal(t, c.code, o.Run.Refusals[0].Code, "counted in the caller's own run")
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
	refused := fake.Script{Refuse: &fake.Refusal{Code: fault.QueryRejected, Reason: "UNKNOWN_COLUMN", Detail: "customers.ssn is not available"}}.JSON()
	f := newFixture(t)
	for name, c := range map[string]struct {
		end  func(id run.ID)
		code fault.Code
	}{
		"cancelled": {func(id run.ID) { _, _ = f.svc.Runs.End(t.Context(), id, run.Cancelled) }, fault.RunInactive},
		"completed": {func(id run.ID) { _, _ = f.svc.Runs.End(t.Context(), id, run.Completed) }, fault.RunInactive},
		"deadline":  {func(run.ID) { time.Sleep(5 * time.Millisecond) }, fault.RunDeadlineExceeded},
	} {
		rc := f.open(run.ID(name), func(r *application.OpenRequest) { r.TTL = ptr(time.Minute) })
		if name == "deadline" {
			rc = f.open("deadline2", func(r *application.OpenRequest) { r.TTL = ptr(time.Millisecond) })
		}
		c.end(rc.RunID)
		for id, request := range map[string]json.RawMessage{"call_1": refused, "bad id": answer(`1`), "call_2": answer(`[1]`)} {
			res := f.call(rc, id, request)
			require.Equal(t, c.code, res.Fault.Code, "%s %s", name, id)
			require.Empty(t, res.Fault.Reason+res.Fault.Detail)
		}
	}
	unknown := application.RunContext{RunID: "nowhere", Incarnation: "x", Grants: run.Grants{Tools: []string{"fake"}}}
	require.Equal(t, fault.RunNotFound, f.call(unknown, "call_1", refused).Fault.Code)
	require.Zero(t, f.tool.Executions())
}

func TestRefusalLimitHidesTheReasons(t *testing.T) {
	f := newFixture(t)
	rc := f.open("r1", func(r *application.OpenRequest) { r.MaxRefusals = ptr[int64](2) })
	refused := fake.Script{Refuse: &fake.Refusal{Code: fault.QueryRejected, Reason: "UNKNOWN_COLUMN"}}.JSON()
	f.call(rc, "call_1", answer(`[1]`))
	for range 3 {
		require.Equal(t, fault.DuplicateToolCall, f.call(rc, "call_1", answer(`[1]`)).Fault.Code, "duplicates do not count")
	}
	for range 2 {
		require.Equal(t, fault.QueryRejected, f.call(rc, "call_2", refused).Fault.Code)
	}
	res := f.call(rc, "call_2", refused)
	require.Equal(t, fault.RefusalLimitReached, res.Fault.Code)
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

	judged, err := f.svc.Runs.Judge(t.Context(), "r1", []application.Reference{
		{ToolCallID: "found"}, {ToolCallID: "none"}, {ToolCallID: "failed"}, {ToolCallID: "running"}, {ToolCallID: "never"},
		{ToolCallID: ""}, {ToolCallID: "a b"}, {RunID: "r2", ToolCallID: "found"}, {RunID: "r1", ToolCallID: "found"},
	})
	require.NoError(t, err)
	require.Equal(t, []evidence.Judgement{
		evidence.Observe("found", evidence.Found), evidence.Observe("none", evidence.None),
		evidence.NotEvidence("failed", evidence.ReferenceError), evidence.NotEvidence("running", evidence.ReferenceProjecting),
		evidence.NotEvidence("never", evidence.ReferenceNotFound), evidence.NotEvidence("", evidence.ReferenceIDInvalid),
		evidence.NotEvidence("a b", evidence.ReferenceIDInvalid), evidence.NotEvidence("found", evidence.ReferenceRunMismatch),
		evidence.Observe("found", evidence.Found),
	}, judged)
	_, err = f.svc.Runs.Judge(t.Context(), "r9", nil)
	require.Equal(t, fault.RunNotFound, fault.CodeOf(err))
	_, err = f.svc.Runs.Judge(t.Context(), "r1", make([]application.Reference, application.MaxReferences+1))
	require.Equal(t, fault.RequestInvalid, fault.CodeOf(err))
	_, err = f.svc.Runs.End(t.Context(), "r1", run.Cancelled) // ends the running call
	require.NoError(t, err)
}

func TestOpenRefusesWhatPassesACeiling(t *testing.T) {
	f := newFixture(t)
	grants := run.Grants{Tools: []string{"fake"}, DataSources: []string{"shop"}}
	for name, c := range map[string]struct {
		req  application.OpenRequest
		code fault.Code
	}{
		"run id":            {application.OpenRequest{RunID: "a b", Grants: grants}, fault.RequestInvalid},
		"no tools":          {application.OpenRequest{RunID: "r"}, fault.RequestInvalid},
		"unknown tool":      {application.OpenRequest{RunID: "r", Grants: run.Grants{Tools: []string{"x"}}}, fault.ToolUnknown},
		"unknown source":    {application.OpenRequest{RunID: "r", Grants: run.Grants{Tools: []string{"fake"}, DataSources: []string{"x"}}}, fault.DataSourceUnknown},
		"ttl over":          {application.OpenRequest{RunID: "r", Grants: grants, TTL: ptr(time.Hour + 1)}, fault.RequestInvalid},
		"ttl zero":          {application.OpenRequest{RunID: "r", Grants: grants, TTL: ptr(time.Duration(0))}, fault.RequestInvalid},
		"calls over":        {application.OpenRequest{RunID: "r", Grants: grants, MaxCalls: ptr[int64](51)}, fault.RequestInvalid},
		"calls negative":    {application.OpenRequest{RunID: "r", Grants: grants, MaxCalls: ptr[int64](-1)}, fault.RequestInvalid},
		"bytes over":        {application.OpenRequest{RunID: "r", Grants: grants, MaxBytes: ptr[int64](2 << 20)}, fault.RequestInvalid},
		"refusals over":     {application.OpenRequest{RunID: "r", Grants: grants, MaxRefusals: ptr[int64](26)}, fault.RequestInvalid},
		"per tool, not its": {application.OpenRequest{RunID: "r", Grants: grants, MaxCallsPerTool: map[string]int64{"other": 1}}, fault.RequestInvalid},
		"per tool negative": {application.OpenRequest{RunID: "r", Grants: grants, MaxCallsPerTool: map[string]int64{"fake": -1}}, fault.RequestInvalid},
	} {
		_, _, err := f.svc.Runs.Open(t.Context(), c.req)
		require.Equal(t, c.code, fault.CodeOf(err), name)
	}
	f.open("r1")
	_, _, err := f.svc.Runs.Open(t.Context(), application.OpenRequest{RunID: "r1", Grants: grants})
	require.Equal(t, fault.RunExists, fault.CodeOf(err))
	_, token, err := f.svc.Runs.Token(t.Context(), "r1")
	require.NoError(t, err)
	require.Equal(t, "token-of-r1", token)
}

func TestCatalogueRefusesWhatCannotBeServed(t *testing.T) {
	good := tool.Description{Name: "a", ReadOnly: true, InputSchema: json.RawMessage(`{}`), OutputSchema: json.RawMessage(`{}`)}
	entry := func(change func(*tool.Description)) application.Entry {
		d := good
		change(&d)
		return application.Entry{Executor: fake.NewExecutor(d, tool.Plan{}), Projector: fake.Projector{}}
	}
	_, err := application.NewCatalogue(
		entry(func(*tool.Description) {}), entry(func(*tool.Description) {}),
		entry(func(d *tool.Description) { d.Name = "B" }),
		entry(func(d *tool.Description) { d.Name = "c"; d.ReadOnly = false }),
		entry(func(d *tool.Description) { d.Name = "d"; d.InputSchema = nil }),
		application.Entry{Executor: fake.NewExecutor(tool.Description{Name: "e", ReadOnly: true, InputSchema: good.InputSchema, OutputSchema: good.OutputSchema}, tool.Plan{})},
	)
	for _, want := range []string{"registered twice", `"B"`, "not read-only", "must be JSON", "no projector"} {
		require.ErrorContains(t, err, want)
	}
}

func TestAuthenticate(t *testing.T) {
	f := newFixture(t)
	c, err := f.svc.Auth.Authenticate("harness-key")
	require.NoError(t, err)
	require.Equal(t, "h", c.Harness)
	require.NoError(t, c.RequireHarness())
	for _, bearer := range []string{"", "harness-ke", "harness-key ", "token"} {
		_, err := f.svc.Auth.Authenticate(bearer)
		require.Equal(t, fault.Unauthenticated, fault.CodeOf(err))
	}
	require.Equal(t, fault.Forbidden, fault.CodeOf(application.Caller{Agent: &application.RunContext{}}.RequireHarness()))
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

// TestAHarnessIsNotToldOfAnEarlierIncarnation reopens a run behind the cache's back.
func TestAHarnessIsNotToldOfAnEarlierIncarnation(t *testing.T) {
	f := newFixture(t)
	f.open("r1")
	f.store.Store = memory.New(wall{}) // everything is gone, as after a flush
	other, err := f.store.Open(t.Context(), run.Run{ID: "r1", Incarnation: "new", State: run.Active, TTL: time.Hour, RecordTTL: time.Hour,
		Grants: run.Grants{Tools: []string{"fake"}}, Budget: run.Budget{MaxCalls: 1, MaxBytes: 1000, MaxRefusals: 1}})
	require.NoError(t, err)
	require.Equal(t, "new", other.Incarnation)
	res := f.svc.Invoke(t.Context(), application.Caller{Harness: "h"}, "r1", "call_1", "fake", answer(`[1]`))
	require.Nil(t, res.Fault)
}

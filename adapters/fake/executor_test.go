package fake_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
)

func newTool() *fake.Executor {
	description := tool.Description{Name: "fake", ReadOnly: true, DataSources: []string{"s1"}}
	return fake.NewExecutor(description, tool.Plan{Timeout: time.Second})
}

func do(
	t *testing.T, ctx context.Context, f *fake.Executor, s fake.Script, limit limits.RawBytes,
) (json.RawMessage, error) {
	t.Helper()
	p, err := f.Prepare(s.JSON(), tool.Scope{DataSources: []string{"s1"}})
	require.NoError(t, err)
	require.Equal(t, time.Second, p.Timeout)
	return f.Execute(ctx, p, limit)
}

func TestS26_ScriptedTool(t *testing.T) {
	f := newTool()
	raw, err := do(t, t.Context(), f, fake.Script{Answer: json.RawMessage(`{"a":[1,12345678901234567890]}`)}, 100)
	require.NoError(t, err)
	require.Equal(t, `{"a":[1,12345678901234567890]}`, string(raw))

	_, err = do(t, t.Context(), f, fake.Script{Do: fake.Fail, Code: fault.DataSourceBusy, Reason: "R"}, 100)
	require.Equal(t, fault.DataSourceBusy, fault.CodeOf(err))
	_, err = do(t, t.Context(), f, fake.Script{Do: fake.Leak, Text: "secret"}, 100)
	require.EqualError(t, err, "secret")
	panics := fake.Script{Do: fake.Panic, Text: "boo"}
	require.PanicsWithValue(t, "boo", func() { _, _ = do(t, t.Context(), f, panics, 100) })
	require.Equal(t, 4, f.Executions())
	require.Zero(t, f.Running())
}

func TestS20_FloodStopsAtTheLimit(t *testing.T) {
	f := newTool()
	raw, err := do(t, t.Context(), f, fake.Script{Do: fake.Flood, Bytes: 5000}, 5000)
	require.NoError(t, err)
	require.Len(t, raw, 5000)
	require.True(t, json.Valid(raw))
	_, err = do(t, t.Context(), f, fake.Script{Do: fake.Flood, Bytes: 5001}, 5000)
	require.Equal(t, fault.ResultTooLarge, fault.CodeOf(err))
	raw, err = do(t, t.Context(), f, fake.Script{Do: fake.Oversize, Bytes: 5001}, 5000)
	require.NoError(t, err)
	require.Len(t, raw, 5001)
}

func TestScriptIsStrict(t *testing.T) {
	f := newTool()
	for _, bad := range []string{`{"unknown":1}`, `[]`, `{"do":"dance"}`, `{"do":"fail","code":"X"}`, `{} {}`} {
		_, err := f.Prepare(json.RawMessage(bad), tool.Scope{})
		require.Equal(t, fault.RequestInvalid, fault.CodeOf(err), bad)
	}
	_, err := f.Prepare(fake.Script{DataSource: "s1"}.JSON(), tool.Scope{})
	require.Equal(t, fault.DataSourceUnknown, fault.CodeOf(err))
	refusal := fake.Refusal{Code: fault.QueryRejected, Reason: "R", Detail: "d"}
	_, err = f.Prepare(fake.Script{Refuse: &refusal}.JSON(), tool.Scope{})
	require.Equal(t, fault.Because(fault.QueryRejected, "R", "d"), err)
	require.Zero(t, f.Executions())
}

func TestS36_WaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTool()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := do(t, ctx, f, fake.Script{Do: fake.Block}, 100)
		require.Equal(t, fault.ExecutionTimeout, fault.CodeOf(err))

		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := do(t, t.Context(), f, fake.Script{Do: fake.Hold, Answer: json.RawMessage("1")}, 100)
			require.NoError(t, err)
		})
		holds := func(f *fake.Executor) bool { return f.Executions() == 2 && f.Running() == 1 }
		require.NoError(t, f.Await(t.Context(), holds))
		f.Release()
		f.Release()
		wg.Wait()
	})
}

func TestS13_ScriptedProjector(t *testing.T) {
	p, err := fake.Projector{}.Project(json.RawMessage(`[1,"long text",3,4]`), tool.Bounds{Rows: 3, CellBytes: 7})
	require.NoError(t, err)
	require.Equal(t, evidence.Found, p.Status)
	require.Equal(t, `{"items":[1,"[cut]",3],"truncated":true,"truncated_by":["cells"]}`, string(p.AgentResult))
	p, err = fake.Projector{}.Project(json.RawMessage(`null`), tool.Bounds{})
	require.NoError(t, err)
	require.Equal(t, evidence.None, p.Status)
	require.Equal(t, `{"items":[],"truncated":false}`, string(p.AgentResult))

	p, err = fake.Projector{}.Project(json.RawMessage(`{"project":"status","text":"MAYBE"}`), tool.Bounds{})
	require.NoError(t, err)
	require.Error(t, p.Check())
	_, err = fake.Projector{}.Project(json.RawMessage(`{"project":"error","text":"x"}`), tool.Bounds{})
	require.EqualError(t, err, "x")
	require.Panics(t, func() { _, _ = fake.Projector{}.Project(json.RawMessage(`{"project":"panic"}`), tool.Bounds{}) })
	p, err = fake.Projector{}.Project(json.RawMessage(`{"project":"oversize"}`), tool.Bounds{AgentResult: 50})
	require.NoError(t, err)
	require.Greater(t, len(p.AgentResult), 50)
}

func TestClockMovesWhenTold(t *testing.T) {
	c := fake.NewClock(time.Unix(100, 0))
	require.Equal(t, time.Unix(100, 0), c.Now())
	require.Equal(t, time.Unix(160, 0), c.Advance(time.Minute))
	require.Panics(t, func() { c.Advance(-1) })
	require.Equal(t, time.Unix(160, 0), c.Now())
}

package executortest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

var prepareCases = []kit.Case[Subject]{
	{Name: "Describe/IsConstant", Scenarios: []string{"S05"},
		Rule: "The description is always the same: a stable name, JSON Schemas of objects, sorted data sources, " +
			"and ReadOnly.",
		Promises: []string{"Executor.Describe#1"}, Body: describeIsConstant},
	{Name: "Prepare/AcceptsAndLeavesTheRequest", Scenarios: []string{"S30"},
		Rule:     "A valid request becomes a plan, concurrently too; its bytes are neither changed nor kept.",
		Promises: []string{"Executor.Prepare#1", "Executor.Prepare#4", "Executor.Prepare#5"}, Body: prepareAccepts},
	{Name: "Prepare/RefusesUnknownMembers", Scenarios: []string{"S04", "S34"},
		Rule: "A member that the tool does not know, also one that differs by letter case only, is " +
			"REQUEST_INVALID.",
		Promises: []string{"Executor.Prepare#3"}, Body: prepareRefusesMembers},
	{Name: "Prepare/RefusesSourcesOutsideTheScope", Scenarios: []string{"S33"},
		Rule: "A source that was not granted is DATA_SOURCE_UNKNOWN, with the same words as one that does " +
			"not exist.",
		Promises: []string{"Executor.Prepare#3"}, Body: prepareRefusesScope},
	{Name: "Prepare/RefusesWithItsCode", Scenarios: []string{"S23", "S32"},
		Rule:     "Each invalid request is refused with its code, and there is no plan.",
		Promises: []string{"Executor.Prepare#1"}, Body: prepareRefuses},
	{Name: "Prepare/TouchesNoSource", Scenarios: []string{"S32", "S42"},
		Rule:     "Neither an accepted nor a refused request calls the source.",
		Promises: []string{"Executor.Prepare#2"}, Body: prepareTouchesNothing},
	{Name: "Prepare/NeverPanics",
		Rule:     "Whatever JSON object is sent, Prepare answers with a plan or a fault.",
		Promises: []string{"Executor.Prepare#1", "Executor.Prepare#6"}, Body: prepareNeverPanics},
}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

func describeIsConstant(t kit.T, subject Subject) {
	executor := subject.New(t)
	d := executor.Describe()
	require.Regexp(t, nameForm, d.Name)
	require.NotEmpty(t, d.Text)
	require.True(t, d.ReadOnly)
	require.True(t, slices.IsSorted(d.DataSources))
	for _, schema := range []json.RawMessage{d.InputSchema, d.OutputSchema} {
		var s map[string]any
		require.NoError(t, json.Unmarshal(schema, &s))
		require.Equal(t, "object", s["type"])
	}
	require.Equal(t, d, executor.Describe())
}

func prepareAccepts(t kit.T, subject Subject) {
	executor := subject.New(t)
	var wg sync.WaitGroup
	failed := make([]error, 8)
	for i := range failed {
		wg.Go(func() {
			failed[i] = kit.Catch(func() error {
				return acceptsAndLeaves(t, subject, executor, fmt.Sprintf("text%d", i))
			})
		})
	}
	wg.Wait()
	for _, err := range failed {
		require.NoError(t, err)
	}
}

func acceptsAndLeaves(t kit.T, subject Subject, executor ports.Executor, text string) error {
	request := subject.Echo(text)
	before := slices.Clone(request)
	plan, err := executor.Prepare(request, subject.Scope)
	if err != nil {
		return err
	}
	if string(before) != string(request) {
		return fmt.Errorf("the request was changed to %s", request)
	}
	for j := range request { // whoever kept the bytes now holds nonsense
		request[j] = ' '
	}
	return answers(t, executor, plan, text)
}

func answers(t kit.T, executor ports.Executor, plan tool.Plan, text string) error {
	raw, err := executor.Execute(t.Context(), plan, enough)
	if err == nil && (!json.Valid(raw) || !strings.Contains(string(raw), text)) {
		err = fmt.Errorf("%s does not contain %q", raw, text)
	}
	return err
}

func prepareRefusesMembers(t kit.T, subject Subject) {
	executor := subject.New(t)
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(subject.Echo("a"), &members))
	variants := []map[string]json.RawMessage{maps.Clone(members)}
	variants[0]["authorized"] = json.RawMessage("true")
	for name := range members {
		for _, other := range []string{strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:]} {
			renamed := maps.Clone(members)
			delete(renamed, name)
			renamed[other] = members[name]
			both := maps.Clone(members)
			both[other] = members[name]
			variants = append(variants, renamed, both)
		}
	}
	for _, v := range variants {
		request, err := json.Marshal(v)
		require.NoError(t, err)
		_, err = executor.Prepare(request, subject.Scope)
		requireCode(t, fault.RequestInvalid, err, "%s", request)
	}
}

func prepareRefusesScope(t kit.T, subject Subject) {
	executor := subject.New(t)
	plan, err := executor.Prepare(subject.Echo("a"), subject.Scope)
	require.NoError(t, err)
	require.NotEmpty(t, plan.DataSource, "the plan names its source")
	_, none := executor.Prepare(subject.Echo("a"), tool.Scope{})
	hidden := requireCode(t, fault.DataSourceUnknown, none)

	elsewhere := strings.ReplaceAll(string(subject.Echo("a")), `"`+plan.DataSource+`"`, `"no_such_source"`)
	wide := tool.Scope{DataSources: append(slices.Clone(subject.Scope.DataSources), "no_such_source")}
	_, unknown := executor.Prepare(json.RawMessage(elsewhere), wide)
	absent := requireCode(t, fault.DataSourceUnknown, unknown)
	require.Equal(t, hidden.Error(), absent.Error())
	require.Equal(t, hidden.Reason+hidden.Detail, absent.Reason+absent.Detail)
}

func prepareRefuses(t kit.T, subject Subject) {
	executor := subject.New(t)
	require.NotEmpty(t, subject.Refused)
	for _, r := range subject.Refused {
		plan, err := executor.Prepare(r.Request, subject.Scope)
		requireCode(t, r.Code, err, "%s: %s", r.Why, r.Request)
		require.Zero(t, plan)
		speaksSafely(t, subject, err)
	}
}

func prepareTouchesNothing(t kit.T, subject Subject) {
	executor := subject.New(t)
	before := subject.Calls(t)
	for range 20 {
		_, err := executor.Prepare(subject.Echo("a"), subject.Scope)
		require.NoError(t, err)
		for _, r := range subject.Refused {
			_, err := executor.Prepare(r.Request, subject.Scope)
			require.Error(t, err)
		}
	}
	require.Equal(t, before, subject.Calls(t))
}

func prepareNeverPanics(t kit.T, subject Subject) {
	executor := subject.New(t)
	values := []string{
		`null`, `true`, `-0`, `1e400`, `""`, `"\u0000"`, `"é😀"`, `[]`, `[[[]]]`, `[{"a":[null]}]`, `{}`,
		`{"":{"":null}}`,
		`"` + strings.Repeat("(", 5000) + `"`,
	}
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(subject.Echo("a"), &members))
	for name := range members {
		for _, v := range values {
			changed := maps.Clone(members)
			changed[name] = json.RawMessage(v)
			request, err := json.Marshal(changed)
			require.NoError(t, err)
			if _, err := executor.Prepare(request, subject.Scope); err != nil {
				requireFault(t, err, "%s", request)
			}
		}
	}
	if _, err := executor.Prepare(json.RawMessage(`{}`), subject.Scope); err != nil {
		requireFault(t, err)
	}
}

// requireFault requires that the error is a fault, and returns it.
func requireFault(t kit.T, err error, where ...any) *fault.Error {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f, where...)
	require.NotNil(t, f, where...)
	return f
}

// requireCode requires that the error is a fault with this code, and returns it.
func requireCode(t kit.T, code fault.Code, err error, where ...any) *fault.Error {
	t.Helper()
	f := requireFault(t, err, where...)
	require.Equal(t, code, f.Code, where...)
	return f
}

// speaksSafely checks every text of an error, causes included.
func speaksSafely(t kit.T, subject Subject, err error) {
	t.Helper()
	f := requireFault(t, err)
	require.True(t, f.Code.Known())
	shown := []string{f.Error(), f.Reason, f.Detail, fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)}
	if cause := f.Unwrap(); cause != nil {
		shown = append(shown, cause.Error())
	}
	for _, secret := range subject.Secrets {
		for _, s := range shown {
			require.NotContains(t, s, secret)
		}
	}
}

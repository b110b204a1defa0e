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

func prepareCases() []kit.Case[Subject] {
	return []kit.Case[Subject]{
		{Name: "Describe/IsConstant", Scenarios: []string{"S05"},
			Rule: "The description is always the same: a stable name, JSON Schemas of objects, sorted data sources, and ReadOnly.", Body: describeIsConstant},
		{Name: "Prepare/AcceptsAndLeavesTheRequest", Scenarios: []string{"S30"},
			Rule: "A valid request becomes a plan, concurrently too; its bytes are neither changed nor kept.", Body: prepareAccepts},
		{Name: "Prepare/RefusesUnknownMembers", Scenarios: []string{"S04", "S34"},
			Rule: "A member that the tool does not know, also one that differs by letter case only, is REQUEST_INVALID.", Body: prepareRefusesMembers},
		{Name: "Prepare/RefusesSourcesOutsideTheScope", Scenarios: []string{"S33"},
			Rule: "A source that was not granted is DATA_SOURCE_UNKNOWN, with the same words as one that does not exist.", Body: prepareRefusesScope},
		{Name: "Prepare/RefusesWithItsCode", Scenarios: []string{"S23", "S32"},
			Rule: "Each invalid request is refused with its code and makes no plan.", Body: prepareRefuses},
		{Name: "Prepare/TouchesNoSource", Scenarios: []string{"S32", "S42"},
			Rule: "Neither an accepted nor a refused request calls the source.", Body: prepareTouchesNothing},
		{Name: "Prepare/NeverPanics",
			Rule: "Whatever JSON object is sent, Prepare answers with a plan or a fault.", Body: prepareNeverPanics},
	}
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
			request := subject.Echo(fmt.Sprintf("text%d", i))
			before := slices.Clone(request)
			plan, err := executor.Prepare(request, subject.Scope)
			if err == nil && string(before) != string(request) {
				err = fmt.Errorf("the request was changed to %s", request)
			}
			for j := range request { // whoever kept the bytes now holds nonsense
				request[j] = ' '
			}
			if err == nil {
				err = answers(t, executor, plan, fmt.Sprintf("text%d", i))
			}
			failed[i] = err
		})
	}
	wg.Wait()
	for _, err := range failed {
		require.NoError(t, err)
	}
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
		require.Equal(t, fault.RequestInvalid, fault.CodeOf(err), "%s", request)
	}
}

func prepareRefusesScope(t kit.T, subject Subject) {
	executor := subject.New(t)
	plan, err := executor.Prepare(subject.Echo("a"), subject.Scope)
	require.NoError(t, err)
	require.NotEmpty(t, plan.DataSource, "the plan names its source")
	_, none := executor.Prepare(subject.Echo("a"), tool.Scope{})
	require.Equal(t, fault.DataSourceUnknown, fault.CodeOf(none))

	elsewhere := json.RawMessage(strings.ReplaceAll(string(subject.Echo("a")), `"`+plan.DataSource+`"`, `"no_such_source"`))
	_, unknown := executor.Prepare(elsewhere, tool.Scope{DataSources: append(slices.Clone(subject.Scope.DataSources), "no_such_source")})
	require.Equal(t, fault.Of(none).Error(), fault.Of(unknown).Error())
	require.Equal(t, fault.Of(none).Reason+fault.Of(none).Detail, fault.Of(unknown).Reason+fault.Of(unknown).Detail)
}

func prepareRefuses(t kit.T, subject Subject) {
	executor := subject.New(t)
	require.NotEmpty(t, subject.Refused)
	for _, r := range subject.Refused {
		plan, err := executor.Prepare(r.Request, subject.Scope)
		require.Equal(t, r.Code, fault.CodeOf(err), "%s: %s", r.Why, r.Request)
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
	values := []string{`null`, `true`, `-0`, `1e400`, `""`, `"\u0000"`, `"é😀"`, `[]`, `[[[]]]`, `[{"a":[null]}]`, `{}`, `{"":{"":null}}`, `"` + strings.Repeat("(", 5000) + `"`}
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(subject.Echo("a"), &members))
	for name := range members {
		for _, v := range values {
			changed := maps.Clone(members)
			changed[name] = json.RawMessage(v)
			request, err := json.Marshal(changed)
			require.NoError(t, err)
			if _, err := executor.Prepare(request, subject.Scope); err != nil {
				var f *fault.Error
				require.ErrorAs(t, err, &f, "%s", request)
			}
		}
	}
	_, err := executor.Prepare(json.RawMessage(`{}`), subject.Scope)
	var f *fault.Error
	if err != nil {
		require.ErrorAs(t, err, &f)
	}
}

// speaksSafely checks every text of an error, causes included.
func speaksSafely(t kit.T, subject Subject, err error) {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f, "every error is a fault")
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

package projectortest

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// canary is a text that no error may carry.
const canary = "canary-5d1c"

var answerCases = []kit.Case[Subject]{
	{Name: "Project/ShowsWhatWasFound", Scenarios: []string{"S37"},
		Rule:     "An answer with items is EVIDENCE_FOUND, shows every one in its order and is not marked as cut.",
		Promises: []string{"Projector.Project#1"}, Body: showsWhatWasFound},
	{Name: "Project/ReportsNothingAsNoEvidence", Scenarios: []string{"S12", "S39"},
		Rule:     "An empty answer is NO_EVIDENCE and has a result, which is not cut.",
		Promises: []string{"Projector.Project#4"}, Body: reportsNothing},
	{Name: "Project/SaysWhatWasAskedWhenEmpty", Scenarios: []string{"S12", "S38", "S39"},
		Rule: "An empty answer says in its scope what was asked; if a part of that does not fit, " +
			"the result says that it is cut.",
		Promises: []string{"Projector.Project#4"}, Body: saysWhatWasAsked},
	{Name: "Project/HidesSensitiveValues", Scenarios: []string{"S40"},
		Rule:     "A sensitive value appears nowhere in the result, however small the bounds.",
		Promises: []string{"Projector.Project#5"}, Body: hidesSensitive},
	{Name: "Project/RefusesWhatIsNoAnswer", Scenarios: []string{"S13", "S23"},
		Rule:     "A text that is not of the raw format is the fault PROJECTION_FAILED, without a word of the text.",
		Promises: []string{"Projector.Project#6"}, Body: refusesMalformed},
	{Name: "Project/IsPure",
		Rule:     "The same arguments give the same result, also concurrently; raw is not changed.",
		Promises: []string{"Projector.Project#7", "Projector.Project#8"}, Body: isPure},
	{Name: "Project/SharesNothing",
		Rule:     "Result and raw share no memory.",
		Promises: []string{"Projector.Project#8"}, Body: sharesNothing},
}

// requireCode requires that the error is a fault with this code, and returns it.
func requireCode(t kit.T, code fault.Code, err error, where ...any) *fault.Error {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f, where...)
	require.NotNil(t, f, where...)
	require.Equal(t, code, f.Code, where...)
	return f
}

func project(t kit.T, subject Subject, raw json.RawMessage, b tool.Bounds) (evidence.Projection, result) {
	t.Helper()
	p, err := subject.Projector.Project(raw, b)
	require.NoError(t, err)
	require.NoError(t, p.Check())
	return p, decode(t, p)
}

type result struct {
	Scope       json.RawMessage `json:"scope"`
	Truncated   *bool           `json:"truncated"`
	TruncatedBy []string        `json:"truncated_by"`
}

func decode(t kit.T, p evidence.Projection) result {
	t.Helper()
	var r result
	require.NoError(t, json.Unmarshal(p.AgentResult, &r), "the result is one JSON object")
	require.NotNil(t, r.Truncated, "the result says whether it was cut")
	return r
}

func showsWhatWasFound(t kit.T, subject Subject) {
	texts := []string{"first", `quo"te`, "päron 😀", "last"}
	p, r := project(t, subject, subject.Answer(texts...), tool.Bounds{})
	require.Equal(t, evidence.Found, p.Status)
	require.False(t, *r.Truncated)
	at := -1
	for _, s := range stringsOf(t, p.AgentResult) {
		if at+1 < len(texts) && s == texts[at+1] {
			at++
		}
	}
	require.Equal(t, len(texts)-1, at, "every text, in order, in %s", p.AgentResult)
}

func reportsNothing(t kit.T, subject Subject) {
	p, r := project(t, subject, subject.Answer(), tool.Bounds{})
	require.Equal(t, evidence.None, p.Status)
	require.False(t, *r.Truncated)
}

func saysWhatWasAsked(t kit.T, subject Subject) {
	const asked = `SELECT "päron" < 😀`
	raw := subject.Empty(asked)
	p, r := project(t, subject, raw, tool.Bounds{})
	require.Equal(t, evidence.None, p.Status)
	require.False(t, *r.Truncated)
	require.NotEmpty(t, r.Scope, "there is a scope in %s", p.AgentResult)
	require.Contains(t, stringsOf(t, r.Scope), asked, "in %s", p.AgentResult)
	for limit := 1; limit <= len(p.AgentResult); limit++ {
		less, err := subject.Projector.Project(raw, tool.Bounds{AgentResult: limits.AgentBytes(limit)})
		if err != nil {
			requireCode(t, fault.ResultTooLarge, err)
			continue
		}
		require.LessOrEqual(t, len(less.AgentResult), limit)
		require.Equal(t, evidence.None, less.Status)
		r := decode(t, less)
		require.NotEmpty(t, r.Scope, "limit %d: there is a scope in %s", limit, less.AgentResult)
		require.Equal(t, limit < len(p.AgentResult), *r.Truncated,
			"limit %d of %d: %s", limit, len(p.AgentResult), less.AgentResult)
	}
}

func hidesSensitive(t kit.T, subject Subject) {
	raw := subject.Sensitive(canary)
	for size := 1; size < 400; size++ {
		p, err := subject.Projector.Project(raw, tool.Bounds{CellBytes: size})
		require.NoError(t, err)
		require.NotContains(t, string(p.AgentResult), canary[:4])
	}
}

func refusesMalformed(t kit.T, subject Subject) {
	require.NotEmpty(t, subject.Malformed)
	malformed := append(slices.Clone(subject.Malformed), json.RawMessage(`{"`+canary), json.RawMessage(canary), nil)
	for _, raw := range malformed {
		p, err := subject.Projector.Project(raw, tool.Bounds{})
		f := requireCode(t, fault.ProjectionFailed, err, "%q gives %s", raw, p.AgentResult)
		require.Empty(t, p.AgentResult)
		require.NotContains(t, f.Error(), canary)
		require.NotContains(t, f.Detail, canary)
	}
}

func isPure(t kit.T, subject Subject) {
	raw := subject.Answer(manyTexts(40, "täxt \" ")...)
	before := slices.Clone(raw)
	b := tool.Bounds{Rows: 30, CellBytes: 50, AgentResult: 900}
	want, err := subject.Projector.Project(raw, b)
	require.NoError(t, err)
	var wg sync.WaitGroup
	got, errs := make([]evidence.Projection, 8), make([]error, 8)
	for i := range got {
		wg.Go(func() {
			errs[i] = kit.Catch(func() (err error) {
				got[i], err = subject.Projector.Project(raw, b)
				return err
			})
		})
	}
	wg.Wait()
	for i, p := range got {
		require.NoError(t, errs[i])
		require.Equal(t, string(want.AgentResult), string(p.AgentResult))
		require.Equal(t, want.Status, p.Status)
	}
	require.Equal(t, string(before), string(raw))
}

func sharesNothing(t kit.T, subject Subject) {
	raw := subject.Answer("some text")
	p, _ := project(t, subject, raw, tool.Bounds{})
	shown, before := slices.Clone(p.AgentResult), slices.Clone(raw)
	for i := range raw {
		raw[i] = '!'
	}
	require.Equal(t, string(shown), string(p.AgentResult))
	copy(raw, before)
	for i := range p.AgentResult {
		p.AgentResult[i] = '!'
	}
	require.Equal(t, string(before), string(raw))
}

package projectortest

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

var boundCases = []kit.Case[Subject]{
	{Name: "Bounds/ResultStaysWithinItsLimit", Scenarios: []string{"S21", "S38"},
		Rule: "Whatever the limit, the result is valid JSON within it and says when it was cut, " +
			"or the answer is RESULT_TOO_LARGE.",
		Promises: []string{"Projector.Project#2"}, Body: staysWithin},
	{Name: "Bounds/ExactlyAtTheLimitPasses", Scenarios: []string{"S22"},
		Rule:     "A result of exactly the limit is not cut; with one byte less it is, and says so.",
		Promises: []string{"Projector.Project#3"}, Body: exactly},
	{Name: "Bounds/CutsWholeRows", Scenarios: []string{"S38"},
		Rule: "No more items than bounds.Rows are shown, and the result says that it was cut; " +
			"an answer of exactly that many is not cut.",
		Promises: []string{"Projector.Project#2", "Projector.Project#3"}, Body: cutsRows},
	{Name: "Bounds/MarksCutCells", Scenarios: []string{"S38"},
		Rule: "A value over bounds.CellBytes is not shown whole, is cut between characters, and the result says so; " +
			"one of exactly that many bytes is shown whole.",
		Promises: []string{"Projector.Project#2", "Projector.Project#3"}, Body: cutsCells},
	{Name: "Bounds/NamesWhatCut", Scenarios: []string{"S38"},
		Rule:     "truncated_by names a cause, each once, exactly when truncated is true.",
		Promises: []string{"Projector.Project#3"}, Body: namesWhatCut},
	{Name: "Bounds/ZeroMeansDefault", Scenarios: []string{"S38"},
		Rule:     "Without bounds the result stays within the default limit.",
		Promises: []string{"Projector.Project#2"}, Body: defaults},
	{Name: "Bounds/CutIsStillFound", Scenarios: []string{"S12", "S38"},
		Rule:     "An answer that had items is never NO_EVIDENCE, also when no item fits.",
		Promises: []string{"Projector.Project#1"}, Body: cutIsFound},
}

func manyTexts(n int, text string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%d", strings.Repeat(text, 1+i%7), i)
	}
	return out
}

func staysWithin(t kit.T, subject Subject) {
	for _, text := range []string{"x", "漢字", `"\`, "\x01\n"} {
		raw := subject.Answer(manyTexts(9, text)...)
		whole, err := subject.Projector.Project(raw, tool.Bounds{Rows: 1000, CellBytes: 1000, AgentResult: 1 << 20})
		require.NoError(t, err)
		for limit := 1; limit < len(whole.AgentResult); limit++ {
			b := tool.Bounds{Rows: 1000, CellBytes: 1000, AgentResult: limits.AgentBytes(limit)}
			p, err := subject.Projector.Project(raw, b)
			if err != nil {
				requireCode(t, fault.ResultTooLarge, err)
				continue
			}
			require.LessOrEqual(t, len(p.AgentResult), limit)
			require.NoError(t, p.Check(), "limit %d: %s", limit, p.AgentResult)
			require.True(t, utf8.Valid(p.AgentResult))
			require.True(t, *decode(t, p).Truncated, "limit %d of %d: %s", limit, len(whole.AgentResult), p.AgentResult)
		}
	}
}

func exactly(t kit.T, subject Subject) {
	raw := subject.Answer(manyTexts(20, "é")...)
	wide := tool.Bounds{Rows: 1000, CellBytes: 1000, AgentResult: 1 << 20}
	whole, r := project(t, subject, raw, wide)
	require.False(t, *r.Truncated)

	wide.AgentResult = limits.AgentBytes(len(whole.AgentResult))
	same, _ := project(t, subject, raw, wide)
	require.Equal(t, string(whole.AgentResult), string(same.AgentResult))

	wide.AgentResult--
	less, r := project(t, subject, raw, wide)
	require.True(t, *r.Truncated)
	require.Less(t, len(less.AgentResult), len(whole.AgentResult))
}

func cutsRows(t kit.T, subject Subject) {
	raw := subject.Answer("one", "two", "three")
	p, r := project(t, subject, raw, tool.Bounds{Rows: 2})
	require.True(t, *r.Truncated)
	require.Subset(t, stringsOf(t, p.AgentResult), []string{"one", "two"})
	require.NotContains(t, stringsOf(t, p.AgentResult), "three")

	p, r = project(t, subject, raw, tool.Bounds{Rows: 3})
	require.False(t, *r.Truncated)
	require.Contains(t, stringsOf(t, p.AgentResult), "three")
}

func cutsCells(t kit.T, subject Subject) {
	for _, text := range []string{
		strings.Repeat("x", 90), strings.Repeat("漢", 30), strings.Repeat("😀", 23), strings.Repeat(`"`, 45),
	} {
		raw := subject.Answer("short", text)
		whole, err := json.Marshal(text)
		require.NoError(t, err)
		for most := 1; most < len(whole); most++ {
			p, r := project(t, subject, raw, tool.Bounds{CellBytes: most})
			require.True(t, utf8.Valid(p.AgentResult), "bound %d: %s", most, p.AgentResult)
			require.NotContains(t, string(p.AgentResult), "�")
			require.NotContains(t, stringsOf(t, p.AgentResult), text)
			require.True(t, *r.Truncated)
		}
		p, r := project(t, subject, raw, tool.Bounds{CellBytes: len(whole)})
		require.Contains(t, stringsOf(t, p.AgentResult), text, "exactly at the bound")
		require.False(t, *r.Truncated)
	}
}

func namesWhatCut(t kit.T, subject Subject) {
	raw := subject.Answer("one", strings.Repeat("two ", 30), "three")
	wide := tool.Bounds{Rows: 1000, CellBytes: 1000, AgentResult: 1 << 20}
	whole, r := project(t, subject, raw, wide)
	require.False(t, *r.Truncated)
	require.Empty(t, r.TruncatedBy)
	bounds := []tool.Bounds{{Rows: 2}, {CellBytes: 40}, {Rows: 2, CellBytes: 40}}
	for limit := range whole.AgentResult {
		bounds = append(bounds, tool.Bounds{AgentResult: limits.AgentBytes(limit + 1)})
	}
	for _, b := range bounds {
		p, err := subject.Projector.Project(raw, b.Or(wide))
		if err != nil {
			requireCode(t, fault.ResultTooLarge, err)
			continue
		}
		r := decode(t, p)
		require.Equal(t, *r.Truncated, len(r.TruncatedBy) > 0, "%+v: %s", b, p.AgentResult)
		for i, cause := range r.TruncatedBy {
			require.NotEmpty(t, cause)
			require.NotContains(t, r.TruncatedBy[:i], cause, "%+v: %s", b, p.AgentResult)
		}
	}
}

func defaults(t kit.T, subject Subject) {
	p, r := project(t, subject, subject.Answer(manyTexts(2000, "some longer text ")...), tool.Bounds{})
	require.LessOrEqual(t, len(p.AgentResult), int(limits.Default().AgentResult))
	require.True(t, *r.Truncated)
}

func cutIsFound(t kit.T, subject Subject) {
	raw := subject.Answer(strings.Repeat("long ", 200))
	for limit := 1; limit < 600; limit++ {
		p, err := subject.Projector.Project(raw, tool.Bounds{CellBytes: 2000, AgentResult: limits.AgentBytes(limit)})
		if err != nil {
			requireCode(t, fault.ResultTooLarge, err)
			continue
		}
		require.Equal(t, evidence.Found, p.Status)
	}
}

// stringsOf returns every string value of a JSON text, in order, object keys left out.
func stringsOf(t kit.T, text json.RawMessage) []string {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(text, &v))
	return collect(nil, v)
}

func collect(out []string, v any) []string {
	switch v := v.(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, e := range v {
			out = collect(out, e)
		}
	case map[string]any:
		for _, e := range v {
			out = collect(out, e)
		}
	}
	return out
}

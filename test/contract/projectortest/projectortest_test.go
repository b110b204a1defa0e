package projectortest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/contract/projectortest"
)

// plain is the smallest projector that keeps every promise; its raw format is an array of
// strings, where a string that begins with "secret:" is sensitive, or {"asked":"…"}.
type plain struct{}

func (plain) Project(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
	r, err := read(raw)
	if err != nil {
		return evidence.Projection{}, err
	}
	b = b.Or(tool.Bounds{Rows: 1 << 20, CellBytes: 1 << 20, AgentResult: 32 << 10})
	status := evidence.None
	if len(r.Items) > 0 {
		status = evidence.Found
	}
	var items, by []string
	if len(r.Items) > b.Rows {
		by = []string{"rows"}
	}
	for _, s := range r.Items[:min(len(r.Items), b.Rows)] {
		if strings.HasPrefix(s, "secret:") {
			s = "hidden"
		}
		if len(quote(s)) > b.CellBytes {
			s, by = "", union(by, "cells")
		}
		items = append(items, s)
	}
	out := render(r.Asked, items, by)
	for len(out) > int(b.AgentResult) {
		if len(items) == 0 {
			return evidence.Projection{}, fault.New(fault.ResultTooLarge)
		}
		for over := len(out) - int(b.AgentResult); over > 0 && len(items) > 0; items = items[:len(items)-1] {
			over -= len(quote(items[len(items)-1])) + 1
		}
		by = union(by, "bytes")
		out = render(r.Asked, items, by)
	}
	return evidence.Projection{AgentResult: out, Status: status}, nil
}

func union(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

type raw struct {
	Asked string
	Items []string
}

func read(text json.RawMessage) (raw, error) {
	var r raw
	if json.Unmarshal(text, &r.Items) != nil && (json.Unmarshal(text, &r) != nil || r.Asked == "") {
		return raw{}, fault.New(fault.ProjectionFailed)
	}
	return r, nil
}

func quote(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func render(asked string, items, by []string) json.RawMessage {
	r := map[string]any{"items": append([]string{}, items...), "truncated": by != nil}
	if asked != "" {
		r["scope"] = map[string]string{"asked": asked}
	}
	if by != nil {
		r["truncated_by"] = by
	}
	return quote(r)
}

// broken is plain with one promise broken.
type broken func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error)

func (f broken) Project(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
	return f(raw, b)
}

func subject(p ports.Projector) projectortest.Subject {
	return projectortest.Subject{
		Projector: p,
		Answer: func(texts ...string) json.RawMessage {
			return append(quote(slices.Concat([]string{}, texts)), ' ')
		},
		Empty:     func(asked string) json.RawMessage { return quote(raw{Asked: asked}) },
		Sensitive: func(text string) json.RawMessage { return quote([]string{"secret:" + text}) },
		Malformed: []json.RawMessage{json.RawMessage(`{}`), json.RawMessage(`[1]`)},
	}
}

func TestPlainProjectorPasses(t *testing.T) { projectortest.Test(t, subject(plain{})) }

func TestASharingProjectorIsCaught(t *testing.T) {
	sharing := subject(broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
		var object struct{ Scope, Items json.RawMessage }
		_ = json.Unmarshal(raw, &object)
		if object.Scope != nil {
			object.Items = object.Scope
		}
		p, err := plain{}.Project(object.Items, b)
		if bytes.Equal(p.AgentResult, raw) {
			p.AgentResult = raw
		}
		return p, err
	}))
	sharing.Answer = func(texts ...string) json.RawMessage { return render("", texts, nil) }
	sharing.Empty = func(asked string) json.RawMessage { return render(asked, nil, nil) }
	sharing.Sensitive = func(text string) json.RawMessage { return render("", []string{"secret:" + text}, nil) }
	sharing.Malformed = []json.RawMessage{json.RawMessage(`[]`)}
	got := projectortest.Violations(t.Context(), sharing)
	require.Equal(t, []string{"Project/SharesNothing"}, kit.Names(got), "%v", got)
}

func TestBrokenProjectorsAreCaught(t *testing.T) {
	change := func(f func(p *evidence.Projection, raw json.RawMessage, b tool.Bounds)) ports.Projector {
		return broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
			p, err := plain{}.Project(raw, b)
			if err == nil {
				f(&p, raw, b)
			}
			return p, err
		})
	}
	var calls, concurrent atomic.Int64
	for name, c := range map[string]struct {
		projector ports.Projector
		breaks    []string
	}{
		"ignores its limit": {broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
			b.AgentResult = 1 << 20
			return plain{}.Project(raw, b)
		}), []string{
			"Bounds/ExactlyAtTheLimitPasses", "Bounds/ResultStaysWithinItsLimit", "Bounds/ZeroMeansDefault",
			"Project/SaysWhatWasAskedWhenEmpty",
		}},
		"cuts its JSON": {broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
			limit := b.AgentResult
			b.AgentResult = 1 << 20
			p, err := plain{}.Project(raw, b)
			if limit > 0 && len(p.AgentResult) > int(limit) {
				p.AgentResult = p.AgentResult[:limit]
			}
			return p, err
		}), []string{
			"Bounds/ExactlyAtTheLimitPasses", "Bounds/NamesWhatCut", "Bounds/ResultStaysWithinItsLimit",
			"Bounds/ZeroMeansDefault", "Project/SaysWhatWasAskedWhenEmpty",
		}},
		"stops one byte early": {broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
			if b.AgentResult > 1 {
				b.AgentResult--
			}
			return plain{}.Project(raw, b)
		}), []string{"Bounds/ExactlyAtTheLimitPasses"}},
		"hides that it cut": {change(func(p *evidence.Projection, _ json.RawMessage, _ tool.Bounds) {
			p.AgentResult = bytes.Replace(p.AgentResult, []byte(`"truncated":true`), []byte(`"truncated":false`), 1)
		}), []string{
			"Bounds/CutsWholeRows", "Bounds/ExactlyAtTheLimitPasses", "Bounds/MarksCutCells", "Bounds/NamesWhatCut",
			"Bounds/ResultStaysWithinItsLimit", "Bounds/ZeroMeansDefault",
		}},
		"says that it cut, not what did": {change(func(p *evidence.Projection, _ json.RawMessage, _ tool.Bounds) {
			p.AgentResult = regexp.MustCompile(`,"truncated_by":\[.*\]`).ReplaceAll(p.AgentResult, nil)
		}), []string{"Bounds/NamesWhatCut"}},
		"names a cause that did not cut": {change(func(p *evidence.Projection, raw json.RawMessage, _ tool.Bounds) {
			if bytes.Contains(raw, []byte("three")) {
				p.AgentResult = bytes.Replace(p.AgentResult, []byte(`false`), []byte(`false,"truncated_by":["rows"]`),
					1)
			}
		}), []string{"Bounds/NamesWhatCut"}},
		"names a cause twice": {change(func(p *evidence.Projection, _ json.RawMessage, _ tool.Bounds) {
			p.AgentResult = bytes.Replace(p.AgentResult, []byte(`["rows","cells"]`), []byte(`["rows","rows"]`), 1)
		}), []string{"Bounds/NamesWhatCut"}},
		"cuts what is exactly at its bound": {
			broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
				b.CellBytes = max(b.CellBytes-1, 0)
				return plain{}.Project(raw, b)
			}), []string{"Bounds/MarksCutCells"}},
		"does not say what was asked": {change(func(p *evidence.Projection, _ json.RawMessage, _ tool.Bounds) {
			p.AgentResult = regexp.MustCompile(`"scope":\{.*\},`).ReplaceAll(p.AgentResult, nil)
		}), []string{"Project/SaysWhatWasAskedWhenEmpty"}},
		"says what was asked elsewhere": {change(func(p *evidence.Projection, _ json.RawMessage, _ tool.Bounds) {
			p.AgentResult = bytes.Replace(p.AgentResult, []byte(`"scope":`), []byte(`"scope":{},"asked":`), 1)
		}), []string{"Project/SaysWhatWasAskedWhenEmpty"}},
		"cuts what was asked and hides it": {
			broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
				p, err := plain{}.Project(raw, b)
				if fault.CodeOf(err) == fault.ResultTooLarge && bytes.Contains(raw, []byte(`"Asked"`)) &&
					b.AgentResult > 60 {
					return evidence.Projection{AgentResult: render("…", nil, nil), Status: evidence.None}, nil
				}
				return p, err
			}), []string{"Project/SaysWhatWasAskedWhenEmpty"}},
		"counts no rows": {broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
			b.Rows = 0
			return plain{}.Project(raw, b)
		}), []string{"Bounds/CutsWholeRows"}},
		"counts one row too few": {broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
			b.Rows = max(b.Rows-1, 0)
			return plain{}.Project(raw, b)
		}), []string{"Bounds/CutsWholeRows"}},
		"ignores the cell bound": {broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
			b.CellBytes = 0
			return plain{}.Project(raw, b)
		}), []string{"Bounds/MarksCutCells"}},
		"calls nothing found": {change(func(p *evidence.Projection, _ json.RawMessage, _ tool.Bounds) {
			p.Status = evidence.Found
		}), []string{"Project/ReportsNothingAsNoEvidence", "Project/SaysWhatWasAskedWhenEmpty"}},
		"calls what was cut nothing": {change(func(p *evidence.Projection, _ json.RawMessage, _ tool.Bounds) {
			if bytes.Contains(p.AgentResult, []byte(`"items":[]`)) {
				p.Status = evidence.None
			}
		}), []string{"Bounds/CutIsStillFound"}},
		"shows secrets": {broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
			return plain{}.Project(bytes.ReplaceAll(raw, []byte("secret:"), nil), b)
		}), []string{"Project/HidesSensitiveValues"}},
		"quotes what it refuses": {broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
			p, err := plain{}.Project(raw, b)
			if fault.CodeOf(err) == fault.ProjectionFailed {
				err = fault.Because(fault.ProjectionFailed, "X", string(raw))
			}
			return p, err
		}), []string{"Project/RefusesWhatIsNoAnswer"}},
		"returns errors that are no faults": {
			broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
				p, err := plain{}.Project(raw, b)
				if fault.CodeOf(err) == fault.ProjectionFailed {
					err = errors.New("no faults here")
				}
				return p, err
			}), []string{"Project/RefusesWhatIsNoAnswer"}},
		"returns faults that are nil": {broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
			p, err := plain{}.Project(raw, b)
			if err != nil {
				var none *fault.Error
				return p, none
			}
			return p, nil
		}), []string{
			"Bounds/CutIsStillFound", "Bounds/NamesWhatCut", "Bounds/ResultStaysWithinItsLimit",
			"Project/RefusesWhatIsNoAnswer", "Project/SaysWhatWasAskedWhenEmpty",
		}},
		"panics beside others": {change(func(_ *evidence.Projection, _ json.RawMessage, b tool.Bounds) {
			if b.Rows == 30 && concurrent.Add(1) == 3 { // the bounds of the case that calls at once
				panic("a map is written twice")
			}
		}), []string{"Project/IsPure"}},
		"depends on the call": {change(func(p *evidence.Projection, _ json.RawMessage, _ tool.Bounds) {
			if calls.Add(1)%2 == 0 {
				p.AgentResult = append([]byte(" "), p.AgentResult...)
			}
		}), []string{
			"Bounds/ExactlyAtTheLimitPasses", "Bounds/ResultStaysWithinItsLimit", "Project/IsPure",
			"Project/SaysWhatWasAskedWhenEmpty",
		}},
		"changes raw": {broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
			if n := len(raw) - 1; n > 0 && raw[n] == ' ' { // the blank that subject puts there
				raw[n] = '\n'
			}
			return plain{}.Project(raw, b)
		}), []string{"Project/IsPure"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := projectortest.Violations(t.Context(), subject(c.projector))
			require.Equal(t, c.breaks, kit.Names(got), "%v", got)
			for name, failures := range got {
				require.NotContains(t, strings.Join(failures, ""), "nil pointer", name)
			}
		})
	}
}

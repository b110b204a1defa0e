package projectortest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/projectortest"
)

// plain is the smallest projector that keeps every promise; its raw format is an array of
// strings, where a string that begins with "secret:" is sensitive.
type plain struct{}

func (plain) Project(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
	texts, err := read(raw)
	if err != nil {
		return evidence.Projection{}, err
	}
	if b.Rows == 0 {
		b.Rows = 1 << 20
	}
	if b.CellBytes == 0 {
		b.CellBytes = 1 << 20
	}
	if b.AgentResult == 0 {
		b.AgentResult = 32 << 10
	}
	status := evidence.None
	if len(texts) > 0 {
		status = evidence.Found
	}
	items, cut := []string{}, len(texts) > b.Rows
	for _, s := range texts[:min(len(texts), b.Rows)] {
		if len(s) > 7 && s[:7] == "secret:" {
			s = "hidden"
		}
		if len(quote(s)) > b.CellBytes {
			s, cut = "", true
		}
		items = append(items, s)
	}
	out := render(items, cut)
	for len(out) > int(b.AgentResult) {
		if len(items) == 0 {
			return evidence.Projection{}, fault.New(fault.ResultTooLarge)
		}
		for over := len(out) - int(b.AgentResult); over > 0 && len(items) > 0; items = items[:len(items)-1] {
			over -= len(quote(items[len(items)-1])) + 1
		}
		cut = true
		out = render(items, cut)
	}
	return evidence.Projection{AgentResult: out, Status: status}, nil
}

func read(raw json.RawMessage) ([]string, error) {
	var texts []string
	if json.Unmarshal(raw, &texts) != nil {
		return nil, fault.New(fault.ProjectionFailed)
	}
	return texts, nil
}

func quote(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func render(items []string, cut bool) json.RawMessage {
	if items == nil {
		items = []string{}
	}
	return quote(map[string]any{"items": items, "truncated": cut})
}

// broken is plain with one promise broken.
type broken func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error)

func (f broken) Project(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
	return f(raw, b)
}

func subject(p ports.Projector) projectortest.Subject {
	return projectortest.Subject{
		Projector: p,
		Answer:    func(texts ...string) json.RawMessage { return append(quote(slices.Concat([]string{}, texts)), ' ') },
		Sensitive: func(text string) json.RawMessage { return quote([]string{"secret:" + text}) },
		Malformed: []json.RawMessage{json.RawMessage(`{}`), json.RawMessage(`[1]`)},
	}
}

func TestPlainProjectorPasses(t *testing.T) { projectortest.Test(t, subject(plain{})) }

func TestASharingProjectorIsCaught(t *testing.T) {
	h := subject(broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
		var object struct{ Items json.RawMessage }
		_ = json.Unmarshal(raw, &object)
		p, err := plain{}.Project(object.Items, b)
		if bytes.Equal(p.AgentResult, raw) {
			p.AgentResult = raw
		}
		return p, err
	}))
	h.Answer = func(texts ...string) json.RawMessage { return render(texts, false) }
	h.Sensitive = func(text string) json.RawMessage { return render([]string{"secret:" + text}, false) }
	h.Malformed = []json.RawMessage{json.RawMessage(`[]`)}
	got := projectortest.Violations(t.Context(), h)
	require.Equal(t, []string{"Project/SharesNothing"}, slices.Sorted(maps.Keys(got)), "%v", got)
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
	var calls atomic.Int64
	for name, c := range map[string]struct {
		projector ports.Projector
		breaks    []string
	}{
		"ignores its limit": {broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
			b.AgentResult = 1 << 20
			return plain{}.Project(raw, b)
		}), []string{"Bounds/ExactlyAtTheLimitPasses", "Bounds/ResultStaysWithinItsLimit", "Bounds/ZeroMeansDefault"}},
		"cuts its JSON": {broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
			limit := b.AgentResult
			b.AgentResult = 1 << 20
			p, err := plain{}.Project(raw, b)
			if limit > 0 && len(p.AgentResult) > int(limit) {
				p.AgentResult = p.AgentResult[:limit]
			}
			return p, err
		}), []string{"Bounds/ExactlyAtTheLimitPasses", "Bounds/ResultStaysWithinItsLimit", "Bounds/ZeroMeansDefault"}},
		"stops one byte early": {broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
			if b.AgentResult > 1 {
				b.AgentResult--
			}
			return plain{}.Project(raw, b)
		}), []string{"Bounds/ExactlyAtTheLimitPasses"}},
		"hides that it cut": {change(func(p *evidence.Projection, _ json.RawMessage, _ tool.Bounds) {
			p.AgentResult = bytes.Replace(p.AgentResult, []byte(`"truncated":true`), []byte(`"truncated":false`), 1)
		}), []string{"Bounds/CutsWholeRows", "Bounds/ExactlyAtTheLimitPasses", "Bounds/MarksCutCells", "Bounds/ResultStaysWithinItsLimit", "Bounds/ZeroMeansDefault"}},
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
		"calls nothing found": {change(func(p *evidence.Projection, _ json.RawMessage, _ tool.Bounds) { p.Status = evidence.Found }),
			[]string{"Project/ReportsNothingAsNoEvidence"}},
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
		"returns errors that are no faults": {broken(func(raw json.RawMessage, b tool.Bounds) (evidence.Projection, error) {
			p, err := plain{}.Project(raw, b)
			if fault.CodeOf(err) == fault.ProjectionFailed {
				err = errors.New("no faults here")
			}
			return p, err
		}), []string{"Project/RefusesWhatIsNoAnswer"}},
		"depends on the call": {change(func(p *evidence.Projection, _ json.RawMessage, _ tool.Bounds) {
			if calls.Add(1)%2 == 0 {
				p.AgentResult = append([]byte(" "), p.AgentResult...)
			}
		}), []string{"Bounds/ExactlyAtTheLimitPasses", "Bounds/ResultStaysWithinItsLimit", "Project/IsPure"}},
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
			require.Equal(t, c.breaks, slices.Sorted(maps.Keys(got)), "%v", got)
		})
	}
}

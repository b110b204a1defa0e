package rows_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/projectors/rows"
	"github.com/toolboundary/toolboundary/ports/rowset"
	"github.com/toolboundary/toolboundary/test/contract/projectortest"
)

func rowSet(t testing.TB, more bool, head rowset.Head, lines ...string) json.RawMessage {
	t.Helper()
	w, err := rowset.NewWriter(64<<20, head)
	require.NoError(t, err)
	for _, line := range lines {
		require.NoError(t, w.Row([]byte(line)))
	}
	raw, err := w.Close(more)
	require.NoError(t, err)
	return raw
}

func texts(t testing.TB, column rowset.Column, values ...string) json.RawMessage {
	lines := make([]string, len(values))
	for i, v := range values {
		b, err := json.Marshal([]string{v})
		require.NoError(t, err)
		lines[i] = string(b)
	}
	return rowSet(t, false, rowset.Head{Columns: []rowset.Column{column}}, lines...)
}

func TestS12_S26_S37_S38_S39_S40_Contract(t *testing.T) {
	text := rowset.Column{Name: "text"}
	projectortest.Test(t, projectortest.Subject{
		Projector: rows.Projector{},
		Answer:    func(values ...string) json.RawMessage { return texts(t, text, values...) },
		Empty: func(asked string) json.RawMessage {
			return rowSet(t, false, rowset.Head{Asked: &rowset.Asked{Statement: asked}, Columns: []rowset.Column{text}})
		},
		Sensitive: func(text string) json.RawMessage {
			return texts(t, rowset.Column{Name: "harmless", Sensitive: true}, text, text)
		},
		Malformed: []json.RawMessage{
			json.RawMessage(`{}`),
			json.RawMessage(`{"columns":[{"name":"a"}],"rows":[[1,2]],"more":false}`),
			json.RawMessage(`{"columns":[{"name":"a"}],"rows":[["x`),
			json.RawMessage("{\"columns\":[{\"name\":\"a\"}],\"rows\":[[\"\xff\"]],\"more\":false}"),
			json.RawMessage(`{"asked":7,"columns":[{"name":"a"}],"rows":[],"more":false}`),
		},
	})
}

package mysqlrows_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/projectors/mysqlrows"
	"github.com/toolboundary/toolboundary/ports/rowset"
	"github.com/toolboundary/toolboundary/test/contract/projectortest"
)

func rowSet(t testing.TB, more bool, columns []rowset.Column, rows ...string) json.RawMessage {
	t.Helper()
	w, err := rowset.NewWriter(64<<20, columns)
	require.NoError(t, err)
	for _, r := range rows {
		require.NoError(t, w.Row([]byte(r)))
	}
	raw, err := w.Close(more)
	require.NoError(t, err)
	return raw
}

func texts(t testing.TB, column rowset.Column, values ...string) json.RawMessage {
	rows := make([]string, len(values))
	for i, v := range values {
		b, err := json.Marshal([]string{v})
		require.NoError(t, err)
		rows[i] = string(b)
	}
	return rowSet(t, false, []rowset.Column{column}, rows...)
}

func TestS26_S37_S38_S39_S40_Contract(t *testing.T) {
	projectortest.Test(t, projectortest.Subject{
		Projector: mysqlrows.Projector{},
		Answer:    func(values ...string) json.RawMessage { return texts(t, rowset.Column{Name: "text"}, values...) },
		Sensitive: func(text string) json.RawMessage {
			return texts(t, rowset.Column{Name: "harmless", Sensitive: true}, text, text)
		},
		Malformed: []json.RawMessage{json.RawMessage(`{}`), json.RawMessage(`{"columns":[{"name":"a"}],"rows":[[1,2]],"more":false}`),
			json.RawMessage(`{"columns":[{"name":"a"}],"rows":[["x`), json.RawMessage("{\"columns\":[{\"name\":\"a\"}],\"rows\":[[\"\xff\"]],\"more\":false}")},
	})
}

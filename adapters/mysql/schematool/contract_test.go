package schematool_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/schematool"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/adapters/projectors/rows"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/test/contract/executortest"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/contract/projectortest"
)

// listing returns the tool over one source, shop, with these tables.
func listing(t kit.T, tables ...sqlguard.Table) *schematool.Executor {
	t.Helper()
	g, err := sqlguard.New(sqlguard.Policy{DefaultSchema: "shop", MaxRows: 10, Tables: tables})
	require.NoError(t, err)
	return schematool.New(map[string]*sqlguard.Guard{"shop": g})
}

// echoing returns the tool over a table for each text that the suite asks for.
func echoing(t kit.T) *schematool.Executor {
	texts := []string{"a", "once", "limit", "warm", "after", "down"}
	for i := range 24 {
		texts = append(texts, fmt.Sprintf("text%d", i), fmt.Sprintf("caller%dx", i))
	}
	var tables []sqlguard.Table
	for _, text := range texts {
		tables = append(tables, sqlguard.Table{Schema: "shop", Name: text, Columns: []sqlguard.Column{{Name: text}}})
	}
	return listing(t, tables...)
}

var shop = tool.Scope{DataSources: []string{"shop"}}

func columnsOf(table string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"data_source":"shop","table":%q}`, table))
}

func TestS26_S33_S42_ExecutorContract(t *testing.T) {
	const (
		inMemory = "the answer is made of the allowlist, which is bounded and in memory already"
		atOnce   = "an execution takes no time in which it could be stopped"
		noSource = "the tool has no source that could fail"
	)
	executortest.Test(t, executortest.Subject{
		New:   func(t kit.T) ports.Executor { return echoing(t) },
		Scope: shop,
		Echo:  columnsOf,
		Large: json.RawMessage(`{"data_source":"shop"}`), Slow: columnsOf("a"),
		Failing: columnsOf("a"), FailsWith: fault.ExecutionFailed,
		Refused: []executortest.Refused{
			{Why: "no such table", Request: columnsOf("secrets"), Code: fault.QueryRejected},
			{Why: "another type", Request: json.RawMessage(`{"data_source":7}`), Code: fault.RequestInvalid},
			{Why: "another source", Request: json.RawMessage(`{"data_source":"Shop"}`), Code: fault.DataSourceUnknown},
		},
		Running: func(kit.T) int { return 0 },
		Calls:   func(kit.T) int { return 0 },
		Exceptions: map[string]string{
			"Execute/BoundsItsMemory":     inMemory,
			"Execute/StopsWhenCancelled":  atOnce,
			"Execute/StopsAtTheDeadline":  atOnce,
			"Execute/WorksAfterStops":     atOnce,
			"Execute/FailsSafely":         noSource,
			"Execute/SourceIsUnreachable": noSource,
		},
	})
}

// answer returns what the tool says of a table with a column for each of the texts, in its comment.
// It is empty when nothing is granted.
func answer(t *testing.T, texts ...string) json.RawMessage {
	table := sqlguard.Table{Schema: "shop", Name: "t", Columns: []sqlguard.Column{{Name: "c"}}}
	request, scope := json.RawMessage(`{}`), tool.Scope{}
	if len(texts) > 0 {
		table.Columns, request, scope = nil, columnsOf("t"), shop
	}
	for i, text := range texts {
		table.Columns = append(table.Columns, sqlguard.Column{Name: fmt.Sprintf("c%d", i), Comment: text})
	}
	e := listing(t, table)
	plan, err := e.Prepare(request, scope)
	require.NoError(t, err)
	raw, err := e.Execute(t.Context(), plan, 16<<20)
	require.NoError(t, err)
	return raw
}

func TestS26_S38_ProjectorContract(t *testing.T) {
	projectortest.Test(t, projectortest.Subject{
		Projector: rows.Projector{},
		Answer:    func(texts ...string) json.RawMessage { return answer(t, texts...) },
		Empty:     func(string) json.RawMessage { return answer(t) },
		Sensitive: func(text string) json.RawMessage { return answer(t, text) },
		Malformed: []json.RawMessage{json.RawMessage(`{}`)},
		Exceptions: map[string]string{
			"Project/SaysWhatWasAskedWhenEmpty": "the answer is empty only when nothing is granted, whatever is asked",
			"Project/HidesSensitiveValues":      "an allowlist has no values, only names",
		},
	})
}

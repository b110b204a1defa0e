package schematool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql/schematool"
	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/adapters/projectors/rows"
	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
)

func newTool(t *testing.T) *schematool.Executor {
	t.Helper()
	shop, err := sqlguard.New(sqlguard.Policy{DefaultSchema: "shop", MaxRows: 200, Tables: []sqlguard.Table{
		{Schema: "shop", Name: "customers",
			Columns: []sqlguard.Column{{Name: "id", Type: "int"},
				{Name: "email", Sensitive: true, Comment: "contact"}}},
		{Schema: "archive", Name: "orders", Columns: []sqlguard.Column{{Name: "id"}}},
	}})
	require.NoError(t, err)
	hr, err := sqlguard.New(sqlguard.Policy{MaxRows: 5,
		Tables: []sqlguard.Table{{Schema: "hr", Name: "staff", Columns: []sqlguard.Column{{Name: "name"}}}}})
	require.NoError(t, err)
	return schematool.New(map[string]*sqlguard.Guard{"shop": shop, "hr": hr})
}

func ask(t *testing.T, request string, granted ...string) (string, error) {
	t.Helper()
	schema := newTool(t)
	plan, err := schema.Prepare(json.RawMessage(request), tool.Scope{DataSources: granted})
	if err != nil {
		return "", err
	}
	raw, err := schema.Execute(t.Context(), plan, 1<<20)
	require.NoError(t, err)
	bounds := plan.Bounds
	bounds.AgentResult = limits.Default().AgentResult
	p, err := rows.Projector{}.Project(raw, bounds)
	require.NoError(t, err)
	require.Equal(t, evidence.Found, p.Status)
	var shown struct{ Rows json.RawMessage }
	require.NoError(t, json.Unmarshal(p.AgentResult, &shown))
	return string(shown.Rows), nil
}

func TestProgressiveDisclosure(t *testing.T) {
	for _, c := range []struct{ request, want string }{
		{`{}`, `[["shop","shop",2,200]]`},
		{`{"data_source":"shop"}`, `[["customers","id, email*"],["archive.orders","id"]]`},
		{`{"data_source":"shop","table":"customers"}`, `[["id","int","",false],["email","","contact",true]]`},
		{`{"table":"shop.customers"}`, `[["id","int","",false],["email","","contact",true]]`},
	} {
		got, err := ask(t, c.request, "shop")
		require.NoError(t, err, c.request)
		require.JSONEq(t, c.want, got, c.request)
	}
}

func TestS33_HiddenAndMissingAnswerAlike(t *testing.T) {
	for _, id := range []string{"hr", "nothing"} { // hr exists and is not granted
		_, err := ask(t, `{"data_source":"`+id+`"}`, "shop")
		require.Equal(t, fault.DataSourceUnknown, fault.CodeOf(err))
		require.Empty(t, fault.Of(err).Detail)
	}
	for _, table := range []string{"secrets", "custommers", "hr.staff"} {
		_, err := ask(t, `{"data_source":"shop","table":"`+table+`"}`, "shop")
		require.Equal(t, fault.QueryRejected, fault.CodeOf(err))
		require.Equal(t, "UNKNOWN_TABLE", fault.Of(err).Reason)
	}
	_, err := ask(t, `{"data_source":"shop","table":"custommers"}`, "shop")
	require.Contains(t, fault.Of(err).Detail, "customers")
}

func TestS03_S34_UnknownMembersAreRefused(t *testing.T) {
	for _, request := range []string{`{"schema":"shop"}`, `{"Data_Source":"shop"}`, `{"data_source":1}`,
		`{"table":"customers"}`} {
		granted := []string{"shop"}
		if strings.Contains(request, "table") {
			granted = append(granted, "hr") // which of the two is meant?
		}
		_, err := ask(t, request, granted...)
		require.Equal(t, fault.RequestInvalid, fault.CodeOf(err), request)
	}
}

package allowlist

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolboundary/toolboundary/config"
)

// load reads a draft as the configuration does.
func load(t require.TestingT, draft string) *config.MySQL {
	file := "data_sources:\n  db:\n    address: 127.0.0.1:3306\n    user_env: U\n" + draft
	c, err := config.Parse([]byte(file), os.LookupEnv, config.WithoutSecrets())
	require.NoError(t, err, file)
	return config.SourcesOf[*config.MySQL](c.DataSources)["db"]
}

func relation(schema, name string, columns ...string) Relation {
	r := Relation{Schema: schema, Name: name}
	for _, c := range columns {
		name, kind, _ := strings.Cut(c, " ")
		r.Columns = append(r.Columns, Column{Name: name, Type: kind})
	}
	return r
}

func TestDraftLeavesOutWhatLooksSensitive(t *testing.T) {
	view := relation("crm", "v_people", "id int", "label text")
	view.View = true
	commented := relation("crm", "notes", "id int", "body text", "extra text")
	commented.Columns[1].Comment = "free text: line one\nline \"two\" # 😀"
	commented.Columns[2].Comment = "PII, do not use"
	m := load(t, Draft([]Relation{
		relation("crm", "people", "id int", "name varchar(80)", "e_mail varchar(80)", "homePhone varchar(20)",
			"passwordHash char(60)", "SSN char(11)", "dob date",
			"street1 text", "zip char(5)", "last_ip varchar(45)", "cardLast4 char(4)", "api_token text",
			"country char(2)", "className text", "discarded_at datetime", "shipment_id int", "message text",
			"package text"),
		relation("crm", "user_secrets", "id int", "v text"), relation("crm", "emails", "email text"), view, commented,
		relation("hr", "on", "yes decimal(10,2)", "null enum('a,b','c')", "_o1 int", "`x`.y int")},
		DraftOptions{DefaultSchema: true}))
	names := func(a config.Allowlist) map[string]string {
		all := map[string]string{}
		for _, table := range a {
			var list []string
			for _, c := range table.Columns {
				list = append(list, c.Name)
			}
			all[table.Schema+"."+table.Name] = strings.Join(list, " ")
		}
		return all
	}
	require.Equal(t, map[string]string{"crm.people": "id name country className discarded_at shipment_id message package", "crm.notes": "id body", "hr.on": "yes null `x`.y"}, names(m.Allow))
	require.Equal(t, map[string]string{"crm.people": "e_mail homePhone passwordHash SSN dob street1 zip last_ip " +
		"cardLast4 api_token", "crm.notes": "extra"}, names(m.LeftOut))
	require.Equal(t, "crm", m.DefaultSchema)
	require.Equal(t, `free text: line one line "two" # 😀`, m.Allow[1].Columns[1].Comment)
	require.Equal(t, "decimal(10,2)", m.Allow[2].Columns[0].Type)
	require.Empty(t, m.Views)

	m = load(t, Draft([]Relation{view}, DraftOptions{Views: true}))
	require.Equal(t, []string{"crm.v_people"}, m.Views)
	require.True(t, m.IsView(m.Allow[0]))
	require.Empty(t, load(t, Draft(nil, DraftOptions{DefaultSchema: true})).Allow)
}

// Whatever a database calls things, the draft is a configuration that names the same things,
// and the database it came from has not drifted from it.
func TestDraftOfAnySchemaLoadsAndHasNoDrift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringN(1, 12, -1), rapid.SampledFrom([]string{"true", "~", "a.b", "`", "a: b", "- x", "#", "*", "&a", "!t", "{", "]", "%", "\u0085x", "é", "0x1F", "1e3", "2024-01-01", "<<", "=", "\ufeff"}))
		seen := map[string]bool{}
		var relations []Relation
		for range rapid.IntRange(0, 5).Draw(t, "relations") {
			r := Relation{Schema: name.Draw(t, "schema"), Name: name.Draw(t, "name"), View: rapid.Bool().Draw(t, "view"), Comment: rapid.String().Draw(t, "comment")}
			if seen[r.Schema+"\x00"+r.Name] || systemSchema(r.Schema) {
				continue
			}
			seen[r.Schema+"\x00"+r.Name] = true
			columns := map[string]bool{}
			for range rapid.IntRange(0, 5).Draw(t, "columns") {
				c := Column{name.Draw(t, "column"), rapid.String().Draw(t, "type"), rapid.String().Draw(t, "comment"), rapid.Bool().Draw(t, "key")}
				if !columns[fold(c.Name)] {
					columns[fold(c.Name)] = true
					r.Columns = append(r.Columns, c)
				}
			}
			relations = append(relations, r)
		}
		m := load(t, Draft(relations, DraftOptions{DefaultSchema: true, Views: true}))
		listed := Listed{DefaultSchema: m.DefaultSchema}
		for _, table := range m.Allow {
			one := ListedTable{Schema: table.Schema, Name: table.Name, View: m.IsView(table)}
			for _, c := range table.Columns {
				one.Columns = append(one.Columns, ListedColumn{c.Name, c.Type})
			}
			for _, left := range m.LeftOut {
				if left.Schema == table.Schema && left.Name == table.Name {
					for _, c := range left.Columns {
						one.LeftOut = append(one.LeftOut, c.Name)
					}
				}
			}
			listed.Tables = append(listed.Tables, one)
		}
		for _, d := range Compare(listed, relations).Drifts {
			// Columns that no configuration can name stay unknown.
			if d.Kind != NewColumn {
				t.Fatalf("%+v", d)
			}
		}
	})
}

func systemSchema(name string) bool {
	switch fold(name) {
	case "information_schema", "mysql", "performance_schema", "sys":
		return true
	}
	return false
}

func TestTypesCompareAcrossProducts(t *testing.T) {
	for _, same := range [][2]string{{"int(10) unsigned", "int unsigned"}, {"TINYINT(1)", "tinyint"}, {"bigint(20)", "BIGINT"}, {"year(4)", "year"}, {"INTEGER", "int(11)"}, {"decimal(10,2)", "DECIMAL(10,2)"}} {
		require.Equal(t, normal(same[0]), normal(same[1]))
	}
	for _, other := range [][2]string{{"int", "int unsigned"}, {"char(2)", "char(3)"}, {"decimal(10,2)", "decimal(12,2)"}, {"datetime", "datetime(3)"}, {"int", "bigint"}} {
		require.NotEqual(t, normal(other[0]), normal(other[1]))
	}
}

func TestAccountsThatCouldBreakOut(t *testing.T) {
	for _, bad := range []Account{{"", "%", false}, {"a'b", "%", false}, {`a\`, "%", false}, {"a", "", false}, {"a", "x'; DROP USER root; --", false}, {strings.Repeat("x", 33), "%", false}, {"a\n", "%", false}} {
		require.NotEmpty(t, bad.Check())
	}
	require.Empty(t, Account{"toolboundary_shop", "%", false}.Check())
	text := Grants(Account{"r", "10.%", true}, Listed{Tables: []ListedTable{{Schema: "s`;", Name: "t t", Columns: []ListedColumn{{Name: "a`) ON *.* TO x; --"}}}}})
	require.Contains(t, text, "GRANT SELECT (`a``) ON *.* TO x; --`) ON `s``;`.`t t` TO 'r'@'10.%';\n")
	require.Contains(t, text, "ALTER USER 'r'@'10.%' REQUIRE SSL;")
}

// The primary key is written into a draft, and only whole.
func TestDraftMarksTheKey(t *testing.T) {
	relations := []Relation{
		{Schema: "s", Name: "a", Columns: []Column{{Name: "id", Type: "int(11)", Key: true}, {Name: "qty", Type: "int(11)"}}},
		{Schema: "s", Name: "b", Columns: []Column{{Name: "num", Type: "int(11)", Key: true}, {Name: "email", Type: "varchar(99)", Key: true}}},
	}
	text := Draft(relations, DraftOptions{DefaultSchema: true})
	require.Contains(t, text, "{column: id, type: int(11), key: true}")
	require.Contains(t, text, "{column: qty, type: int(11)}")
	require.Contains(t, text, "{column: num, type: int(11)}", "half a key tells no rows apart")
}

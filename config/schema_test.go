package config

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

func TestSchemaIsPinned(t *testing.T) {
	text, err := Schema()
	require.NoError(t, err)
	golden(t, "testdata/schema.golden.json", string(text)+"\n")
}

func TestSchemaAcceptsWhatLoads(t *testing.T) {
	schema := resolved(t)
	for _, name := range []string{"corpus", "design", "full"} {
		require.NoError(t, schema.Validate(asJSON(t, read(t, "testdata/"+name+".yaml"))), name)
	}
}

func TestSchemaRefusesWhatAnEditorShouldMark(t *testing.T) {
	schema := resolved(t)
	require.NoError(t, schema.Validate(asJSON(t, valid)))
	rows := [][2]string{
		{"listen: 127", "listn: 127"}, {"max_rows: 200", "max_rows: many"}, {"max_rows: 200", "max_rows: 0"},
		{"max_rows: 200", "max_row: 1"},
		{"64KiB", "64KB"}, {"record_ttl: 24h", "record_ttl: 24"}, {"kind: memory", "kind: disk"}, {"user_env", "user"},
		{"    user_env: SHOP_USER\n", ""}, {"user_env: SHOP_USER", "user_env: SHOP_USER\n    user_file: f"},
		{"address: 127", "kind: postgres\n    address: 127"}, {"    address: 127.0.0.1:3306\n", ""},
		{"functions: default", "functions: all"},
		{"shop.customers", "customers"}, {"sensitive", "sensitiv"}, {"  shop:\n", "  Shop:\n"},
		{"name: diagnosis, ", ""},
		{"max_rows: 200", "sql_mode_extra: [ANSI_QUOTES]"}, {"max_rows: 200", "tls: preferred"},
		{"[id, name, {column: email, sensitive: true}]", "[]"},
	}
	for _, row := range rows {
		require.Contains(t, valid, row[0])
		file := strings.Replace(valid, row[0], row[1], 1)
		require.Error(t, schema.Validate(asJSON(t, file)), row[1])
		require.NotEmpty(t, problemsOf(t, file, ForServe()), row[1])
	}
}

func TestEveryKeyIsDescribed(t *testing.T) {
	text, err := Schema()
	require.NoError(t, err)
	var s jsonschema.Schema
	require.NoError(t, json.Unmarshal(text, &s))
	described(t, "", &s)
	for name, def := range s.Defs {
		described(t, name, def)
	}
}

func described(t *testing.T, path string, s *jsonschema.Schema) {
	t.Helper()
	for name, p := range s.Properties {
		require.NotEmpty(t, p.Description, path+"."+name)
		described(t, path+"."+name, p)
	}
	if s.Items != nil {
		described(t, path+"[]", s.Items)
	}
}

func resolved(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	text, err := Schema()
	require.NoError(t, err)
	var s jsonschema.Schema
	require.NoError(t, json.Unmarshal(text, &s))
	r, err := s.Resolve(nil)
	require.NoError(t, err)
	return r
}

func asJSON(t *testing.T, text string) any {
	t.Helper()
	var v any
	require.NoError(t, yaml.Unmarshal([]byte(text), &v))
	data, err := json.Marshal(v)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &v))
	return v
}

// counter is a kind from outside this package, as an out-of-tree tool brings it.
type counter struct {
	Step  int      `yaml:"step" min:"1" max:"9" doc:"How far one count goes."`
	Token Secret   `yaml:"token" required:"true" doc:"The token"`
	Names []string `yaml:"names" doc:"Names."`
}

func (c *counter) Validate(at Place) {
	if len(c.Names) == 0 {
		at.Key("names").Problem("There are no names.", "Add one.")
	}
}

func TestKindFromOutside(t *testing.T) {
	kind := WithKinds(Kind{Name: "counter", Doc: "Counts.", New: func() Source { return &counter{Step: 3} }})
	const file = "data_sources: {c: {kind: counter, token_env: SHOP_PASSWORD, names: [a]}}"
	cfg, err := Parse([]byte(file), environment, kind)
	require.NoError(t, err)
	c := SourcesOf[*counter](cfg.DataSources)["c"]
	require.Equal(t, 3, c.Step)
	require.Equal(t, password, c.Token.Reveal())
	require.Empty(t, SourcesOf[*MySQL](cfg.DataSources))

	const bad = "data_sources: {c: {kind: counter, step: 10, token_env: ABSENT, colour: red}, d: {kind: count}}"
	got := paths(t, bad, kind)
	require.ElementsMatch(t, []string{"data_sources.c.colour", "data_sources.c.step", "data_sources.c.token_env",
		"data_sources.c.names", "data_sources.d.kind"}, got)
	problems := problemsOf(t, "data_sources: {d: {kind: count}}", kind)
	require.Equal(t, "Did you mean counter? The kinds are counter, logs, mysql, prometheus.", problems[0].Fix)

	text, err := Schema(kind)
	require.NoError(t, err)
	require.Contains(t, string(text), "How far one count goes.")
}

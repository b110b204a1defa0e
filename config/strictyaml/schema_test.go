package strictyaml_test

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

var update = flag.Bool("update", false, "write the golden file anew")

func TestSchemaIsPinned(t *testing.T) {
	const golden = "testdata/schema.golden.json"
	got, err := json.MarshalIndent(schema(), "", "  ")
	require.NoError(t, err)
	got = append(got, '\n')
	if *update {
		require.NoError(t, os.WriteFile(golden, got, 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func schema() *jsonschema.Schema {
	return strictyaml.Schema(&shop{
		Color: "red", Size: 3, Wait: 24 * time.Hour, Room: 2 << 10, Days: []string{"mon"}, Owner: owner{Nick: "bo"},
	})
}

// The schema accepts what the reader reads, and refuses what an editor should mark.
func TestSchemaAgreesWithTheReader(t *testing.T) {
	resolved, err := schema().Resolve(nil)
	require.NoError(t, err)
	require.NoError(t, resolved.Validate(asJSON(t, minimal)))
	require.NoError(t, resolved.Validate(asJSON(t, strings.ReplaceAll(whole, "TRUE", "true"))))
	for _, text := range []string{
		"colr: red", "color: pink", "size: 0", "size: 10", "size: many", "open: 1", "wait: 5", "room: 64KB",
		"items: none", "items: [{}]", "items: [{id: a, count: 10}]", "days: [wed]", "prices: {Apple: 1}",
		"prices: {apple: 100}", "password: a", "password_env: 5x", "password_file: ''",
		"{password_env: A, password_file: b}", "owner: {}", "owner: {key_env: A, nick: Bo}",
		"limits: {top: {}}", "point: a",
	} {
		require.Error(t, resolved.Validate(asJSON(t, text)), text)
		require.NotEmpty(t, problemsOf(t, text), text)
	}
	require.Error(t, resolved.Validate(asJSON(t, "owner: {key_env: DOOR}")), "the name is missing")
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

package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// described checks answers against the OpenAPI document that the service itself serves: every
// answer of every test must be one that its operation describes, with a body of its schema. It
// uses another library than the one that made the document.
type described struct {
	Paths map[string]map[string]struct {
		Responses map[string]struct {
			Content map[string]struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"content"`
		} `json:"responses"`
	} `json:"paths"`
	Components struct {
		Schemas json.RawMessage `json:"schemas"`
	} `json:"components"`

	resolved sync.Map // schema → *jsonschema.Resolved
}

// documents keeps what was read of each document, since resolving its schemas takes longer
// than most tests.
var documents sync.Map

func describe(t kit.T, s *site) *described {
	t.Helper()
	r, err := s.send(t.Context(), http.MethodGet, "/openapi.json", "", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, r.status)
	if d, ok := documents.Load(r.body); ok {
		return d.(*described)
	}
	d := &described{}
	require.NoError(t, json.Unmarshal([]byte(r.body), d))
	documents.Store(r.body, d)
	return d
}

// check requires that the document describes the answer; for a path or method that no operation
// has, the answer must be an error in the common shape.
func (d *described) check(t kit.T, method, path string, r reply) {
	t.Helper()
	if method == http.MethodHead || r.status == http.StatusNoContent {
		require.Empty(t, r.body, "%s %s", method, path)
		return
	}
	media, schema := "application/json", json.RawMessage(`{"$ref":"#/components/schemas/ErrorBody"}`)
	if op, ok := d.Paths[d.template(path)][strings.ToLower(method)]; ok {
		res, ok := op.Responses[strconv.Itoa(r.status)]
		require.True(t, ok, "%s %s does not describe the status %d: %s", method, path, r.status, r.body)
		for m, content := range res.Content {
			media, schema = m, content.Schema
		}
	}
	require.True(t, strings.HasPrefix(r.header.Get("Content-Type"), media), "%s %s: %v", method, path, r.header)
	require.Equal(t, "no-store", r.header.Get("Cache-Control"), "%s %s", method, path)
	if media != "application/json" {
		return
	}
	d.validate(t, schema, r.body)
}

func (d *described) validate(t kit.T, schema json.RawMessage, body string) {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal([]byte(body), &value), body)
	require.NoError(t, d.resolve(t, schema).Validate(value), body)
}

func (d *described) resolve(t kit.T, schema json.RawMessage) *jsonschema.Resolved {
	t.Helper()
	if known, ok := d.resolved.Load(string(schema)); ok {
		return known.(*jsonschema.Resolved)
	}
	text := strings.TrimSuffix(string(schema), "}")
	if text != "{" {
		text += ","
	}
	text += `"$defs":` + string(d.Components.Schemas) + `}`
	var parsed jsonschema.Schema
	text = strings.ReplaceAll(text, "#/components/schemas/", "#/$defs/")
	require.NoError(t, json.Unmarshal([]byte(text), &parsed), text)
	resolved, err := parsed.Resolve(nil)
	require.NoError(t, err)
	d.resolved.Store(string(schema), resolved)
	return resolved
}

// template returns the path of the document that a request's path matches.
func (d *described) template(path string) string {
	path, _, _ = strings.Cut(path, "?")
	asked := strings.Split(path, "/")
	for template := range d.Paths {
		parts, fits := strings.Split(template, "/"), true
		for i := range parts {
			fits = fits && len(parts) == len(asked) &&
				(parts[i] == asked[i] || strings.HasPrefix(parts[i], "{") && asked[i] != "")
		}
		if fits {
			return template
		}
	}
	return ""
}

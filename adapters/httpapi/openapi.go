package httpapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// document returns the OpenAPI 3.1 document of the routes.
func document(version string, routes []route) ([]byte, error) {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{Title: "toolboundary", Version: version,
			Description: "Harnesses open runs; agents ask read-only tools within them. Every error has a stable " +
				"code: see docs/errors.md."},
		Components: &huma.Components{Schemas: registry, SecuritySchemes: map[string]*huma.SecurityScheme{
			"harness": {Type: "http", Scheme: "bearer", Description: "A harness key."},
			"agent": {Type: "http", Scheme: "bearer", BearerFormat: "JWT",
				Description: "A run's agent token; it works for its own run only."},
		}},
		Tags: []*huma.Tag{{Name: tagRuns}, {Name: tagCalls}, {Name: tagOperator}},
	}
	for _, rt := range routes {
		doc.AddOperation(rt.operation(registry))
	}
	return json.MarshalIndent(doc, "", " ")
}

func (rt route) operation(registry huma.Registry) *huma.Operation {
	d := rt.docs
	op := &huma.Operation{
		Method: rt.method, Path: rt.path, OperationID: d.id, Tags: []string{d.tag}, Summary: d.summary,
		Description: d.text,
		Security:    rt.security(), Responses: map[string]*huma.Response{},
	}
	for _, name := range []string{"run", "id"} {
		if strings.Contains(rt.path, "{"+name+"}") {
			op.Parameters = append(op.Parameters, parameter(name, "path"))
		}
	}
	if d.query {
		op.Parameters = append(op.Parameters, parameter("id", "query"))
	}
	if d.body != nil {
		op.RequestBody = &huma.RequestBody{Required: true, Content: content(registry, "", d.body)}
	}
	for status, body := range d.answers {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status),
			Content: content(registry, d.content, body)}
	}
	rt.failures(registry, op)
	return op
}

// failures adds one response for each status, naming its codes.
func (rt route) failures(registry huma.Registry, op *huma.Operation) {
	var body any = errorBody{}
	if rt.call {
		body = callError{}
	}
	for status, codes := range byStatus(rt.codes()) {
		key := strconv.Itoa(status)
		if op.Responses[key] == nil {
			op.Responses[key] = &huma.Response{Description: strings.Join(codes, ", "),
				Content: content(registry, "", body)}
		}
	}
}

// codes returns what the route can refuse with, sorted.
func (rt route) codes() []fault.Code {
	codes := append([]fault.Code{fault.Internal}, rt.docs.codes...)
	if rt.who != anyone {
		codes = append(codes, fault.Unauthenticated)
		if rt.docs.id != toolsDocs.id {
			codes = append(codes, fault.StoreUnavailable)
		}
	}
	if rt.who == harness {
		codes = append(codes, fault.Forbidden)
	}
	if rt.method == http.MethodPost {
		codes = append(codes, fault.RequestInvalid, fault.RequestTooLarge)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

func byStatus(codes []fault.Code) map[int][]string {
	by := map[int][]string{}
	for _, code := range codes {
		by[statusOf(code)] = append(by[statusOf(code)], string(code))
	}
	return by
}

func (rt route) security() []map[string][]string {
	switch rt.who {
	case harness:
		return []map[string][]string{{"harness": {}}}
	case agentOrHarness:
		return []map[string][]string{{"agent": {}}, {"harness": {}}}
	default:
		return []map[string][]string{}
	}
}

func parameter(name, where string) *huma.Param {
	text := "The run's id."
	if name == "id" {
		text = "The tool_call_id, percent-encoded."
	}
	return &huma.Param{Name: name, In: where, Required: true, Description: text,
		Schema: &huma.Schema{Type: huma.TypeString}}
}

func content(registry huma.Registry, media string, body any) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{
		cmp.Or(media, "application/json"): {Schema: registry.Schema(reflect.TypeOf(body), true, "")},
	}
}

// TransformSchema lists the codes.
func (errorView) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	codes := fault.Codes()
	slices.Sort(codes)
	for _, code := range codes {
		s.Properties["code"].Enum = append(s.Properties["code"].Enum, code)
	}
	return s
}

// Package httpapi serves the use cases over HTTP: it authenticates the caller, translates the
// request in, calls the use case and translates its answer out. It decides nothing else.
//
// What it promises to the outside:
//
//   - 200 whenever a canonical record of the tool call exists, READY or ERROR in the body: a
//     client or proxy that repeats what failed with 5xx would only meet a duplicate. Any other
//     status means that no record was made.
//   - Every error, also of unknown paths and methods and of a panic, has the body
//     {"error":{code, message, reason?, detail?}}; those about a tool call carry run_id,
//     tool_call_id, status and evidence_status too. No error holds a part of the request's
//     body beyond a safe tool_call_id, or a parser's text.
//   - Bodies are bounded and strict: one JSON value in UTF-8, each member known by its exact
//     name and given once, no null, nothing after it. A tool's own request is taken byte for
//     byte and judged by the boundary, so that every inbound adapter answers alike.
//   - agent_result and the canonical record are passed on byte for byte.
//
// huma provides what describes the API: schemas of the Go types that are really decoded and
// encoded, and the OpenAPI 3.1 document. Its request pipeline is not used. It decodes bodies
// twice, once into floats; matches names without regard to case; and makes its errors, which
// quote the offending values, through package variables, so that two handlers in one process
// could not differ.
//
// Where things are:
//
//	httpapi.go  Options, New and Admin: which routes there are
//	route.go    one request: match, authenticate, call the route, answer or fail
//	body.go     reading bodies: a tool call byte for byte, everything else strictly
//	json.go     strict JSON in, JSON out
//	calls.go    the routes about one tool call; runs.go: about runs; admin.go: the operator's
//	views.go    the Go types of all bodies; status.go: the status of each code
//	docs.go     what the OpenAPI document says of each route; openapi.go: the document
//	metrics.go  the metrics of the service; server.go: an http.Server that no client can hold
package httpapi

// Package mcpserver serves the tool catalogue to MCP clients, over Streamable HTTP and stdio.
//
// It translates: a tools/call becomes one invocation of the boundary, a tools/list the granted
// part of the catalogue. It decides nothing about runs, tools or queries. What it promises:
//
//   - the tool_call_id is the client's own, byte for byte, and never made up; sources that
//     disagree are refused;
//   - a tool's arguments reach the boundary byte for byte as they were sent, duplicates and
//     long integers included, so that the boundary refuses what it must;
//   - refusals and failures are results with isError and the safe error body; unknown tools
//     and malformed messages are protocol errors with the same body as data; none repeats a
//     tool's arguments, an unsafe id or a parser's text;
//   - nothing that a client sends reaches the run, its grants or the authorisation.
//
// One stateless HTTP handler serves the revisions from 2024-11-05 to 2026-07-28; JSON-RPC
// batches, which only 2025-03-26 has, are refused, since one request carries one identity.
//
// Where things are, in the order in which a tools/call meets them:
//
//	http.go      the Streamable HTTP endpoint: who calls, is it a message; stdio.go: the same over stdio
//	message.go   one JSON-RPC message, read strictly
//	server.go    hands it to the SDK, which calls back: dispatch, then callTool
//	result.go    callTool: one invocation of the service, and its result as MCP has it
//	identity.go  where the tool_call_id comes from; splice.go: members of JSON, byte for byte
//	error.go     protocol errors; list.go: tools/list; options.go, trace.go
package mcpserver
